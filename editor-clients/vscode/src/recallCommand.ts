/** The command *Recall for Selection or Query*: what an agent would be given for a query, in a quick pick. */
import * as vscode from "vscode";

import type { Delivery } from "../api";
import { type NoteItem, noteItem, noteQuickPick, openNote } from "./noteItem";
import type { Recaller } from "./recaller";
import { excerpt } from "./wording";

/** Recall for `query`, else for the selected text, else for what the user types. */
export async function recallCommand(recaller: Recaller, query?: string): Promise<void> {
  const asked = query ?? selectedText() ?? (await askQuery());
  if (asked === undefined || asked.trim() === "") {
    return;
  }
  const cancellation = new vscode.CancellationTokenSource();
  const pick = noteQuickPick<NoteItem>();
  pick.title = `Recalled for: ${excerpt(asked)}`;
  pick.placeholder = "Recalling…";
  pick.busy = true;
  let recalling = true;
  pick.onDidAccept(() => {
    const [item] = pick.selectedItems;
    if (item !== undefined) {
      pick.hide();
      void openNote(item.note);
    }
  });
  pick.onDidHide(() => {
    if (recalling) {
      cancellation.cancel();
    }
    pick.dispose();
  });
  pick.show();
  const add = (delivery: Delivery): void => {
    pick.items = [...pick.items, ...delivery.documents.map((note) => noteItem(note, delivery.phase))];
    pick.placeholder = delivery.phase === "fast" ? "The model is still choosing…" : "";
  };
  try {
    await recaller.recallAll(asked, add, cancellation.token);
    pick.placeholder = pick.items.length > 0 ? "Choose a note to open it" : "No note matters for this";
  } catch (error) {
    pick.hide();
    void vscode.window.showErrorMessage(`memrecall: ${(error as Error).message}`);
  } finally {
    recalling = false;
    pick.busy = false;
    cancellation.dispose();
  }
}

function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && !editor.selection.isEmpty ? editor.document.getText(editor.selection) : undefined;
}

function askQuery(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: "Recall memory notes",
    prompt: "What would you ask an agent?",
    placeHolder: "how do we deploy?",
  });
}
