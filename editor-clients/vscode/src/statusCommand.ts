/** The command *Show Status*: the daemon's health, where notes are read from, and what was left out. */
import * as vscode from "vscode";

import type { Connection } from "./connection";
import * as settings from "./settings";
import { lessGood } from "./wording";
import type { ProjectStatus, StatusResult } from "./wire";

interface StatusItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

/** Show it; `log` is what *Show Log* opens. */
export async function statusCommand(connection: Connection, log: vscode.OutputChannel): Promise<void> {
  const actions: StatusItem[] = [
    separator("Actions"),
    {
      label: "$(debug-restart) Reconnect",
      run: () => connection.reconnect(),
    },
    {
      label: "$(gear) Open Settings",
      run: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:memrecalld.memrecall"),
    },
    { label: "$(output) Show Log", run: () => log.show() },
  ];
  const chosen = await vscode.window.showQuickPick<StatusItem>([...(await health(connection)), ...actions], {
    title: "memrecall",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  await chosen?.run?.();
}

async function health(connection: Connection): Promise<StatusItem[]> {
  const projectRoot = settings.projectRoot();
  try {
    const status = await connection.request<StatusResult>(
      "daemon/status",
      projectRoot === undefined ? {} : { projectRoot },
    );
    return [...daemonItems(status), ...healthItems(status), ...(status.project ? projectItems(status.project) : [])];
  } catch (error) {
    return [
      {
        label: connection.state === "absent" ? "$(debug-disconnect) Daemon absent" : "$(sync) Not connected",
        detail: (error as Error).message,
      },
    ];
  }
}

function daemonItems(status: StatusResult): StatusItem[] {
  return [
    {
      label: status.health?.state === "degraded" ? "$(warning) Connected, degraded" : "$(pass) Connected",
      description: `memrecalld ${status.version}, process ${status.pid}, up ${duration(status.uptimeS)}`,
    },
    {
      label: `$(note) ${count(status.topics, "note")} in memory`,
      description: `${count(status.sessions, "session")}, ${count(status.openTurns, "open turn")}, ${count(status.connections, "connection")}`,
    },
    {
      label: `$(hubot) Selector: ${status.selector.kind}`,
      description: status.selector.kind === "none" ? "the best lexical matches are delivered" : "",
    },
    ...(status.latency !== undefined && status.latency.samples > 0
      ? [
          {
            label: `$(dashboard) ${status.latency.p50.toFixed(1)} ms to the first result`,
            description: `p90 ${status.latency.p90.toFixed(1)}, p99 ${status.latency.p99.toFixed(1)}, max ${status.latency.max.toFixed(1)} ms, ${count(status.latency.samples, "turn")}`,
          },
        ]
      : []),
  ];
}

function healthItems(status: StatusResult): StatusItem[] {
  return lessGood(status).map(({ text, detail }) => ({
    label: `$(warning) ${text}`,
    ...(detail !== undefined && { detail }),
  }));
}

function projectItems(project: ProjectStatus): StatusItem[] {
  const folders = project.roots.map((root) => ({
    label: `$(folder) ${root.scope} · ${root.layout}`,
    description: root.exists ? count(root.topics, "note") : "does not exist",
    detail: root.path,
    ...(root.exists && {
      run: () =>
        vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(root.path), { forceNewWindow: true }),
    }),
  }));
  const skipped = project.skipped.map((file) => ({
    label: `$(warning) ${file.path.split("/").at(-1) ?? ""}`,
    description: file.reason,
    detail: file.path,
    run: () => vscode.commands.executeCommand("vscode.open", vscode.Uri.file(file.path)),
  }));
  return [
    separator(project.root ?? project.reason ?? "no project"),
    ...folders,
    ...(skipped.length > 0 ? [separator("Left out"), ...skipped] : []),
  ];
}

function separator(label: string): StatusItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes < 1 ? `${Math.floor(seconds)} s` : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
