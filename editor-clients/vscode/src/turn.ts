/** Turns of this window: what another extension holds in its hand while one runs. */
import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import type { FastResult, Outcome, RecallOptions, RecallTurn, ToolResult } from "../api";
import type { Connection } from "./connection";
import type { Received } from "./received";
import type { StartParams, TurnParams } from "./wire";

export class Turn implements RecallTurn {
  readonly sessionId: string;
  readonly agentId: string;
  readonly outcome: Promise<Outcome>;
  private readonly cancellation = new vscode.CancellationTokenSource();
  private readonly fast = new vscode.EventEmitter<FastResult>();
  private fastResult: FastResult | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly received: Received,
    params: StartParams,
  ) {
    this.sessionId = params.sessionId;
    this.agentId = params.agentId ?? "";
    this.outcome = this.run(params);
    // Whoever holds the turn need not care how it ends.
    this.outcome.catch(() => undefined);
  }

  readonly onFast: vscode.Event<FastResult> = (listener, thisArgs, disposables) => {
    const result = this.fastResult;
    if (result === undefined) {
      return this.fast.event(listener, thisArgs, disposables);
    }
    queueMicrotask(() => listener.call(thisArgs, result));
    return new vscode.Disposable(() => undefined);
  };

  async toolResult(toolName?: string, maxPromptChars?: number): Promise<ToolResult> {
    const result = await this.connection.request<ToolResult>("recall/toolResult", {
      ...this.address(),
      ...(toolName !== undefined && { toolName }),
      ...(maxPromptChars !== undefined && { maxPromptChars }),
    });
    this.received.add(this.sessionId, this.agentId, result.delivery);
    return result;
  }

  end(): void {
    this.connection.notify("recall/end", this.address());
  }

  cancel(): void {
    this.cancellation.cancel();
  }

  private address(): TurnParams {
    const turnId = this.fastResult?.turnId;
    return {
      sessionId: this.sessionId,
      agentId: this.agentId,
      ...(turnId !== undefined && { turnId }),
    };
  }

  private async run(params: StartParams): Promise<Outcome> {
    try {
      const result = await this.connection.startTurn(params, this.cancellation.token, (fast) => {
        this.received.add(this.sessionId, this.agentId, fast.delivery);
        this.fastResult = fast;
        this.fast.fire(fast);
      });
      // Only a detached turn is answered without its outcome, and these are attached.
      return result.outcome as Outcome;
    } catch (error) {
      if (error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled && error.data) {
        return error.data as Outcome;
      }
      throw error;
    } finally {
      this.fast.dispose();
      this.cancellation.dispose();
    }
  }
}

/** The parameters of a turn, from what a caller says and what applies otherwise. */
export function startParams(
  query: string,
  options: RecallOptions,
  otherwise: { sessionId: string; projectRoot: string | undefined },
  received: Received,
): StartParams {
  const projectRoot = options.projectRoot ?? otherwise.projectRoot;
  const sessionId = options.sessionId ?? otherwise.sessionId;
  const lastDelivery = received.last(sessionId, options.agentId ?? "", sessionId === otherwise.sessionId);
  return {
    sessionId,
    query,
    ...(projectRoot !== undefined && { projectRoot }),
    ...(options.agentId !== undefined && { agentId: options.agentId }),
    ...(options.recentTools !== undefined && { recentTools: options.recentTools }),
    ...(options.excludeLayouts !== undefined && { excludeLayouts: options.excludeLayouts }),
    ...(options.maxPromptChars !== undefined && { maxPromptChars: options.maxPromptChars }),
    ...(lastDelivery !== undefined && { lastDelivery }),
  };
}
