/** An agent in another process, as the daemon sees it: a connection of its own that knows the wire and nothing else. */
import * as net from "node:net";
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageclient/node";

import type { ToolResult } from "../../api";
import { until } from "./until";

export class Agent {
  private constructor(
    private readonly socket: net.Socket,
    readonly connection: MessageConnection,
  ) {}

  static async connect(socketPath: string): Promise<Agent> {
    const socket = net.connect(socketPath);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const connection = createMessageConnection(new StreamMessageReader(socket), new StreamMessageWriter(socket));
    connection.listen();
    return new Agent(socket, connection);
  }

  /** Run a whole turn, with as many tool results as it takes. */
  async turn(params: { sessionId: string; query: string; projectRoot?: string }): Promise<void> {
    const outcome = this.connection.sendRequest("recall/start", params);
    const { sessionId } = params;
    await until("nothing is pending", async () => {
      const { state } = await this.connection.sendRequest<ToolResult>("recall/toolResult", { sessionId });
      return state !== "pending";
    });
    await this.connection.sendNotification("recall/end", { sessionId });
    await outcome;
  }

  close(): void {
    this.connection.dispose();
    this.socket.destroy();
  }
}
