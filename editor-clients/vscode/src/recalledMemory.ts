/** What turns were given, as far as this window has seen it: sessions, their turns, and the notes of each. */
import type { ObservedNote, Outcome, RecallEvent } from "../api";

/** Turns kept; beyond, the oldest go. More than anybody scrolls through. */
const MAX_TURNS = 200;

export interface RecalledNote {
  readonly kind: "note";
  readonly note: ObservedNote;
  readonly phase: "fast" | "refined";
  readonly turn: ObservedTurn;
}

export interface ObservedTurn {
  readonly kind: "turn";
  readonly id: string;
  readonly session: ObservedSession;
  readonly agentId: string;
  readonly projectRoot: string | undefined;
  readonly seenAt: Date;
  readonly notes: RecalledNote[];
  /** What was asked; known of this window's own turns only. */
  query: string | undefined;
  outcome: Outcome | undefined;
  /** The connection ended before the turn did: how it went on was not seen. */
  lost: boolean;
}

export interface ObservedSession {
  readonly kind: "session";
  readonly id: string;
  /** Newest first. */
  readonly turns: ObservedTurn[];
}

export class RecalledMemory {
  private readonly turns = new Map<string, ObservedTurn>();
  private readonly queries = new Map<string, string>();
  private readonly bySession = new Map<string, ObservedSession>();

  /** Sessions, the one with the newest turn first. */
  get sessions(): ObservedSession[] {
    return [...this.bySession.values()].reverse();
  }

  /** Take in one step of a turn. */
  add(event: RecallEvent, now: Date): void {
    const turn = this.turns.get(event.turnId) ?? this.open(event, now);
    if (event.event === "ended") {
      turn.outcome = event.outcome;
      this.queries.delete(event.turnId);
      return;
    }
    for (const note of event.documents) {
      turn.notes.push({ kind: "note", note, phase: event.event, turn });
    }
  }

  /** Say what a turn asked, whether it has been seen yet or not. */
  annotate(turnId: string, query: string): void {
    const turn = this.turns.get(turnId);
    if (turn === undefined) {
      this.queries.set(turnId, query);
    } else {
      turn.query = query;
    }
  }

  /** The connection is gone: nothing more will be heard of the turns that are open. */
  loseOpenTurns(): void {
    for (const turn of this.turns.values()) {
      turn.lost ||= turn.outcome === undefined;
    }
    this.queries.clear();
  }

  clear(): void {
    this.turns.clear();
    this.bySession.clear();
  }

  private open(event: RecallEvent, now: Date): ObservedTurn {
    const session = this.bySession.get(event.sessionId) ?? {
      kind: "session",
      id: event.sessionId,
      turns: [],
    };
    // Taken out and put in again, so that the map's order is that of the newest turns.
    this.bySession.delete(session.id);
    this.bySession.set(session.id, session);
    const turn: ObservedTurn = {
      kind: "turn",
      id: event.turnId,
      session,
      agentId: event.agentId ?? "",
      projectRoot: event.projectRoot,
      seenAt: now,
      notes: [],
      query: this.queries.get(event.turnId),
      outcome: undefined,
      lost: false,
    };
    session.turns.unshift(turn);
    this.turns.set(turn.id, turn);
    this.dropOldest();
    return turn;
  }

  private dropOldest(): void {
    const oldest = this.turns.values().next().value;
    if (this.turns.size <= MAX_TURNS || oldest === undefined) {
      return;
    }
    this.turns.delete(oldest.id);
    oldest.session.turns.pop();
    if (oldest.session.turns.length === 0) {
      this.bySession.delete(oldest.session.id);
    }
  }
}
