/** A note as a line of a quick pick. */
import * as vscode from "vscode";

import type { NoteSummary, ObservedNote } from "../api";
import { noteIcon, why } from "./wording";

export interface NoteItem extends vscode.QuickPickItem {
  readonly note: NoteSummary;
}

/** `remarks` stand behind the title. */
export function noteItem(note: NoteSummary & Partial<ObservedNote>, ...remarks: string[]): NoteItem {
  const found = note.matched === undefined ? [] : [why(note)];
  return {
    note,
    label: `$(${noteIcon(note)}) ${note.title}`,
    description: [...remarks, note.scope, note.age].join(" · "),
    detail: [...found, note.description].filter((text) => text !== "").join(" — "),
    // What is listed was found by the daemon; the quick pick's own filter would hide it again.
    alwaysShow: true,
  };
}

/** Show the note's file. */
export async function openNote(note: NoteSummary): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(note.path));
}

/** A quick pick that keeps the daemon's order, best first. */
export function noteQuickPick<Item extends vscode.QuickPickItem>(): vscode.QuickPick<Item> {
  const pick = vscode.window.createQuickPick<Item>();
  // Not in the published types yet, though every host has had it for years: without it, typing sorts by label.
  (pick as vscode.QuickPick<Item> & { sortByLabel: boolean }).sortByLabel = false;
  pick.matchOnDescription = false;
  return pick;
}
