import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { MemrecallApi, RecallEvent } from "../../api";

import { Agent } from "./agent";
import { Daemon } from "./daemon";
import { deliveries, fast, project, set, settled, titles, use } from "./host";
import { until } from "./until";

export function testApi(): void {
  describe("the exported interface", () => {
    const daemon = new Daemon();
    let memrecall: MemrecallApi;

    before(async () => {
      daemon.note("crane.md", "Harbour crane", "How the crane is greased", "Grease it on Mondays.");
      daemon.projectNote(project(), "quay.md", "Quay wall", "Which quay is being rebuilt");
      await daemon.start();
      memrecall = await use(daemon);
    });
    after(async () => {
      await set("socketPath", undefined);
      await daemon.remove();
    });

    it("delivers notes and the prompt that presents them", async () => {
      const turn = memrecall.recall("harbour crane", { sessionId: "deliver" });
      const [delivery, ...more] = await deliveries(turn);
      assert.deepEqual(delivery?.documents.map((note) => note.title), ["Harbour crane"]);
      assert.match(delivery.prompt, /Grease it on Mondays/);
      assert.deepEqual(more, []);
      assert.equal((await turn.outcome).documents, 1);
    });

    it("tells a listener that comes late of the fast result", async () => {
      const turn = memrecall.recall("harbour crane", { sessionId: "late" });
      const first = await fast(turn);
      turn.end();
      await turn.outcome;
      assert.equal(await fast(turn), first);
    });

    it("recalls the notes of the folder that is open", async () => {
      const turn = memrecall.recall("quay wall", { sessionId: "project" });
      assert.deepEqual(await titles(turn), ["Quay wall"]);
    });

    it("recalls no project's notes but those of the project that is named", async () => {
      const turn = memrecall.recall("quay wall", { sessionId: "elsewhere", projectRoot: daemon.home });
      assert.deepEqual(await titles(turn), []);
      assert.equal((await turn.outcome).discardReason, "no_relevant_results");
    });

    it("delivers nothing twice in one session, and again to another agent", async () => {
      const recall = async (agentId: string): Promise<number> =>
        (await titles(memrecall.recall("harbour crane", { sessionId: "twice", agentId }))).length;
      assert.deepEqual([await recall(""), await recall(""), await recall("child")], [1, 0, 1]);
    });

    it("keeps turns apart that run at once, each with its own result", async () => {
      const asked = Array.from({ length: 20 }, (_, number) => (number % 2 ? "Harbour crane" : "Quay wall"));
      const found = await Promise.all(
        asked.map((query, number) =>
          titles(memrecall.recall(query, { sessionId: "at once", agentId: `${number}` })),
        ),
      );
      assert.deepEqual(found, asked.map((title) => [title]));
    });

    it("leaves a note beyond the prompt's limit for a tool result with room", async () => {
      const turn = memrecall.recall("harbour crane", { sessionId: "no room", maxPromptChars: 1 });
      const { delivery, pending } = await fast(turn);
      assert.deepEqual([delivery, pending], [null, true]);
      assert.equal((await turn.toolResult(undefined, 1)).state, "pending");
      const result = await settled(() => turn.toolResult(undefined, 10_000));
      assert.deepEqual(result.delivery?.documents.map((note) => note.title), ["Harbour crane"]);
      assert.equal((await turn.outcome).deliveryPoint, "tool_result");
    });

    it("answers a tool result of a turn that is over", async () => {
      const turn = memrecall.recall("harbour crane", { sessionId: "tool" });
      await deliveries(turn);
      await turn.outcome;
      assert.equal((await turn.toolResult("grep")).state, "none");
    });

    it("tells of every step of its own turns and of other processes' turns", async () => {
      const events: RecallEvent[] = [];
      const listener = memrecall.onDidRecall((event) => events.push(event));
      const agent = await Agent.connect(daemon.socket);
      try {
        await deliveries(memrecall.recall("harbour crane", { sessionId: "own" }));
        await agent.turn({ sessionId: "agent", query: "harbour crane" });
        for (const sessionId of ["own", "agent"]) {
          const steps = (): RecallEvent[] => events.filter((event) => event.sessionId === sessionId);
          await until(`${sessionId} is seen to end`, () => steps().at(-1)?.event === "ended");
          const [refined, ended] = steps().filter((event) => event.event !== "fast");
          assert.deepEqual([refined?.event, ended?.event], ["refined", "ended"]);
          const [note] = refined!.documents;
          assert.equal(note?.title, "Harbour crane");
          assert.ok(note.matched?.some((match) => match.term === "crane" && match.field === "title"));
          assert.equal(ended!.outcome?.documents, 1);
        }
      } finally {
        listener.dispose();
        agent.close();
      }
    });
  });
}
