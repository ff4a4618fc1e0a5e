/** The daemon's health in the status bar; a click shows more. */
import * as vscode from "vscode";

import type { ConnectionState } from "../api";
import type { Connection } from "./connection";

const SHOWN: Record<ConnectionState, { icon: string; text: string; colour?: string }> = {
  connecting: { icon: "sync~spin", text: "connecting" },
  connected: { icon: "notebook", text: "connected" },
  reconnecting: { icon: "sync~spin", text: "reconnecting" },
  absent: { icon: "debug-disconnect", text: "daemon absent", colour: "statusBarItem.warningBackground" },
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("memrecall.health", vscode.StatusBarAlignment.Right, 90);
  private readonly listener: vscode.Disposable;

  constructor(private readonly connection: Connection) {
    this.item.name = "memrecall";
    this.item.command = "memrecall.showStatus";
    this.listener = connection.onDidChangeState(() => this.update());
    this.update();
    this.item.show();
  }

  dispose(): void {
    this.listener.dispose();
    this.item.dispose();
  }

  private update(): void {
    const { icon, text, colour } = SHOWN[this.connection.state];
    this.item.text = `$(${icon}) memrecall`;
    this.item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    this.item.tooltip = `memrecall: ${text}`;
    this.item.accessibilityInformation = { label: `memrecall: ${text}`, role: "button" };
    void vscode.commands.executeCommand("setContext", "memrecall.state", this.connection.state);
  }
}
