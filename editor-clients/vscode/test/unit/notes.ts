/** Notes and events as the daemon sends them. */
import type { ObservedNote, Outcome, RecallEvent } from "../../api";

export function observedNote(title: string, matched: ObservedNote["matched"] = []): ObservedNote {
  return {
    scope: "project",
    type: "project",
    title,
    description: "",
    path: `/notes/${title}.md`,
    relativePath: `${title}.md`,
    savedAt: "2026-01-02T03:04:05Z",
    age: "saved today",
    matched,
  };
}

export function outcome(fields: Partial<Outcome> = {}): Outcome {
  return {
    turnId: "t",
    deliveryPoint: "discarded",
    strategy: "none",
    phase: "refined",
    documents: 0,
    fastDocuments: 0,
    scanned: 0,
    candidates: 0,
    queryLength: 0,
    scanMs: 0,
    rankMs: 0,
    selectMs: 0,
    waitMs: 0,
    ...fields,
  };
}

export function event(turnId: string, fields: Partial<RecallEvent> = {}): RecallEvent {
  return { sessionId: "s", turnId, event: "fast", documents: [], ...fields };
}
