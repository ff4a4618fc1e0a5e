/** Recall for this window: turns for other extensions, and whole recalls for its own commands and tools. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import type { Delivery, FastResult, RecallOptions, RecallTurn } from "../api";
import type { Connection } from "./connection";
import { Received } from "./received";
import * as settings from "./settings";
import { startParams, Turn } from "./turn";

/** Pause before asking again for the model's choice. */
const ASK_AGAIN_MS = 250;

export class Recaller {
  /** Of all turns of this window that name no session. */
  readonly sessionId = `vscode-${randomBytes(4).toString("hex")}`;
  private readonly received = new Received();
  private recalls = 0;

  /** `asked` learns the query of each turn as soon as the turn's id is known. */
  constructor(
    private readonly connection: Connection,
    private readonly asked: (turnId: string, query: string) => void,
  ) {}

  /** Open a turn. */
  recall(query: string, options: RecallOptions = {}): RecallTurn {
    const otherwise = { sessionId: this.sessionId, projectRoot: settings.projectRoot() };
    const turn = new Turn(this.connection, this.received, startParams(query, options, otherwise, this.received));
    turn.onFast(({ turnId }) => this.asked(turnId, query));
    return turn;
  }

  /**
   * Everything a query recalls, whatever was delivered before: `delivered` is called for the fast notes and for what
   * the model chose. Returns when nothing more can come. Rejected as a turn's outcome is.
   */
  async recallAll(
    query: string,
    delivered: (delivery: Delivery) => void,
    token: vscode.CancellationToken,
  ): Promise<void> {
    this.recalls += 1;
    // An agent of its own for each recall, so that none is kept from notes that another was given.
    const turn = this.recall(query, { sessionId: this.sessionId, agentId: `recall ${this.recalls}` });
    const cancelled = token.onCancellationRequested(() => turn.cancel());
    try {
      const fast = await first(turn);
      if (fast?.delivery) {
        delivered(fast.delivery);
      }
      if (fast?.pending) {
        await this.waitForChoice(turn, delivered, token);
      }
      turn.end();
      await turn.outcome;
    } finally {
      cancelled.dispose();
      await this.forget(turn);
    }
  }

  private async waitForChoice(
    turn: RecallTurn,
    delivered: (delivery: Delivery) => void,
    token: vscode.CancellationToken,
  ): Promise<void> {
    // The daemon gives a selector 30 s and settles then, so this comes to an end.
    while (!token.isCancellationRequested) {
      const result = await turn.toolResult();
      if (result.delivery) {
        delivered(result.delivery);
      }
      if (result.state !== "pending") {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }

  /** A recall of its own leaves no record of what it was given. */
  private async forget({ sessionId, agentId }: RecallTurn): Promise<void> {
    await this.connection.request("recall/reset", { sessionId, agentId }).catch(() => undefined);
  }
}

/** The end of the initial wait, or undefined for a turn that ended before. */
function first(turn: RecallTurn): Promise<FastResult | undefined> {
  return new Promise((resolve, reject) => {
    turn.onFast(resolve);
    turn.outcome.then(() => resolve(undefined), reject);
  });
}
