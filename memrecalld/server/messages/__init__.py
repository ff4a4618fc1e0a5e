"""The messages of the wire, as typed Structs: camelCase names, times in milliseconds.

``METHODS`` is the whole vocabulary. The LSP's own messages come from ``lsprotocol``, except where the daemon
needs a few of their fields only.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, Final

import msgspec

from memrecalld.recall.exchange import ToolResult
from memrecalld.recall.verdict import Verdict
from memrecalld.server.messages.base import Empty
from memrecalld.server.messages.lsp import CancelParams, DidChangeFoldersParams, InitializeParams
from memrecalld.server.messages.memory import (
    ExplainParams,
    ListParams,
    ListResult,
    ReadParams,
    ReadResult,
    SearchParams,
    SearchResult,
)
from memrecalld.server.messages.recall import (
    EndParams,
    FastParams,
    ObservedParams,
    ResetParams,
    SelectParams,
    SelectResult,
    StartParams,
    StartResult,
    ToolResultParams,
)
from memrecalld.server.messages.status import StatusParams, StatusResult

PROTOCOL_VERSION: Final = 1
"""Raised when an older client would misread an answer; new optional fields do not raise it."""


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
