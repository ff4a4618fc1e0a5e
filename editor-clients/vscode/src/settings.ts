/** The extension's settings, read when they are needed. */
import * as vscode from "vscode";

import { asPath } from "./places";

const SECTION = "memrecall";

function read<T>(name: string, otherwise: T, scope?: vscode.ConfigurationScope): T {
  return vscode.workspace.getConfiguration(SECTION, scope).get(name, otherwise);
}

/** Empty where the daemon's own place applies. */
export function socketPath(): string {
  return read("socketPath", "").trim();
}

export function maxResults(): number {
  return Math.min(Math.max(Math.trunc(read("maxResults", 20)), 1), 100);
}

export function showsAllProjects(): boolean {
  return read<string>("recalledMemory.show", "project") === "all";
}

export function selectorEnabled(): boolean {
  return read("selector.enabled", false);
}

/** Id or family; empty for any model. */
export function selectorModel(): string {
  return read("selector.model", "").trim();
}

/** The project of a call that names none: as set, else the active editor's workspace folder, else the first. */
export function projectRoot(): string | undefined {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder =
    (active && vscode.workspace.getWorkspaceFolder(active)) ?? vscode.workspace.workspaceFolders?.[0];
  const set = read("projectRoot", "", folder?.uri).trim();
  return set || (folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined);
}

/** All project folders of this window. */
export function projectFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const open = folders.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
  const set = [undefined, ...folders].map((folder) => read("projectRoot", "", folder?.uri).trim());
  return [...open, ...set.filter((root) => root !== "").map(asPath)];
}

/** Calls back when a setting with one of these names, or below one of them, has changed. */
export function onDidChange(names: readonly string[], listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (names.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
      listener();
    }
  });
}
