/** Messages of the daemon's protocol as far as this client uses them; the types that other extensions see are `api`'s. */
import type { DeliveredNote, FastResult, NoteSummary, Outcome } from "../api";

export interface StartParams {
  sessionId: string;
  query: string;
  projectRoot?: string;
  agentId?: string;
  recentTools?: readonly string[];
  excludeLayouts?: readonly string[];
  maxPromptChars?: number;
  lastDelivery?: string;
}

export interface StartResult {
  turnId: string;
  outcome: Outcome | null;
}

export interface FastParams extends FastResult {
  requestId: number | string;
  sessionId: string;
}

export interface TurnParams {
  sessionId: string;
  agentId?: string;
  turnId?: string;
}

export interface FoundNote extends DeliveredNote {
  score?: number;
}

export interface SearchResult {
  documents: FoundNote[];
}

export interface ListResult {
  documents: NoteSummary[];
}

export interface SelectParams {
  query: string;
  /** One line a note; each begins with its id and a blank. */
  manifest: string;
  maxSelected: number;
}

export interface SelectResult {
  selected: string[];
}

export interface StatusResult {
  version: string;
  pid: number;
  uptimeS: number;
  connections: number;
  sessions: number;
  openTurns: number;
  topics: number;
  skipped: Record<string, number>;
  /** This and the next three are absent where the daemon is older than they are. */
  health?: Health;
  configError?: string;
  capabilities?: { layouts: string[] };
  latency?: { samples: number; p50: number; p90: number; p99: number; max: number };
  selector: { kind: "none" | "openai" | "client" };
  project?: ProjectStatus;
}

export interface Health {
  state: "ok" | "degraded";
  reasons: string[];
}

export interface ProjectStatus {
  root: string | null;
  reason?: string;
  roots: { scope: "project" | "user"; layout: string; path: string; topics: number; exists: boolean }[];
  skipped: { path: string; reason: string }[];
}
