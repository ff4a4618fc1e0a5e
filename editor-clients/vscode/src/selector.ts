/** The editor's language model as the daemon's selector, where the user allows it. */
import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import type { Select } from "./connection";
import { parseAnswer, question, UnusableAnswer } from "./selection";
import * as settings from "./settings";
import type { SelectParams, SelectResult } from "./wire";

/** The editor shows it when it asks for the user's consent. */
const JUSTIFICATION =
  "memrecall asks the model which of your saved notes matter for a query of yours or of your agents.";

export class Selector implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly listener: vscode.Disposable | undefined;
  private offered = false;

  /** Whether there is a model to offer has changed. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly log: vscode.LogOutputChannel) {
    // Editors built on VS Code may come without the language model API.
    this.listener = vscode.lm?.onDidChangeChatModels?.(() => void this.look());
  }

  /** What answers `recall/select`, or undefined while there is no model to offer. */
  get select(): Select | undefined {
    return this.offered ? (params, token) => this.choose(params, token) : undefined;
  }

  /** Look whether there is a model to offer. */
  async look(): Promise<void> {
    const offered = settings.selectorEnabled() && (await this.models()).length > 0;
    if (offered !== this.offered) {
      this.offered = offered;
      this.log.info(offered ? "offers a model as selector" : "offers no model as selector");
      this.changes.fire();
    }
  }

  dispose(): void {
    this.listener?.dispose();
    this.changes.dispose();
  }

  private async models(): Promise<vscode.LanguageModelChat[]> {
    const models = (await vscode.lm?.selectChatModels?.()) ?? [];
    const wanted = settings.selectorModel();
    return wanted === ""
      ? models
      : models.filter((model) => [model.id, model.family].includes(wanted));
  }

  private async choose(params: SelectParams, token: vscode.CancellationToken): Promise<SelectResult> {
    const [model] = await this.models();
    if (model === undefined) {
      throw failed("the editor has no language model any more");
    }
    const messages = question(params).map((text) => vscode.LanguageModelChatMessage.User(text));
    try {
      const answer = await Promise.race([ask(model, messages, token), cancelled(token)]);
      return { selected: parseAnswer(answer, params) };
    } catch (error) {
      // What the model or its provider said may hold the query; only the kind of failure goes on.
      throw failed(error instanceof UnusableAnswer ? error.message : `the language model failed (${kind(error)})`);
    }
  }
}

async function ask(
  model: vscode.LanguageModelChat,
  messages: vscode.LanguageModelChatMessage[],
  token: vscode.CancellationToken,
): Promise<string> {
  const response = await model.sendRequest(messages, { justification: JUSTIFICATION }, token);
  let answer = "";
  for await (const part of response.text) {
    answer += part;
  }
  return answer;
}

/** Editors pass a cancellation on only until the answer begins, so a model that hangs is left alone from here. */
function cancelled(token: vscode.CancellationToken): Promise<never> {
  return new Promise((_resolve, reject) => {
    token.onCancellationRequested(() => reject(new vscode.CancellationError()));
  });
}

function kind(error: unknown): string {
  return error instanceof vscode.LanguageModelError ? error.code : "unknown";
}

function failed(message: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, message);
}
