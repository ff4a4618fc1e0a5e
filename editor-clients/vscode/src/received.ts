/**
 * The last delivery that came in each session. A daemon that comes after a killed one is told, and gives again what that
 * one had recorded and did not send.
 */
import type { Delivery } from "../api";

/** Beyond, the daemon is told nothing of the sessions that were given nothing for longest. */
const MAX_SESSIONS = 1000;

export class Received {
  private readonly ids = new Map<string, string>();
  private forgotten = false;

  /** The id of the last delivery; empty for none so far in a session that `begins`, undefined where that is unknown. */
  last(sessionId: string, agentId: string, begins: boolean): string | undefined {
    return this.ids.get(key(sessionId, agentId)) ?? (begins && !this.forgotten ? "" : undefined);
  }

  /** A message came, perhaps with a delivery. */
  add(sessionId: string, agentId: string, delivery: Delivery | null): void {
    if (delivery === null) {
      return;
    }
    const session = key(sessionId, agentId);
    this.ids.delete(session);
    this.ids.set(session, delivery.id);
    for (const oldest of this.ids.keys()) {
      if (this.ids.size <= MAX_SESSIONS) {
        break;
      }
      this.ids.delete(oldest);
      this.forgotten = true;
    }
  }
}

function key(sessionId: string, agentId: string): string {
  return JSON.stringify([sessionId, agentId]);
}
