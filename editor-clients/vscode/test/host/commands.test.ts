import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import * as vscode from "vscode";

import { Daemon } from "./daemon";
import { project, set, use } from "./host";
import { until } from "./until";

export function testCommands(): void {
  describe("the commands", () => {
    const daemon = new Daemon();
    let note = "";

    before(async () => {
      note = daemon.projectNote(project(), "quay.md", "Quay wall", "Which quay is being rebuilt", "The third one.");
      await daemon.start();
      await use(daemon);
    });
    after(async () => {
      await set("socketPath", undefined);
      await vscode.commands.executeCommand("workbench.action.closeAllEditors");
      await daemon.remove();
    });

    it("are all there", async () => {
      const commands = await vscode.commands.getCommands(true);
      for (const name of ["recall", "search", "showStatus", "reconnect", "clearRecalled"]) {
        assert.ok(commands.includes(`memrecall.${name}`), name);
      }
    });

    for (const [command, query] of [
      ["memrecall.recall", "which quay"],
      ["memrecall.search", "quay"],
    ] as const) {
      it(`${command} lists what it found, and Enter opens it`, async () => {
        await vscode.commands.executeCommand("workbench.action.closeAllEditors");
        void vscode.commands.executeCommand(command, query);
        await until("the note is open", async () => {
          await vscode.commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
          return vscode.window.activeTextEditor?.document.uri.fsPath === note;
        });
        assert.match(vscode.window.activeTextEditor!.document.getText(), /The third one/);
      });
    }

    it("memrecall.recall recalls for the selected text, as often as it is asked", async () => {
      const document = await vscode.workspace.openTextDocument({ content: "x quay wall x" });
      for (let round = 0; round < 2; round += 1) {
        const editor = await vscode.window.showTextDocument(document);
        editor.selection = new vscode.Selection(0, 2, 0, 11);
        void vscode.commands.executeCommand("memrecall.recall");
        await until("the note is open", async () => {
          await vscode.commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
          return vscode.window.activeTextEditor?.document.uri.fsPath === note;
        });
      }
    });
  });
}
