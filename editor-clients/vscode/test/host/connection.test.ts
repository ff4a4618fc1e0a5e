import assert from "node:assert/strict";
import { once } from "node:events";
import * as net from "node:net";
import { after, before, describe, it } from "mocha";
import type { ConnectionState, MemrecallApi } from "../../api";

import { Daemon } from "./daemon";
import { api, connected, fast, set, titles, use } from "./host";
import { until } from "./until";

export function testConnection(): void {
  describe("the connection", () => {
    const daemon = new Daemon();
    let memrecall: MemrecallApi;

    before(async () => {
      memrecall = await api();
    });
    after(async () => {
      await set("socketPath", undefined);
      await daemon.remove();
    });

    it("does not keep the extension from starting without a daemon", async () => {
      await until("absent", () => memrecall.state === "absent");
      await assert.rejects(memrecall.recall("anything").outcome, /no memrecalld serves/);
    });

    it("comes about when the daemon starts, without a restart of the editor", async () => {
      await set("socketPath", daemon.socket);
      await until("absent", () => memrecall.state === "absent");
      await daemon.start();
      await connected(memrecall);
    });

    it("comes back after the daemon was killed, as often as that happens", async () => {
      await use(daemon);
      for (let round = 0; round < 3; round += 1) {
        const states: ConnectionState[] = [];
        const listener = memrecall.onDidChangeState((state) => states.push(state));
        await daemon.kill();
        await until("lost", () => memrecall.state !== "connected");
        await daemon.start();
        await connected(memrecall);
        listener.dispose();
        assert.equal(states[0], "reconnecting");
        assert.equal(states.at(-1), "connected");
      }
    });

    it("rejects a turn that was open when the daemon was killed", async () => {
      // The turn is open for as long as its model says nothing.
      const silent = net.createServer().listen(0, "127.0.0.1");
      await once(silent, "listening");
      try {
        const { port } = silent.address() as net.AddressInfo;
        await daemon.kill();
        daemon.note("crane.md", "Harbour crane");
        await daemon.start(`[selector]\nkind = "openai"\nbase_url = "http://127.0.0.1:${port}/v1"\nmodel = "silent"\n`);
        await use(daemon);
        const turn = memrecall.recall("harbour crane", { sessionId: "killed" });
        assert.equal((await fast(turn)).pending, true);
        await daemon.kill();
        await assert.rejects(turn.outcome, /connection to the daemon was lost/);
      } finally {
        silent.close();
      }
    });

    it("follows the setting to another daemon", async () => {
      const other = new Daemon();
      try {
        await other.start();
        other.note("other.md", "Lighthouse keeper");
        await use(other);
        const turn = memrecall.recall("lighthouse", { sessionId: "other" });
        assert.deepEqual(await titles(turn), ["Lighthouse keeper"]);
      } finally {
        await other.remove();
      }
    });
  });
}
