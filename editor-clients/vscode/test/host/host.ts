/** The extension as it runs in this host, and the settings that lead it to a test's daemon. */
import assert from "node:assert/strict";
import * as vscode from "vscode";

import type { Delivery, FastResult, MemrecallApi, RecallTurn, ToolResult } from "../../api";
import { Agent } from "./agent";
import type { Daemon } from "./daemon";
import { until } from "./until";

/** What the extension exports. */
export async function api(): Promise<MemrecallApi> {
  const extension = vscode.extensions.getExtension<MemrecallApi>("memrecalld.memrecall");
  assert.ok(extension, "the extension is not installed");
  return extension.activate();
}

/** Change a setting of the user; undefined takes it back. */
export async function set(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("memrecall").update(name, value, vscode.ConfigurationTarget.Global);
}

/**
 * Lead the extension to a daemon and wait until they talk. The daemon has read its notes then: a first recall would
 * give it no more than its initial wait for that, and this machine may be busy.
 */
export async function use(daemon: Daemon): Promise<MemrecallApi> {
  const memrecall = await api();
  const agent = await Agent.connect(daemon.socket);
  await agent.connection.sendRequest("memory/list", { projectRoot: project() });
  agent.close();
  await set("socketPath", daemon.socket);
  await connected(memrecall);
  return memrecall;
}

/** Wait for the connection, and fail if it does not come. */
export async function connected(memrecall: MemrecallApi): Promise<void> {
  await until("connected", () => memrecall.state === "connected");
}

/** The project that is open in this host. */
export function project(): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(folder, "no folder is open");
  return folder;
}

/** The end of a turn's initial wait. */
export function fast(turn: RecallTurn): Promise<FastResult> {
  return new Promise((resolve) => turn.onFast(resolve));
}

/** What a tool result gets once the turn has settled. */
export async function settled(ask: () => Promise<ToolResult>): Promise<ToolResult> {
  let result = await ask();
  await until("the turn has settled", async () => {
    if (result.state === "pending") {
      result = await ask();
    }
    return result.state !== "pending";
  });
  return result;
}

/** All that a turn delivers, at whichever delivery point it comes. */
export async function deliveries(turn: RecallTurn): Promise<Delivery[]> {
  const { delivery, pending } = await fast(turn);
  const later = pending ? (await settled(() => turn.toolResult())).delivery : null;
  turn.end();
  return [delivery, later].filter((each) => each !== null);
}

/** The titles of the notes that a turn delivers. */
export async function titles(turn: RecallTurn): Promise<string[]> {
  return (await deliveries(turn)).flatMap((delivery) => delivery.documents.map((note) => note.title));
}
