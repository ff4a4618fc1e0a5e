"""Messages of a turn: ``recall/…``, of the client and of the daemon."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from memrecalld.ranking.scorer import Match
from memrecalld.recall.delivery import DocumentSummary
from memrecalld.recall.exchange import FastResult
from memrecalld.recall.outcome import Outcome
from memrecalld.server.messages.base import AgentId, Message, MessageId, SessionId

ToolName = Annotated[str, Meta(max_length=256)]
PromptChars = Annotated[int, Meta(gt=0)]
"""As ``prompt.prompt_length`` counts."""


class StartParams(Message, frozen=True, kw_only=True):
    """``recall/start``"""

    session_id: SessionId
    query: str
    project_root: str | None = None
    """Absolute path or ``file:`` URI; the first workspace folder when absent."""
    agent_id: AgentId = ""
    recent_tools: Annotated[tuple[ToolName, ...], Meta(max_length=256)] = ()
    exclude_layouts: Annotated[tuple[str, ...], Meta(max_length=16)] = ()
    """Layouts whose notes the client's agent recalls by itself."""
    detached: bool = False
    max_prompt_chars: PromptChars | None = None
    last_delivery: str | None = None
    """Id of the last delivery to this session that the client received; empty for none so far."""


class FastParams(FastResult, frozen=True, kw_only=True, rename="camel"):
    """``recall/fast``: the result, and which request and session it answers."""

    request_id: MessageId
    session_id: str


class StartResult(Message, frozen=True, kw_only=True):
    """Response of ``recall/start``. ``outcome`` is null only for a detached turn that goes on."""

    turn_id: str
    outcome: Outcome | None


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


class SelectParams(Message, frozen=True, kw_only=True):
    """``recall/select``, a request of the daemon: choose among the lines of the manifest."""

    query: str
    manifest: str
    """One line a note; each begins with its id and a blank."""
    max_selected: int


class SelectResult(Message, frozen=True, kw_only=True):
    """Response of ``recall/select``: ids of lines; an empty list where none would help."""

    selected: list[str]


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
