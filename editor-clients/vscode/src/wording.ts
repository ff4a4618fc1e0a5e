/** How notes and turns are put into words. */
import type { Match, NoteSummary, ObservedNote } from "../api";
import type { ObservedTurn } from "./recalledMemory";

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
