"""Both clients' side of the protocol, without any input or output: messages to bytes, bytes to replies.

JSON-RPC 2.0 in the LSP base protocol's framing,
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol.
"""

from __future__ import annotations

import json
import os

from memrecalld.client.errors import ProtocolError, ResponseError
from memrecalld.client.received import RECEIVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memrecalld.client.shapes import Fast, Outcome

    JsonObject = dict[str, Any]
    ProjectPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

MAX_SENT_BYTES = 4 * 1024 * 1024
"""The daemon reads no longer message."""

MAX_RECEIVED_BYTES = 16 * 1024 * 1024
"""The daemon drops a client sooner than it keeps more than this for it."""

_MAX_HEADER_BYTES = 4 * 1024
_METHOD_NOT_FOUND = -32601
REQUEST_CANCELLED = -32800
"""The daemon's answer to a ``recall/start`` that was cancelled (LSP)."""


class Reply:
    """What has come for one request: for ``recall/start`` the fast result first, then the response."""

    def __init__(self) -> None:
        self.fast: Fast | None = None
        self.answered = False
        """The response has come."""
        self._result: Any = None
        self._error: ResponseError | None = None

    def arrived(self) -> None:
        """Called after each change, for who waits elsewhere."""

    def result(self) -> Any:  # noqa: ANN401 - any JSON
        """What the response holds, once it has come. Raises ``ResponseError`` for an error."""
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def outcome(self) -> Outcome | None:
        """How the turn of a ``recall/start`` ended; None while it is open, or when only the daemon knows."""
        if not self.answered:
            return None
        outcome: Outcome | None
        outcome = self._result["outcome"] if self._error is None else self._error.data
        return outcome

    def receive_fast(self, params: Fast) -> None:
        """A ``recall/fast`` for this request."""
        self.fast = params
        self.arrived()

    def receive_response(self, message: JsonObject) -> None:
        """The response. Raises ``KeyError`` or ``TypeError`` for what is none."""
        error = message.get("error")
        if error is None:
            self._result = message["result"]
        else:
            self._error = ResponseError(error["code"], error["message"], error.get("data"))
        self.answered = True
        self.arrived()


class Channel:
    """The state of one connection. Feed it what was received; send what it returns."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._last_id = 0
        self._open: dict[int, Reply] = {}

    def request(self, method: str, params: JsonObject, reply: Reply) -> tuple[int, bytes]:
        """The id and the bytes of a request; what comes for it goes into ``reply``.

        Raises ``ProtocolError`` for a message longer than the daemon reads.
        """
        self._last_id += 1
        data = _frame({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        self._open[self._last_id] = reply
        return self._last_id, data

    def notification(self, method: str, params: JsonObject) -> bytes:
        """The bytes of a notification; raises as ``request``."""
        return _frame({"jsonrpc": "2.0", "method": method, "params": params})

    def open_replies(self) -> list[Reply]:
        """The replies whose response has not come."""
        return list(self._open.values())

    def forget(self, request_id: int) -> None:
        """Nobody waits any longer for what comes for this request."""
        self._open.pop(request_id, None)

    def feed(self, data: bytes) -> bytes:
        """Take in what was received, and return what must be sent back, often nothing.

        Raises ``ProtocolError`` where the stream cannot be followed, or where the daemon could not read a
        message of ours; the connection is of no use after that.
        """
        self._buffer += data
        answers = b""
        while (body := self._next_body()) is not None:
            try:
                message = json.loads(body.decode())
            except (ValueError, RecursionError):
                raise ProtocolError("the daemon sent something that is no JSON") from None
            answers += self._receive(message)
        return answers

    def _next_body(self) -> bytes | None:
        if self._length is None:
            end = self._buffer.find(b"\r\n\r\n", 0, _MAX_HEADER_BYTES)
            if end < 0:
                if len(self._buffer) >= _MAX_HEADER_BYTES:
                    raise ProtocolError("the daemon sent a header without end; is it memrecalld?")
                return None
            self._length = _content_length(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body

    def _receive(self, message: Any) -> bytes:  # noqa: ANN401 - any JSON
        try:
            if "method" in message:
                if "id" in message:  # we offer nothing that the daemon could ask for
                    error = {"code": _METHOD_NOT_FOUND, "message": "this client serves no requests"}
                    return _frame({"jsonrpc": "2.0", "id": message["id"], "error": error})
                if message["method"] == "recall/fast":
                    params = message["params"]
                    if (reply := self._open.get(params["requestId"])) is not None:
                        reply.receive_fast(params)
            elif message["id"] is None:
                raise ProtocolError(f"the daemon could not read a message: {message['error']['message']}")
            elif (reply := self._open.pop(message["id"], None)) is not None:
                reply.receive_response(message)
        except (KeyError, TypeError):
            raise ProtocolError("the daemon sent something that is no JSON-RPC message") from None
        return b""


def start_params(
    query: str,
    session_id: str,
    *,
    project_root: ProjectPath | None,
    agent_id: str,
    recent_tools: Sequence[str],
    exclude_layouts: Sequence[str],
    detached: bool,
    max_prompt_chars: int | None,
    last_delivery: str | None,
) -> JsonObject:
    """Parameters of ``recall/start``."""
    last_delivery = RECEIVED.last(session_id, agent_id, last_delivery)
    return project_params(
        project_root,
        query=query,
        **turn_params(
            session_id, agent_id, None, maxPromptChars=max_prompt_chars, lastDelivery=last_delivery
        ),
        recentTools=list(recent_tools),
        excludeLayouts=list(exclude_layouts),
        detached=detached,
    )


def turn_params(session_id: str, agent_id: str, turn_id: str | None, **more: Any) -> JsonObject:  # noqa: ANN401
    """Parameters of what belongs to a session, or to one of its turns; None stands for absent."""
    params = {"sessionId": session_id, "agentId": agent_id, "turnId": turn_id, **more}
    return {name: value for name, value in params.items() if value is not None}


def warm_params(project_root: ProjectPath) -> JsonObject:
    """Parameters of ``initialize`` for one project."""
    return {"rootPath": project_params(project_root)["projectRoot"]}


def explain_params(
    query: str, path: str, session_id: str | None, agent_id: str, project_root: ProjectPath | None
) -> JsonObject:
    """Parameters of ``memory/explain``."""
    session = {} if session_id is None else turn_params(session_id, agent_id, None)
    return project_params(project_root, query=query, path=path, **session)


def project_params(project_root: ProjectPath | None, **more: Any) -> JsonObject:  # noqa: ANN401
    """Parameters of what belongs to a project, or to none.

    Raises ``ProtocolError`` for a path that is not UTF-8, since it would arrive as another one.
    """
    if project_root is not None:
        try:
            more["projectRoot"] = os.fsencode(project_root).decode()
        except UnicodeError:
            raise ProtocolError("the project's path is not UTF-8 text; rename the folder") from None
    return more


def _frame(message: JsonObject) -> bytes:
    # A query may hold half of a surrogate pair, which has no UTF-8 form; the rest of it still counts.
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(body) > MAX_SENT_BYTES:
        raise ProtocolError(f"a message of {len(body)} bytes; the daemon reads {MAX_SENT_BYTES} at most")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value.strip()[:10])
            if length <= MAX_RECEIVED_BYTES:
                return length
            raise ProtocolError(f"the daemon sent a message of {length} bytes")
    raise ProtocolError("the daemon sent a header without a length; is it memrecalld?")
