import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import * as vscode from "vscode";

import { answer } from "../../src/chatParticipant";
import { Connection } from "../../src/connection";
import { Recaller } from "../../src/recaller";
import { Daemon } from "./daemon";
import { project, set, use } from "./host";
import { until } from "./until";

export function testChatParticipant(): void {
  describe("the chat participant", () => {
    const daemon = new Daemon();
    const log = vscode.window.createOutputChannel("test", { log: true });
    const connection = new Connection(log, () => undefined);
    const recaller = new Recaller(connection, () => undefined);
    const token = new vscode.CancellationTokenSource().token;
    let note = "";

    before(async () => {
      note = daemon.projectNote(project(), "quay.md", "Quay [wall](x)", "Which quay is being rebuilt");
      await daemon.start();
      await use(daemon);
      connection.open();
      await until("connected", () => connection.state === "connected");
    });
    after(async () => {
      connection.dispose();
      log.dispose();
      await set("socketPath", undefined);
      await daemon.remove();
    });

    it("names the notes that matter, with a reference to each", async () => {
      const { text, references } = await ask("which quay is rebuilt?");
      assert.match(text, /Which quay is being rebuilt/);
      assert.match(text, /title\\: quay/);
      assert.deepEqual(references, [note]);
    });

    it("passes no link on that a note brings along", async () => {
      assert.ok(!/(?<!\\)\[wall\]\(x\)/.test((await ask("which quay is rebuilt?")).text));
    });

    it("says so when no note matters", async () => {
      assert.deepEqual(await ask("submarine"), { text: "No saved note matters for this.", references: [] });
    });

    async function ask(prompt: string): Promise<{ text: string; references: string[] }> {
      let text = "";
      const references: string[] = [];
      const stream = {
        markdown: (value: string | vscode.MarkdownString) => {
          text += typeof value === "string" ? value : value.value;
        },
        reference: (value: vscode.Uri) => {
          references.push(value.fsPath);
        },
      };
      await answer(recaller, prompt, stream as Parameters<typeof answer>[2], token);
      return { text, references };
    }
  });
}
