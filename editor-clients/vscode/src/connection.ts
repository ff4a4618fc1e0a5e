/** The connection to the daemon: made again whenever it is lost, for as long as the window is open. */
import * as os from "node:os";
import * as vscode from "vscode";

import type { ConnectionState, FastResult, RecallEvent } from "../api";
import { Backoff } from "./backoff";
import { DaemonClient } from "./daemonClient";
import { connect, DaemonUnavailable, defaultSocketPath } from "./socket";
import * as settings from "./settings";
import type { SelectParams, SelectResult, StartParams, StartResult } from "./wire";

/** A daemon answers `initialize` in milliseconds; one that has not by then is stuck. */
const INITIALIZE_MS = 10_000;

/** How long a connection that is left waits for the daemon to take its leave. */
const STOP_MS = 1_000;

export type Select = (params: SelectParams, token: vscode.CancellationToken) => Promise<SelectResult>;

export class Connection implements vscode.Disposable {
  private readonly stateChanges = new vscode.EventEmitter<ConnectionState>();
  private readonly observations = new vscode.EventEmitter<RecallEvent>();
  private readonly backoff = new Backoff();
  private client: DaemonClient | undefined;
  private life = new AbortController();
  private current: ConnectionState = "connecting";
  private unavailable = "memrecall is still connecting to its daemon";

  readonly onDidChangeState = this.stateChanges.event;
  readonly onDidObserve = this.observations.event;

  /** `selector` answers `recall/select`; it gives undefined while this editor has no model to offer. */
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly selector: () => Select | undefined,
  ) {}

  get state(): ConnectionState {
    return this.current;
  }

  /** Why there is no connection, with the next step. */
  get reason(): string {
    return this.unavailable;
  }

  /** Begin to connect. Returns at once; the state says how it goes. */
  open(): void {
    void this.keepConnected(this.life.signal);
  }

  /** Leave the present connection, if any, and connect with the settings as they are now. */
  reconnect(): void {
    this.life.abort();
    this.life = new AbortController();
    this.backoff.reset();
    this.enter("connecting");
    this.open();
  }

  dispose(): void {
    this.life.abort();
    this.stateChanges.dispose();
    this.observations.dispose();
  }

  /** Rejected with `DaemonUnavailable` at once when there is no connection. */
  async request<Result>(method: string, params: object, token?: vscode.CancellationToken): Promise<Result> {
    return this.connected().ask<Result>(method, params, token);
  }

  /** Send, or do nothing when there is no connection. */
  notify(method: string, params: object): void {
    this.client?.sendNotification(method, params).catch(() => undefined);
  }

  /** Open a turn; `fast` is called at the end of its initial wait. Rejected as `request` is. */
  async startTurn(
    params: StartParams,
    token: vscode.CancellationToken,
    fast: (result: FastResult) => void,
  ): Promise<StartResult> {
    return this.connected().startTurn(params, token, fast);
  }

  private connected(): DaemonClient {
    if (this.client === undefined) {
      throw new DaemonUnavailable(this.unavailable);
    }
    return this.client;
  }

  private enter(state: ConnectionState): void {
    if (state !== this.current) {
      this.current = state;
      this.log.info(`state: ${state}`);
      this.stateChanges.fire(state);
    }
  }

  private async keepConnected(life: AbortSignal): Promise<void> {
    let wasConnected = false;
    while (!life.aborted) {
      try {
        await this.serve(life);
        wasConnected = true;
        this.unavailable = "the daemon closed the connection";
      } catch (error) {
        this.unavailable = error instanceof DaemonUnavailable ? error.message : "the daemon gave no usable answer";
      }
      if (life.aborted) {
        return;
      }
      this.enter(wasConnected && this.backoff.restarting ? "reconnecting" : "absent");
      await pause(this.backoff.failed(), life);
    }
  }

  /** One connection, from its beginning to its end. Rejected when it does not come about. */
  private async serve(life: AbortSignal): Promise<void> {
    const user = os.userInfo().uid;
    const socket = await connect(settings.socketPath() || defaultSocketPath(process.env, user), user, life);
    const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const leave = () => void this.leave(client, () => socket.destroy());
    const stuck = setTimeout(() => socket.destroy(), INITIALIZE_MS);
    const select = this.selector();
    const client = new DaemonClient(
      socket,
      this.log,
      { memrecall: { observe: true, selector: select !== undefined } },
      () => socket.destroy(),
    );
    client.onNotification("recall/observed", (event: RecallEvent) => this.observations.fire(event));
    if (select !== undefined) {
      client.onRequest("recall/select", select);
    }
    life.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([client.start(), ended.then(() => Promise.reject(new Error("closed")))]);
      clearTimeout(stuck);
      if (!life.aborted) {
        this.client = client;
        this.backoff.reset();
        this.enter("connected");
      }
      await ended;
    } finally {
      clearTimeout(stuck);
      life.removeEventListener("abort", leave);
      socket.destroy();
      if (this.client === client) {
        this.client = undefined;
      }
    }
  }

  private async leave(client: DaemonClient, destroy: () => void): Promise<void> {
    if (this.client === client) {
      this.client = undefined;
    }
    try {
      await client.stop(STOP_MS);
    } catch {
      // It was not running yet, or did not answer: either way the connection goes.
    }
    destroy();
  }
}

function pause(milliseconds: number, life: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      life.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    life.addEventListener("abort", end);
  });
}
