"""The messages of the wire, as typed Structs: camelCase names, times in milliseconds.

``METHODS`` is the whole vocabulary. The LSP's own messages come from ``lsprotocol``, except where the daemon
needs a few of their fields only.
"""

from __future__ import annotations

from types import NoneType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memrecalld.ranking.scorer import Match
from memrecalld.recall.delivery import DeliveredDocument, DocumentSummary
from memrecalld.recall.exchange import FastResult, ToolResult
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.verdict import Verdict
from memrecalld.telemetry import Latency

PROTOCOL_VERSION: Final = 1
"""Raised when an older client would misread an answer; new optional fields do not raise it."""

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
MAX_PASSED_OVER_BYTES: Final = 64 * 1024 * 1024
"""A message that is too large is refused and passed over; one beyond this is no message of any client."""
MAX_HEADER_BYTES: Final = 4 * 1024
MAX_ID_CHARS: Final = 16 * 1024
MAX_FOLDERS: Final = 64
"""Workspace folders of one connection; each is read when it is named."""
MAX_SEARCH_LIMIT: Final = 100

MessageId = int | str
SentId = int | Annotated[str, Meta(max_length=MAX_ID_CHARS)]
"""An id that a client may choose."""

SessionId = Annotated[str, Meta(min_length=1, max_length=1024)]
AgentId = Annotated[str, Meta(max_length=1024)]
ToolName = Annotated[str, Meta(max_length=256)]
PromptChars = Annotated[int, Meta(gt=0)]
"""As ``prompt.prompt_length`` counts."""


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of what is sent and received. Unknown fields are passed over: newer clients can be served."""


class Envelope(msgspec.Struct, frozen=True):
    """A JSON-RPC 2.0 message before anybody looked at its parameters."""

    jsonrpc: Literal["2.0"]
    id: SentId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: msgspec.Raw | UnsetType = UNSET
    result: msgspec.Raw | UnsetType = UNSET
    error: msgspec.Raw | UnsetType = UNSET


# Requests and notifications of the client ---------------------------------------------------------


class StartParams(Message, frozen=True, kw_only=True):
    """``recall/start``"""

    session_id: SessionId
    query: str
    project_root: str | None = None
    """Absolute path or ``file:`` URI; the first workspace folder when absent."""
    agent_id: AgentId = ""
    recent_tools: Annotated[list[ToolName], Meta(max_length=256)] = []
    exclude_layouts: Annotated[list[str], Meta(max_length=16)] = []
    """Layouts whose notes the client's agent recalls by itself."""
    detached: bool = False
    max_prompt_chars: PromptChars | None = None


class ToolResultParams(Message, frozen=True, kw_only=True):
    """``recall/toolResult``"""

    session_id: SessionId
    agent_id: AgentId = ""
    turn_id: str | None = None
    tool_name: ToolName | None = None
    max_prompt_chars: PromptChars | None = None


class EndParams(Message, frozen=True, kw_only=True):
    """``recall/end``"""

    session_id: SessionId
    agent_id: AgentId = ""
    turn_id: str | None = None


class ResetParams(Message, frozen=True, kw_only=True):
    """``recall/reset``"""

    session_id: SessionId
    agent_id: AgentId = ""


class WorkspaceFolder(Message, frozen=True, kw_only=True):
    """A folder of the workspace, as in LSP."""

    uri: str


class ClientOptions(Message, frozen=True, kw_only=True):
    """``initializationOptions.memrecall``"""

    selector: bool = False
    """The client answers ``recall/select``."""
    observe: bool = False
    """The client wants ``recall/observed`` for every turn of this user."""


class InitializationOptions(Message, frozen=True, kw_only=True):
    """``initializationOptions``: ours among those of others."""

    memrecall: ClientOptions | None = None


class InitializeParams(Message, frozen=True, kw_only=True):
    """``initialize``, the fields that matter here. The rest of LSP's is neither needed nor checked."""

    workspace_folders: list[WorkspaceFolder] | None = None
    root_uri: str | None = None
    root_path: str | None = None
    initialization_options: InitializationOptions | None = None


class FoldersEvent(Message, frozen=True, kw_only=True):
    """What changed in the workspace."""

    added: list[WorkspaceFolder] = []
    removed: list[WorkspaceFolder] = []


class DidChangeFoldersParams(Message, frozen=True, kw_only=True):
    """``workspace/didChangeWorkspaceFolders``"""

    event: FoldersEvent


class CancelParams(Message, frozen=True, kw_only=True):
    """``$/cancelRequest``"""

    id: MessageId


class SearchParams(Message, frozen=True, kw_only=True):
    """``memory/search``"""

    query: str
    project_root: str | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_SEARCH_LIMIT)] = 5


class ExplainParams(Message, frozen=True, kw_only=True):
    """``memory/explain``"""

    query: str
    path: str
    """As in the ``path`` of a note found, listed or delivered, or of any other file."""
    project_root: str | None = None
    session_id: SessionId | None = None
    """Judge for a turn of this session."""
    agent_id: AgentId = ""


class ListParams(Message, frozen=True, kw_only=True):
    """``memory/list``"""

    project_root: str | None = None


class ReadParams(Message, frozen=True, kw_only=True):
    """``memory/read``"""

    path: str
    """As in the ``path`` of a note found, listed or delivered."""
    project_root: str | None = None


class StatusParams(Message, frozen=True, kw_only=True):
    """``daemon/status``"""

    project_root: str | None = None


# Answers and notifications of the daemon ----------------------------------------------------------


class StartResult(Message, frozen=True, kw_only=True):
    """Response of ``recall/start``. ``outcome`` is null only for a detached turn that goes on."""

    turn_id: str
    outcome: Outcome | None


class FastParams(FastResult, frozen=True, kw_only=True, rename="camel"):
    """``recall/fast``: the result, and which request and session it answers."""

    request_id: MessageId
    session_id: str


class ObservedDocument(DocumentSummary, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A note that a turn handed over, as an onlooker sees it."""

    matched: tuple[Match, ...]


class ObservedParams(Message, frozen=True, kw_only=True):
    """``recall/observed``: what happened in a turn, of whatever client.

    ``fast`` is the end of the initial wait without the settled result (``documents`` may be empty),
    ``refined`` the delivery of that result wherever it went, ``ended`` the end of the turn with its outcome.
    """

    session_id: str
    agent_id: str = ""
    turn_id: str
    project_root: str | None = None
    """As the turn's client named it."""
    event: Literal["fast", "refined", "ended"]
    documents: list[ObservedDocument]
    outcome: Outcome | None = None


class ListResult(Message, frozen=True, kw_only=True):
    """Newest first, at most 200 of each scope."""

    documents: list[DocumentSummary]


class SearchResult(Message, frozen=True, kw_only=True):
    """Best first."""

    documents: list[DeliveredDocument]


class ReadResult(Message, frozen=True, kw_only=True):
    """One note as it is now."""

    document: DeliveredDocument


class RootStatus(Message, frozen=True, kw_only=True):
    """One memory folder."""

    scope: Literal["project", "user"]
    layout: str
    path: str
    topics: int
    exists: bool


class SkippedFile(Message, frozen=True, kw_only=True):
    """A file that is no topic, and why."""

    path: str
    reason: str


class ProjectStatus(Message, frozen=True, kw_only=True):
    """The memory of one project, with the user's."""

    root: str | None
    """The folder that stands for the project; null when the path given is none (``reason`` says why)."""
    reason: str | None = None
    roots: list[RootStatus]
    skipped: list[SkippedFile]


class SelectorStatus(Message, frozen=True, kw_only=True):
    """The model selector in use."""

    kind: Literal["none", "openai", "client"]


class Limits(Message, frozen=True, kw_only=True):
    """Numbers that are no setting, for clients that show or observe them."""

    initial_wait_ms: int
    fast_documents: int
    refined_documents: int
    body_characters: int
    message_bytes: int


class Capabilities(Message, frozen=True, kw_only=True):
    """What this daemon can do; ``capabilities.experimental.memrecall`` of ``initialize``, too."""

    protocol_version: int
    selector: Literal["none", "openai", "client"]
    layouts: list[str]
    limits: Limits


class Health(Message, frozen=True, kw_only=True):
    """Whether anything is less good than it should be; recall goes on either way."""

    state: Literal["ok", "degraded"]
    reasons: list[str]


class StatusResult(Message, frozen=True, kw_only=True):
    """``daemon/status``"""

    version: str
    protocol_version: int
    pid: int
    uptime_s: float
    connections: int
    sessions: int
    open_turns: int
    topics: int
    """Notes held in memory."""
    skipped: dict[str, int]
    """Files passed over in the folders held, by reason."""
    health: Health
    capabilities: Capabilities
    selector: SelectorStatus
    config_error: str | None = None
    """Why the configuration file as it was read last is not in effect, and the one before is."""
    counters: dict[str, int]
    latency: Latency
    project: ProjectStatus | None = None


class SelectParams(Message, frozen=True, kw_only=True):
    """``recall/select``, a request of the daemon: choose among the lines of the manifest."""

    query: str
    manifest: str
    """One line a note; each begins with its id and a blank."""
    max_selected: int


class SelectResult(Message, frozen=True, kw_only=True):
    """The client's answer: ids of lines; an empty list where none would help."""

    selected: list[str]


class Empty(Message, frozen=True, kw_only=True):
    """An answer that only says: done."""


class Requested(msgspec.Struct, frozen=True):
    """A method of the vocabulary: the type of its parameters, and of its result for a request.

    The type of a result that is always null is ``NoneType``; ``None`` stands for a notification.
    """

    params: Any
    result: Any | None = None


METHODS: Final[dict[str, Requested]] = {
    "initialize": Requested(InitializeParams, Any),
    "initialized": Requested(Empty),
    "shutdown": Requested(Empty, NoneType),
    "exit": Requested(Empty),
    "workspace/didChangeWorkspaceFolders": Requested(DidChangeFoldersParams),
    "$/cancelRequest": Requested(CancelParams),
    "recall/start": Requested(StartParams, StartResult),
    "recall/fast": Requested(FastParams),
    "recall/observed": Requested(ObservedParams),
    "recall/toolResult": Requested(ToolResultParams, ToolResult),
    "recall/end": Requested(EndParams),
    "recall/reset": Requested(ResetParams, Empty),
    "recall/select": Requested(SelectParams, SelectResult),
    "memory/search": Requested(SearchParams, SearchResult),
    "memory/explain": Requested(ExplainParams, Verdict),
    "memory/list": Requested(ListParams, ListResult),
    "memory/read": Requested(ReadParams, ReadResult),
    "daemon/status": Requested(StatusParams, StatusResult),
}
