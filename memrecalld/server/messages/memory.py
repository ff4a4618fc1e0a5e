"""Messages about notes outside any turn: ``memory/…``."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from memrecalld.recall.delivery import DeliveredDocument, DocumentSummary
from memrecalld.server.messages.base import AgentId, Message, SessionId

MAX_SEARCH_LIMIT: Final = 100


class SearchParams(Message, frozen=True, kw_only=True):
    """``memory/search``"""

    query: str
    project_root: str | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_SEARCH_LIMIT)] = 5


class SearchResult(Message, frozen=True, kw_only=True):
    """Best first."""

    documents: list[DeliveredDocument]


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


class ListResult(Message, frozen=True, kw_only=True):
    """Newest first, at most 200 of each scope."""

    documents: list[DocumentSummary]


class ReadParams(Message, frozen=True, kw_only=True):
    """``memory/read``"""

    path: str
    """As in the ``path`` of a note found, listed or delivered."""
    project_root: str | None = None


class ReadResult(Message, frozen=True, kw_only=True):
    """One note as it is now."""

    document: DeliveredDocument
