/** Recall as a tool of language models, in editors that have such tools. */
import * as vscode from "vscode";

import type { Recaller } from "./recaller";

interface Input {
  query: string;
}

class RecallTool implements vscode.LanguageModelTool<Input> {
  constructor(private readonly recaller: Recaller) {}

  prepareInvocation(): vscode.PreparedToolInvocation {
    return { invocationMessage: "Recalling memory notes" };
  }

  async invoke(
    options: vscode.LanguageModelToolInvocationOptions<Input>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const prompts: string[] = [];
    await this.recaller.recallAll(options.input.query, ({ prompt }) => prompts.push(prompt), token);
    const text = prompts.length > 0 ? prompts.join("\n") : "No saved note matters for this.";
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }
}

/** Register the tool where the editor has tools; elsewhere nothing happens. */
export function registerTool(recaller: Recaller): vscode.Disposable {
  return (
    vscode.lm?.registerTool?.("memrecall_recall", new RecallTool(recaller)) ?? new vscode.Disposable(() => undefined)
  );
}
