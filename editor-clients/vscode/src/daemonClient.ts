/** The language client on one connection, kept from showing what is no news and from logging what is private. */
import * as vscode from "vscode";
import type * as net from "node:net";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type Message,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageclient/node";

import type { FastResult } from "../api";
import { DaemonUnavailable } from "./socket";
import type { FastParams, StartParams, StartResult } from "./wire";

const LOST = "the connection to the daemon was lost";

interface OpenTurn {
  readonly fast: (result: FastResult) => void;
  requestId: number | string | null;
}

/**
 * A client on a socket that is connected. It never connects again by itself: the language client's own restart is lost
 * for good when the daemon dies between the connect and its first answer, so each connection gets a client of its own.
 */
export class DaemonClient extends LanguageClient {
  private readonly turns: Map<unknown, OpenTurn>;
  private readonly unanswered = new Set<(error: Error) => void>();

  /** `closed` is called when the connection ends without `stop`. */
  constructor(
    private readonly socket: net.Socket,
    log: vscode.LogOutputChannel,
    initializationOptions: object,
    closed: () => void,
  ) {
    const turns = new Map<unknown, OpenTurn>();
    const transports = {
      reader: new StreamMessageReader(socket),
      writer: new RequestIdReader(socket, (params, id) => {
        const turn = turns.get(params);
        if (turn !== undefined) {
          turn.requestId = id;
        }
      }),
    };
    super("memrecall", "memrecalld", () => Promise.resolve(transports), {
      outputChannel: log,
      traceOutputChannel: withoutTraces(log),
      initializationOptions,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          closed();
          return { action: CloseAction.DoNotRestart, handled: true, message: "The connection is closed." };
        },
      },
    });
    this.turns = turns;
    socket.once("close", () => {
      for (const reject of this.unanswered) {
        reject(new DaemonUnavailable(LOST));
      }
    });
    this.onNotification("recall/fast", (result: FastParams) => {
      for (const turn of turns.values()) {
        if (turn.requestId === result.requestId) {
          turn.fast(result);
        }
      }
    });
  }

  /**
   * Send a request. Rejected with `DaemonUnavailable` when the connection ends first; the language client would let a
   * request wait for ever whose connection ends while it stops.
   */
  ask<Result>(method: string, params: object, token?: vscode.CancellationToken): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.unanswered.add(reject);
      // An absent token must not be passed on: the two arguments would be sent as a list.
      const answer =
        token === undefined
          ? this.sendRequest<Result>(method, params)
          : this.sendRequest<Result>(method, params, token);
      void answer
        .then(resolve, (error) => reject(this.socket.destroyed ? new DaemonUnavailable(LOST) : error))
        .finally(() => this.unanswered.delete(reject));
    });
  }

  /** Open a turn; `fast` is called at the end of its initial wait, which is before the answer. */
  async startTurn(
    params: StartParams,
    token: vscode.CancellationToken,
    fast: (result: FastResult) => void,
  ): Promise<StartResult> {
    this.turns.set(params, { fast, requestId: null });
    try {
      return await this.ask<StartResult>("recall/start", params, token);
    } finally {
      this.turns.delete(params);
    }
  }

  /** Without a notification: the status bar shows the state, and nothing here needs a decision of the user. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Learns the ids of requests on their way out; the language client tells them nobody. */
class RequestIdReader extends StreamMessageWriter {
  constructor(
    socket: net.Socket,
    private readonly learned: (params: unknown, id: number | string | null) => void,
  ) {
    super(socket);
  }

  override write(message: Message): Promise<void> {
    if ("id" in message && "params" in message) {
      this.learned(message.params, message.id as number | string | null);
    }
    return super.write(message);
  }
}

/** Traces would hold queries and notes; they are written down at no log level. */
function withoutTraces(log: vscode.LogOutputChannel): vscode.LogOutputChannel {
  return new Proxy(log, {
    get(target, name) {
      switch (name) {
        case "logLevel":
          return vscode.LogLevel.Off;
        case "onDidChangeLogLevel":
          return () => new vscode.Disposable(() => undefined);
        case "trace":
          return () => undefined;
        default: {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        }
      }
    },
  });
}
