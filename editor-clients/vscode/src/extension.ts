/** Puts the extension together. */
import * as vscode from "vscode";

import type { MemrecallApi } from "../api";
import { registerParticipant } from "./chatParticipant";
import { Connection } from "./connection";
import { registerTool } from "./languageModelTool";
import { recallCommand } from "./recallCommand";
import { RecalledMemory } from "./recalledMemory";
import { RecalledView } from "./recalledView";
import { Recaller } from "./recaller";
import { searchCommand } from "./searchCommand";
import { Selector } from "./selector";
import * as settings from "./settings";
import { StatusBar } from "./statusBar";
import { statusCommand } from "./statusCommand";

/** Called by the editor. It never waits for the daemon, which may come at any time, or never. */
export function activate(context: vscode.ExtensionContext): MemrecallApi {
  const log = vscode.window.createOutputChannel("memrecall", { log: true });
  const selector = new Selector(log);
  const connection = new Connection(log, () => selector.select);
  const memory = new RecalledMemory();
  const recaller = new Recaller(connection, (turnId, query) => memory.annotate(turnId, query));
  const view = new RecalledView(memory, recaller.sessionId);

  context.subscriptions.push(
    log,
    selector,
    connection,
    new StatusBar(connection),
    vscode.window.registerTreeDataProvider("memrecall.recalled", view),
    registerTool(recaller),
    registerParticipant(recaller),
    connection.onDidObserve((event) => {
      memory.add(event, new Date());
      view.refresh();
    }),
    connection.onDidChangeState((state) => {
      if (state !== "connected") {
        memory.loseOpenTurns();
        view.refresh();
      }
    }),
    selector.onDidChange(() => connection.reconnect()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => view.refresh()),
    settings.onDidChange(["recalledMemory", "projectRoot"], () => view.refresh()),
    settings.onDidChange(["socketPath"], () => connection.reconnect()),
    settings.onDidChange(["selector"], () => void selector.look()),
    vscode.commands.registerCommand("memrecall.recall", (query?: unknown) =>
      recallCommand(recaller, typeof query === "string" ? query : undefined),
    ),
    vscode.commands.registerCommand("memrecall.search", (query?: unknown) =>
      searchCommand(connection, typeof query === "string" ? query : undefined),
    ),
    vscode.commands.registerCommand("memrecall.showStatus", () => statusCommand(connection, log)),
    vscode.commands.registerCommand("memrecall.reconnect", () => connection.reconnect()),
    vscode.commands.registerCommand("memrecall.clearRecalled", () => {
      memory.clear();
      view.refresh();
    }),
  );
  connection.open();
  void selector.look();
  return {
    apiVersion: 1,
    get state() {
      return connection.state;
    },
    onDidChangeState: connection.onDidChangeState,
    onDidRecall: connection.onDidObserve,
    recall: (query, options) => recaller.recall(query, options),
  };
}
