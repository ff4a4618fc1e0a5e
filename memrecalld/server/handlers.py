"""What each method of the protocol does, for one connection."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

import memrecalld
from memrecalld.errors import InvalidProject
from memrecalld.memory.layouts import LAYOUTS
from memrecalld.memory.project import project_path
from memrecalld.recall.delivery import describe, summarize
from memrecalld.recall.exchange import RecallRequest, ToolResult
from memrecalld.recall.session import Handover, SessionKey
from memrecalld.recall.turn import Turn
from memrecalld.recall.verdict import Verdict, explain
from memrecalld.server.answers import StartAnswer, into
from memrecalld.server.codec import CONVERTER
from memrecalld.server.connection import Connection
from memrecalld.server.host import Host
from memrecalld.server.messages.base import Empty, MessageId
from memrecalld.server.messages.lsp import MAX_FOLDERS, CancelParams, DidChangeFoldersParams, InitializeParams
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
    ResetParams,
    StartParams,
    StartResult,
    ToolResultParams,
)
from memrecalld.server.messages.status import StatusParams, StatusResult
from memrecalld.server.protocol import RecallProtocol
from memrecalld.server.status import capabilities, status

_ANSWERED_TURNS: Final = 16
"""Turns of a connection that are remembered after their response."""


class Handlers:
    """The methods of one connection, on the engine that all share."""

    def __init__(self, host: Host, connection: Connection) -> None:
        self._host = host
        self._engine = host.engine
        self._connection = connection
        self._folders: list[str] = []
        self._turns: dict[MessageId, Turn] = {}
        self._answered: dict[MessageId, Turn] = {}

    def register(self, protocol: RecallProtocol) -> None:
        """Bind the methods."""
        handlers: dict[str, Callable[[Any], Any]] = {
            "initialize": self.initialize,
            "initialized": self.initialized,
            "shutdown": self.shutdown,
            "exit": self.exit,
            "workspace/didChangeWorkspaceFolders": self.change_folders,
            "$/cancelRequest": self.cancel,
            "recall/start": self.start,
            "recall/toolResult": self.tool_result,
            "recall/end": self.end,
            "recall/reset": self.reset,
            "memory/search": self.search,
            "memory/explain": self.explain,
            "memory/list": self.list_,
            "memory/read": self.read,
            "daemon/status": self.status,
        }
        for method, handler in handlers.items():
            protocol.register(method, handler)

    def closed(self) -> None:
        """Nothing more comes from the client: its attached turns end."""
        self._engine.disconnect(self._connection)
        self._host.observers.discard(self._connection)
        self._host.client_selection.discard(self._connection)

    def count(self, event: str) -> None:
        """Something happened to the connection that the daemon's status is to show."""
        self._engine.telemetry.count(event)

    # Life of the connection -----------------------------------------------------------------------

    def initialize(self, params: InitializeParams) -> Any:  # noqa: ANN401 - lsprotocol's own form
        roots = [folder.uri for folder in params.workspace_folders or ()]
        self._set_folders(roots or [root for root in (params.root_uri, params.root_path) if root][:1])
        options = params.initialization_options
        ours = options.memrecall if options is not None else None
        if ours is not None and ours.observe:
            self._host.observers.add(self._connection)
        if ours is not None and ours.selector:
            self._host.client_selection.add(self._connection)
        result = types.InitializeResult(
            server_info=types.ServerInfo(name="memrecalld", version=memrecalld.__version__),
            capabilities=types.ServerCapabilities(
                workspace=types.WorkspaceOptions(
                    workspace_folders=types.WorkspaceFoldersServerCapabilities(
                        supported=True, change_notifications=True
                    )
                ),
                experimental={"memrecall": msgspec.to_builtins(capabilities(self._host))},
            ),
        )
        return CONVERTER.unstructure(result)

    def initialized(self, _params: Empty) -> None:
        """Nothing waits for it."""

    def shutdown(self, _params: Empty) -> None:
        """End this connection's turns; pygls' flag then refuses everything but ``exit``."""
        self.closed()
        self._connection.protocol.shut_down()

    def exit(self, _params: Empty) -> None:
        """Close this connection; clients wait for that."""
        self._connection.close()

    def change_folders(self, params: DidChangeFoldersParams) -> None:
        removed = {folder.uri for folder in params.event.removed}
        kept = [root for root in self._folders if root not in removed]
        self._set_folders(kept + [folder.uri for folder in params.event.added if folder.uri not in kept])

    def _set_folders(self, roots: list[str]) -> None:
        usable = [root for root in roots if _is_path(root)][:MAX_FOLDERS]
        for root in usable:
            if root not in self._folders:
                self._host.library.warm(root)
        self._folders = usable

    # Recall ---------------------------------------------------------------------------------------

    def start(self, params: StartParams) -> Future[StartResult]:
        unknown = set(params.exclude_layouts).difference(LAYOUTS)
        if unknown:
            raise JsonRpcInvalidParams(
                f"Invalid Params: expected layouts among {', '.join(LAYOUTS)} - at `$.excludeLayouts`"
            )
        if params.project_root is not None:
            project_path(params.project_root)  # before there is a turn that would have to end
        request_id = self._connection.protocol.request_id
        listener = StartAnswer(self._connection, self._engine.telemetry, request_id, params)
        turn = self._engine.start(
            SessionKey(params.session_id, params.agent_id),
            RecallRequest(
                query=params.query,
                project_root=self._project(params.project_root),
                recent_tools=params.recent_tools,
                exclude_layouts=frozenset(params.exclude_layouts),
                detached=params.detached,
                max_prompt_chars=params.max_prompt_chars,
                last_delivery=params.last_delivery,
            ),
            listener,
            self._connection,
        )
        self._answered.pop(request_id, None)
        if listener.response.done():
            self._remember(request_id, turn)
        else:
            self._turns[request_id] = turn
            listener.response.add_done_callback(
                lambda _: self._remember(request_id, self._turns.pop(request_id))
            )
        return listener.response

    def _remember(self, request_id: MessageId, turn: Turn) -> None:
        """A cancellation may cross the response on its way."""
        if turn.handed_over:
            self._answered[request_id] = turn
            if len(self._answered) > _ANSWERED_TURNS:
                del self._answered[next(iter(self._answered))]

    def tool_result(self, params: ToolResultParams) -> Future[ToolResult]:
        response: Future[ToolResult] = Future()
        handed_over: Handover | None = None

        def answer(result: ToolResult, handover: Handover | None) -> bool:
            nonlocal handed_over
            if not self._connection.open:
                return False
            handed_over = handover
            if answers_later:
                self._connection.hand_over(handover)  # the response goes out with the next line
            response.set_result(result)
            return True

        answers_later = False
        key = SessionKey(params.session_id, params.agent_id)
        self._engine.tool_result(
            key,
            params.turn_id,
            params.tool_name,
            self._connection,
            answer,
            max_prompt_chars=params.max_prompt_chars,
        )
        answers_later = True
        if response.done():
            self._connection.hand_over(handed_over)  # the response goes out when it is returned
        return response

    def end(self, params: EndParams) -> None:
        self._engine.end(SessionKey(params.session_id, params.agent_id), params.turn_id, self._connection)

    def cancel(self, params: CancelParams) -> None:
        if (turn := self._turns.get(params.id)) is not None:
            turn.finish("abort", prompt_discarded=True)
        elif (turn := self._answered.pop(params.id, None)) is not None:
            self._engine.discard_prompt(turn)

    def reset(self, params: ResetParams) -> Empty:
        self._engine.reset(SessionKey(params.session_id, params.agent_id))
        return Empty()

    # Outside any turn -----------------------------------------------------------------------------

    def search(self, params: SearchParams) -> Future[SearchResult]:
        response: Future[SearchResult] = Future()
        project = self._project(params.project_root)
        ready = into(response, lambda documents: SearchResult(documents=documents))
        self._engine.search(params.query, project, params.limit, ready)
        return response

    def explain(self, params: ExplainParams) -> Future[Verdict]:
        response: Future[Verdict] = Future()
        session = None
        if params.session_id is not None:
            session = self._engine.session(SessionKey(params.session_id, params.agent_id))
        explain(
            self._host.library,
            params.query,
            self._project(params.project_root),
            params.path,
            session=session,
            now_ns=time.time_ns(),
            ready=into(response, lambda verdict: verdict),
        )
        return response

    def list_(self, params: ListParams) -> Future[ListResult]:
        response: Future[ListResult] = Future()
        now_ns = time.time_ns()
        ready = into(
            response,
            lambda documents: ListResult(documents=[summarize(each, now_ns) for each in documents]),
        )
        self._host.library.newest(self._project(params.project_root), ready)
        return response

    def read(self, params: ReadParams) -> Future[ReadResult]:
        response: Future[ReadResult] = Future()
        now_ns = time.time_ns()
        ready = into(response, lambda document: ReadResult(document=describe(document, now_ns)))
        self._host.library.note(self._project(params.project_root), params.path, ready)
        return response

    def status(self, params: StatusParams) -> Future[StatusResult]:
        response: Future[StatusResult] = Future()
        if params.project_root is None:
            response.set_result(status(self._host))
        else:
            self._host.library.describe(params.project_root, into(response, partial(status, self._host)))
        return response

    def _project(self, root: str | None) -> str | None:
        """The project of a call: the one it names, else the first workspace folder."""
        return root if root is not None else next(iter(self._folders), None)


def _is_path(root: str) -> bool:
    """Whether a workspace folder is in the file system. Editors open others too, of remote hosts or archives,
    and the user's own notes are of use there."""
    try:
        project_path(root)
    except InvalidProject:
        return False
    return True
