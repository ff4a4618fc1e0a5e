/** How notes and turns are put into words. */
import type { ConnectionState, Match, NoteSummary, ObservedNote } from "../api";
import type { ObservedTurn } from "./recalledMemory";
import type { StatusResult } from "./wire";

/** What a daemon tells of how it is. */
export type Condition = Pick<StatusResult, "health" | "configError">;

const LABEL_LENGTH = 60;

const DISCARDED: Record<string, string> = {
  no_relevant_results: "nothing relevant",
  already_delivered: "nothing new",
  no_safe_delivery_point: "ended before the rest could be delivered",
  new_query: "superseded by the next query",
  reset: "session reset",
  abort: "cancelled",
  shutdown: "the daemon stopped",
  expired: "expired",
  failed: "failed",
};

const STANDING: Record<ConnectionState, { icon: string; alarm: boolean; text: string }> = {
  connecting: { icon: "sync~spin", alarm: false, text: "connecting" },
  connected: { icon: "notebook", alarm: false, text: "connected" },
  reconnecting: { icon: "sync~spin", alarm: false, text: "reconnecting" },
  absent: { icon: "debug-disconnect", alarm: true, text: "daemon absent" },
};

const LESS_GOOD: Record<string, string> = {
  "state-in-memory": "what was delivered cannot be written down; a restart forgets it",
  "cache-off": "parsed notes are not kept on disk; each start reads them all",
  "notes-set-aside": "the database of parsed notes was damaged, and begun afresh",
  "sessions-set-aside": "the record of deliveries was damaged, and begun afresh",
  "events-off": "the system has no file events left; files are compared at each recall",
  "selector-failing": "the model does not choose; the best matches by words come instead",
  "configuration-not-in-effect": "the configuration file cannot be used; the one before is in effect",
};

const ICONS: Record<NoteSummary["type"], string> = {
  user: "person",
  feedback: "feedback",
  project: "project",
  reference: "link-external",
  note: "note",
};

/** Id of the icon of a note's type. */
export function noteIcon(note: NoteSummary): string {
  return ICONS[note.type] ?? ICONS.note;
}

/** Why a note was found: the words of the query by the field that holds them, the strongest field first. */
export function why(note: ObservedNote): string {
  const fields = new Map<string, Match[]>();
  const strongest = [...(note.matched ?? [])].sort((one, other) => other.weight - one.weight);
  for (const match of strongest) {
    fields.set(match.field, [...(fields.get(match.field) ?? []), match]);
  }
  if (fields.size === 0) {
    return "chosen by the model";
  }
  return [...fields].map(([field, found]) => `${field}: ${terms(found)}`).join(" · ");
}

/**
 * What is less good with the daemon than it should be; nothing for one that is well, or too old to tell. A reason that a
 * newer one added is its own explanation.
 */
export function lessGood(status: Condition): { text: string; detail?: string }[] {
  return (status.health?.reasons ?? []).map((reason) => ({
    text: LESS_GOOD[reason] ?? reason,
    ...(reason === "configuration-not-in-effect" && status.configError !== undefined && { detail: status.configError }),
  }));
}

/** The daemon in the status bar: an icon, whether it calls for attention, and all there is to say. */
export function standing(state: ConnectionState, status: Condition = {}): { icon: string; alarm: boolean; text: string } {
  const wrong = state === "connected" ? lessGood(status) : [];
  if (wrong.length === 0) {
    return STANDING[state];
  }
  const lines = wrong.map(({ text, detail }) => `\n• ${text}${detail === undefined ? "" : `: ${excerpt(detail)}`}`);
  return { icon: "warning", alarm: true, text: `connected, degraded${lines.join("")}` };
}

/** A text on one line, cut to fit a label. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  const characters = [...line];
  return characters.length <= LABEL_LENGTH ? line : `${characters.slice(0, LABEL_LENGTH - 1).join("")}…`;
}

/**
 * A text for Markdown that shows it as it is, on one line: every ASCII punctuation character may be escaped
 * (CommonMark 0.31, section 2.4), and escaping all of them leaves neither formatting nor a link, not even a bare one.
 */
export function literal(text: string): string {
  return text.replace(/\s+/gu, " ").replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/** What has become of a turn. */
export function fate(turn: ObservedTurn): string {
  const fast = turn.notes.filter((note) => note.phase === "fast").length;
  const refined = turn.notes.length - fast;
  const given = [fast > 0 && `${fast} fast`, refined > 0 && `${refined} refined`].filter(Boolean).join(", ");
  return [given, ending(turn)].filter(Boolean).join(" · ");
}

function ending(turn: ObservedTurn): string {
  if (turn.lost) {
    return "connection lost";
  }
  if (turn.outcome === undefined) {
    return "waiting for the model's choice";
  }
  const reason = turn.outcome.discardReason;
  // A turn that was given notes and has nothing more to be given ended well.
  if (reason === undefined || (reason === "already_delivered" && turn.notes.length > 0)) {
    return "";
  }
  return DISCARDED[reason] ?? reason;
}

function terms(matches: readonly Match[]): string {
  return [...new Set(matches.map((match) => match.term))].join(", ");
}
