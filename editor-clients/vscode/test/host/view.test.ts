import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import * as vscode from "vscode";

import { RecalledMemory } from "../../src/recalledMemory";
import { RecalledView } from "../../src/recalledView";
import { event, observedNote, outcome } from "../unit/notes";
import { project, set } from "./host";

export function testView(): void {
  describe("the view", () => {
    const memory = new RecalledMemory();
    const view = new RecalledView(memory, "own");
    const children = (...path: number[]): ReturnType<RecalledView["getChildren"]> =>
      path.reduce((nodes, index) => view.getChildren(nodes[index]), view.getChildren());

    before(() => {
      const note = observedNote("Quay wall", [{ term: "quay", field: "title", weight: 4 }]);
      memory.add(event("here", { sessionId: "agent", projectRoot: project(), documents: [note] }), new Date(0));
      memory.add(event("elsewhere", { sessionId: "other", projectRoot: "/elsewhere" }), new Date(0));
    });
    after(() => set("recalledMemory.show", undefined));

    it("shows sessions, their turns and the notes of each", () => {
      assert.equal(view.getTreeItem(children()[0]!).label, "Session agent");
      assert.equal(view.getTreeItem(children(0)[0]!).description, "1 fast · waiting for the model's choice");
      assert.equal(view.getTreeItem(children(0, 0)[0]!).label, "Quay wall");
    });

    it("says of a note how it was delivered and why it matched", () => {
      assert.equal(view.getTreeItem(children(0, 0)[0]!).description, "fast · title: quay");
    });

    it("opens the note's file on a click", () => {
      const { command } = view.getTreeItem(children(0, 0)[0]!);
      assert.equal(command?.command, "vscode.open");
      assert.equal((command.arguments?.[0] as vscode.Uri).fsPath, "/notes/Quay wall.md");
    });

    it("shows turns of other projects only where the setting says so", async () => {
      assert.deepEqual(children().map((node) => view.getTreeItem(node).label), ["Session agent"]);
      await set("recalledMemory.show", "all");
      assert.deepEqual(children().map((node) => view.getTreeItem(node).label), ["Session other", "Session agent"]);
    });

    it("shows no formatting and no link that a note or a query brings along", () => {
      const hostile = "[x](command:workbench.action.quit) ![y](https://z) <b>";
      memory.add(event("hostile", { sessionId: "own", documents: [observedNote(hostile)] }), new Date(0));
      memory.annotate("hostile", hostile);
      memory.add(event("hostile", { sessionId: "own", event: "ended", outcome: outcome() }), new Date(0));
      for (const node of [children(0)[0]!, children(0, 0)[0]!]) {
        const tooltip = view.getTreeItem(node).tooltip as vscode.MarkdownString;
        assert.ok(!tooltip.isTrusted);
        assert.ok(!/(?<!\\)\[x\]|(?<!\\)!\[|<b>/.test(tooltip.value), tooltip.value);
      }
    });
  });
}
