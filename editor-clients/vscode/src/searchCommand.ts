/** The command *Search Notes*: notes as you type, with the reasons why they were found. */
import * as vscode from "vscode";

import type { Connection } from "./connection";
import { type NoteItem, noteItem, noteQuickPick, openNote } from "./noteItem";
import * as settings from "./settings";
import type { ListResult, SearchResult } from "./wire";

/** Typing may go on for so long before a search is sent. */
const TYPING_MS = 120;

/** Show the newest notes, and from the first letter on those that match. */
export function searchCommand(connection: Connection, query = ""): void {
  const pick = noteQuickPick<NoteItem>();
  const projectRoot = settings.projectRoot();
  const project = projectRoot === undefined ? {} : { projectRoot };
  let running = new vscode.CancellationTokenSource();
  let typing: NodeJS.Timeout | undefined;

  const search = async (): Promise<void> => {
    running.cancel();
    running = new vscode.CancellationTokenSource();
    const { token } = running;
    pick.busy = true;
    try {
      const items = pick.value.trim() === "" ? await newest(token) : await found(pick.value, token);
      if (!token.isCancellationRequested) {
        pick.items = items;
        pick.busy = false;
      }
    } catch (error) {
      if (!token.isCancellationRequested) {
        pick.hide();
        void vscode.window.showErrorMessage(`memrecall: ${(error as Error).message}`);
      }
    }
  };
  const found = async (value: string, token: vscode.CancellationToken): Promise<NoteItem[]> => {
    const limit = settings.maxResults();
    const params = { query: value, limit, ...project };
    const { documents } = await connection.request<SearchResult>("memory/search", params, token);
    return documents.map((note) => noteItem(note));
  };
  const newest = async (token: vscode.CancellationToken): Promise<NoteItem[]> => {
    const { documents } = await connection.request<ListResult>("memory/list", project, token);
    return documents.slice(0, settings.maxResults()).map((note) => noteItem(note));
  };

  pick.title = "Search memory notes";
  pick.placeholder = "Words to look for; the newest notes are listed until then";
  pick.value = query;
  pick.onDidChangeValue(() => {
    clearTimeout(typing);
    typing = setTimeout(() => void search(), TYPING_MS);
  });
  pick.onDidAccept(() => {
    const [item] = pick.selectedItems;
    if (item !== undefined) {
      pick.hide();
      void openNote(item.note);
    }
  });
  pick.onDidHide(() => {
    clearTimeout(typing);
    running.cancel();
    pick.dispose();
  });
  pick.show();
  void search();
}
