/** The view *Recalled memory*: sessions, their turns, and the notes that each was given. */
import * as vscode from "vscode";

import { asPath, isOpenHere } from "./places";
import type { ObservedSession, ObservedTurn, RecalledMemory, RecalledNote } from "./recalledMemory";
import * as settings from "./settings";
import { excerpt, fate, literal, noteIcon, why } from "./wording";

type Node = ObservedSession | ObservedTurn | RecalledNote;

export class RecalledView implements vscode.TreeDataProvider<Node> {
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changes.event;

  /** `ownSession` is the id of this window's session. */
  constructor(
    private readonly memory: RecalledMemory,
    private readonly ownSession: string,
  ) {}

  refresh(): void {
    this.changes.fire();
  }

  getChildren(node?: Node): Node[] {
    switch (node?.kind) {
      case undefined:
        return this.memory.sessions.filter((session) => this.shown(session).length > 0);
      case "session":
        return this.shown(node);
      case "turn":
        return node.notes;
      case "note":
        return [];
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "session":
        return this.session(node);
      case "turn":
        return turnItem(node);
      case "note":
        return noteItem(node);
    }
  }

  private shown(session: ObservedSession): ObservedTurn[] {
    if (session.id === this.ownSession || settings.showsAllProjects()) {
      return session.turns;
    }
    const folders = settings.projectFolders();
    return session.turns.filter((turn) => isOpenHere(turn.projectRoot, folders));
  }

  private session(session: ObservedSession): vscode.TreeItem {
    const own = session.id === this.ownSession;
    const item = new vscode.TreeItem(
      own ? "This window" : `Session ${excerpt(session.id)}`,
      vscode.TreeItemCollapsibleState.Expanded,
    );
    item.id = `session ${session.id}`;
    item.description = project(session.turns[0]);
    item.iconPath = new vscode.ThemeIcon(own ? "window" : "hubot");
    item.tooltip = `Session ${session.id}`;
    return item;
  }
}

function project(turn: ObservedTurn | undefined): string {
  return turn?.projectRoot === undefined ? "" : (asPath(turn.projectRoot).split("/").filter(Boolean).at(-1) ?? "");
}

function turnItem(turn: ObservedTurn): vscode.TreeItem {
  const time = turn.seenAt.toLocaleTimeString();
  const item = new vscode.TreeItem(
    turn.query === undefined ? `Turn at ${time}` : excerpt(turn.query),
    turn.notes.length > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None,
  );
  item.id = `turn ${turn.id}`;
  item.description = fate(turn);
  item.iconPath = turnIcon(turn);
  item.tooltip = turnTooltip(turn, time);
  return item;
}

function turnIcon({ outcome, lost, notes }: ObservedTurn): vscode.ThemeIcon {
  if (lost) {
    return new vscode.ThemeIcon("debug-disconnect");
  }
  if (outcome === undefined) {
    return new vscode.ThemeIcon("loading~spin");
  }
  if (outcome.discardReason === "failed") {
    return new vscode.ThemeIcon("error", new vscode.ThemeColor("errorForeground"));
  }
  return notes.length > 0
    ? new vscode.ThemeIcon("pass", new vscode.ThemeColor("testing.iconPassed"))
    : new vscode.ThemeIcon("circle-slash");
}

function turnTooltip(turn: ObservedTurn, time: string): vscode.MarkdownString {
  const { query, agentId, outcome } = turn;
  const agent = agentId !== "" && query === undefined ? `, agent ${literal(agentId)}` : "";
  const lines = [...(query === undefined ? [] : [`${literal(query)}\n`]), `Turn at ${time}${agent}\n`];
  if (outcome !== undefined) {
    lines.push(`- initial wait: ${outcome.waitMs.toFixed(1)} ms`, `- notes looked at: ${outcome.scanned}`);
  }
  if (outcome !== undefined && outcome.candidates > 0) {
    lines.push(`- offered to the model: ${outcome.candidates}, answered in ${outcome.selectMs.toFixed(0)} ms`);
  }
  return new vscode.MarkdownString(lines.join("\n"));
}

function noteItem({ note, phase, turn }: RecalledNote): vscode.TreeItem {
  const item = new vscode.TreeItem(note.title, vscode.TreeItemCollapsibleState.None);
  const uri = vscode.Uri.file(note.path);
  item.id = `note ${turn.id} ${phase} ${note.path}`;
  item.description = `${phase} · ${why(note)}`;
  item.iconPath = new vscode.ThemeIcon(noteIcon(note));
  item.command = { command: "vscode.open", title: "Open Note", arguments: [uri] };
  item.tooltip = new vscode.MarkdownString(
    [
      `**${literal(note.title)}**\n`,
      `${literal(note.description)}\n`,
      `- ${note.scope} note, ${note.type}, ${note.age}`,
      `- delivered ${phase}`,
      `- ${literal(why(note))}`,
      `- ${literal(note.path)}`,
    ].join("\n"),
  );
  item.accessibilityInformation = { label: `${note.title}, delivered ${phase}, ${why(note)}` };
  return item;
}
