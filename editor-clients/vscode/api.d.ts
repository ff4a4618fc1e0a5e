/**
 * What the extension `memrecalld.memrecall` exports to other extensions:
 *
 *     const extension = vscode.extensions.getExtension<MemrecallApi>("memrecalld.memrecall");
 *     const memory = await extension?.activate();
 *     const turn = memory?.recall("how do we deploy?", { sessionId: "my-agent-1" });
 *     turn?.onFast(({ delivery }) => delivery && addToFirstPrompt(delivery.prompt));
 *
 * Times are in milliseconds. Fields may be added; none will change its meaning within one `apiVersion`.
 */
import type { Event } from "vscode";

export interface MemrecallApi {
  readonly apiVersion: 1;

  readonly state: ConnectionState;
  readonly onDidChangeState: Event<ConnectionState>;

  /**
   * Open a turn. It never waits for a daemon that is not there: the turn's `outcome` is then rejected at once.
   * A turn that is open in the same session and agent is superseded.
   */
  recall(query: string, options?: RecallOptions): RecallTurn;

  /**
   * Each step of every turn that the daemon serves for this user, this extension's own turns and those of agents
   * in other processes alike, whatever their project.
   */
  readonly onDidRecall: Event<RecallEvent>;
}

/**
 * - `connecting`: the first attempt is under way;
 * - `connected`;
 * - `reconnecting`: the connection was lost a moment ago;
 * - `absent`: nobody answers. Attempts go on in the background.
 */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "absent";

export interface RecallOptions {
  /** Nothing is delivered twice in one session. Default: one that is shared by all turns of this window. */
  readonly sessionId?: string;
  /** Keeps a sub-agent's deliveries apart from its parent's under one session id. */
  readonly agentId?: string;
  /** Absolute path or `file:` URI. Default: the setting `memrecall.projectRoot`, else the workspace folder. */
  readonly projectRoot?: string;
  /** Names of recently used tools: notes that merely describe their usage are left out. */
  readonly recentTools?: readonly string[];
  /** Layouts whose notes the agent recalls by itself, such as `qwen`. */
  readonly excludeLayouts?: readonly string[];
  /**
   * The longest prompt of the first result, in UTF-16 code units of a JSON string. Notes beyond it are not delivered,
   * and may come later.
   */
  readonly maxPromptChars?: number;
}

/** One recall, from the query to its one outcome. */
export interface RecallTurn {
  readonly sessionId: string;
  readonly agentId: string;

  /**
   * The end of the initial wait, within 100 ms: what goes into the first prompt. Fires once, also for a listener
   * that comes later, and never for a turn that was cancelled or failed before.
   */
  readonly onFast: Event<FastResult>;

  /**
   * Call it when a tool result goes to the model: a safe point to deliver what was chosen meanwhile. Answers at
   * once; on `pending` ask again at the next tool result. `maxPromptChars` is as in `RecallOptions`.
   */
  toolResult(toolName?: string, maxPromptChars?: number): Promise<ToolResult>;

  /** The turn has no further delivery point. */
  end(): void;

  /** Abort the turn; what it delivered counts as never delivered. */
  cancel(): void;

  /**
   * How the turn ended, a cancelled one too. Rejected with an `Error` when there is no daemon, when the connection
   * was lost, or when the project's notes cannot be read.
   */
  readonly outcome: Promise<Outcome>;
}

export interface FastResult {
  readonly turnId: string;
  readonly endedBy: "published" | "settled" | "ceiling";
  readonly delivery: Delivery | null;
  /** Something may still come at a tool result. */
  readonly pending: boolean;
  /** Some notes could not be read in time. */
  readonly partial: boolean;
  readonly waitMs: number;
}

export interface ToolResult {
  readonly turnId: string | null;
  readonly state: "pending" | "delivered" | "already_delivered" | "no_relevant_results" | "none";
  readonly delivery: Delivery | null;
}

export interface Delivery {
  readonly id: string;
  readonly phase: "fast" | "refined";
  readonly strategy: "heuristic" | "model";
  /** The notes as text for a model. */
  readonly prompt: string;
  readonly documents: readonly DeliveredNote[];
}

export interface NoteSummary {
  readonly scope: "project" | "user";
  readonly type: "user" | "feedback" | "project" | "reference" | "note";
  readonly title: string;
  readonly description: string;
  /** Absolute path of the file. */
  readonly path: string;
  readonly relativePath: string;
  /** ISO 8601, UTC. */
  readonly savedAt: string;
  /** Such as `saved 3 days ago`. */
  readonly age: string;
}

/** One reason why a note was found: a word of the query, and where it stands. */
export interface Match {
  readonly term: string;
  readonly field: string;
  readonly weight: number;
}

export interface ObservedNote extends NoteSummary {
  readonly matched?: readonly Match[];
}

export interface DeliveredNote extends ObservedNote {
  readonly body: string;
  /** The note goes on beyond `body`. */
  readonly truncated: boolean;
}

export interface Outcome {
  readonly turnId: string;
  readonly deliveryPoint: "initial" | "tool_result" | "discarded";
  readonly discardReason?:
    | "no_relevant_results"
    | "already_delivered"
    | "no_safe_delivery_point"
    | "new_query"
    | "reset"
    | "abort"
    | "shutdown"
    | "expired"
    | "failed";
  readonly strategy: "none" | "heuristic" | "model";
  readonly phase: "refined";
  readonly documents: number;
  readonly fastDocuments: number;
  readonly scanned: number;
  readonly candidates: number;
  readonly queryLength: number;
  readonly scanMs: number;
  readonly rankMs: number;
  readonly selectMs: number;
  readonly waitMs: number;
}

export interface RecallEvent {
  readonly sessionId: string;
  readonly agentId?: string;
  readonly turnId: string;
  /** As the turn's client named it: an absolute path or a `file:` URI. */
  readonly projectRoot?: string;
  /**
   * - `fast`: the end of the initial wait, with at most two notes that no model has judged, or none;
   * - `refined`: the notes of the settled result, wherever they were delivered;
   * - `ended`: the turn is over, and `outcome` says how.
   */
  readonly event: "fast" | "refined" | "ended";
  readonly documents: readonly ObservedNote[];
  readonly outcome?: Outcome;
}
