/** The daemon's health in the status bar; a click shows more. */
import * as vscode from "vscode";

import type { Connection } from "./connection";
import { type Condition, standing } from "./wording";
import type { StatusResult } from "./wire";

/** How often a connected daemon is asked how it is: what goes wrong with it is nothing of this moment. */
const LOOK_MS = 60_000;

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("memrecall.health", vscode.StatusBarAlignment.Right, 90);
  private readonly listener: vscode.Disposable;
  private readonly timer = setInterval(() => void this.look(), LOOK_MS);
  private condition: Condition = {};

  constructor(private readonly connection: Connection) {
    this.item.name = "memrecall";
    this.item.command = "memrecall.showStatus";
    this.listener = connection.onDidChangeState(() => {
      this.condition = {};
      this.update();
      void this.look();
    });
    this.update();
    this.item.show();
  }

  dispose(): void {
    clearInterval(this.timer);
    this.listener.dispose();
    this.item.dispose();
  }

  private async look(): Promise<void> {
    if (this.connection.state !== "connected") {
      return;
    }
    try {
      this.condition = await this.connection.request<StatusResult>("daemon/status", {});
    } catch {
      this.condition = {}; // the connection is gone, and its state tells
    }
    this.update();
  }

  private update(): void {
    const { icon, alarm, text } = standing(this.connection.state, this.condition);
    this.item.text = `$(${icon}) memrecall`;
    this.item.backgroundColor = alarm ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.item.tooltip = `memrecall: ${text}`;
    this.item.accessibilityInformation = { label: `memrecall: ${text}`, role: "button" };
    void vscode.commands.executeCommand("setContext", "memrecall.state", this.connection.state);
  }
}
