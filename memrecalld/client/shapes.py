"""The shapes of the daemon's answers, for type checkers: nothing imports this at run time.

Times are in milliseconds unless a name says otherwise. A key that is ``NotRequired`` is absent, never null.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Scope = Literal["project", "user"]
NoteType = Literal["user", "feedback", "project", "reference", "note"]


class Match(TypedDict):
    """One reason why a note was found."""

    term: str
    field: Literal["title", "description", "body"]
    weight: float


class ListedDocument(TypedDict):
    """A note without its body."""

    scope: Scope
    type: NoteType
    title: str
    description: str
    path: str
    relativePath: str
    savedAt: str
    age: str


class FoundDocument(ListedDocument):
    """A note as it is delivered or found."""

    body: str
    truncated: bool
    matched: NotRequired[list[Match]]
    score: NotRequired[float]


class Missed(TypedDict):
    """What a query asks for and a note lacks."""

    term: str
    weight: int


class Verdict(TypedDict):
    """Why a note is recalled for a query, or why it is not; numbers are the ranker's."""

    reason: Literal[
        "recalled",
        "same_text",
        "already_delivered",
        "tool_in_use",
        "beyond_window",
        "too_little",
        "no_match",
        "nothing_asked",
        "unfilled",
        "skipped",
        "untrusted",
        "no_note",
    ]
    document: NotRequired[ListedDocument]
    truncated: NotRequired[bool]
    place: NotRequired[int]
    score: NotRequired[int]
    evidence: NotRequired[int]
    needed: NotRequired[int]
    matched: NotRequired[list[Match]]
    missed: NotRequired[list[Missed]]
    skipReason: NotRequired[str]


class Delivery(TypedDict):
    """Notes, and the prompt that presents them to the model."""

    id: str
    phase: Literal["fast", "refined"]
    strategy: Literal["heuristic", "model"]
    prompt: str
    documents: list[FoundDocument]


class Fast(TypedDict):
    """``recall/fast``: the end of the initial wait."""

    requestId: int | str
    sessionId: str
    turnId: str
    endedBy: Literal["published", "settled", "ceiling"]
    delivery: Delivery | None
    pending: bool
    partial: bool
    waitMs: float


class ToolResult(TypedDict):
    """What there was to deliver at a tool result."""

    turnId: str | None
    state: Literal["pending", "delivered", "already_delivered", "no_relevant_results", "none"]
    delivery: Delivery | None


class Outcome(TypedDict):
    """The one record in which every turn ends."""

    turnId: str
    deliveryPoint: Literal["initial", "tool_result", "discarded"]
    discardReason: NotRequired[
        Literal[
            "no_relevant_results",
            "already_delivered",
            "no_safe_delivery_point",
            "new_query",
            "reset",
            "abort",
            "shutdown",
            "expired",
            "failed",
        ]
    ]
    strategy: Literal["none", "heuristic", "model"]
    phase: Literal["refined"]
    documents: int
    fastDocuments: int
    scanned: int
    candidates: int
    queryLength: int
    scanMs: float
    rankMs: float
    selectMs: float
    waitMs: float


class Latency(TypedDict):
    """Percentiles of the initial wait."""

    samples: int
    p50: float
    p90: float
    p99: float
    max: float


class RootStatus(TypedDict):
    """One folder of notes."""

    scope: Scope
    layout: str
    path: str
    topics: int
    exists: bool


class SkippedFile(TypedDict):
    """A file that is no note, and why."""

    path: str
    reason: str


class ProjectStatus(TypedDict):
    """The folders of one project, with the user's."""

    root: str | None
    reason: NotRequired[str]
    roots: list[RootStatus]
    skipped: list[SkippedFile]


class SelectorStatus(TypedDict):
    """The model selector in use."""

    kind: Literal["none", "openai", "client"]


class Limits(TypedDict):
    """Numbers that are no setting."""

    initialWaitMs: int
    fastDocuments: int
    refinedDocuments: int
    bodyCharacters: int
    messageBytes: int


class Capabilities(TypedDict):
    """What the daemon can do."""

    protocolVersion: int
    selector: Literal["none", "openai", "client"]
    layouts: list[str]
    limits: Limits


class Health(TypedDict):
    """Whether anything is less good than it should be, and what."""

    state: Literal["ok", "degraded"]
    reasons: list[str]


class Status(TypedDict):
    """``daemon/status``; ``uptimeS`` is in seconds."""

    version: str
    protocolVersion: int
    pid: int
    uptimeS: float
    connections: int
    sessions: int
    openTurns: int
    topics: int
    skipped: dict[str, int]
    health: Health
    capabilities: Capabilities
    selector: SelectorStatus
    configError: NotRequired[str]
    counters: dict[str, int]
    latency: Latency
    project: NotRequired[ProjectStatus]
