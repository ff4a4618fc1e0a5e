"""pygls' JSON-RPC, one protocol object per connection, with msgspec on the wire.

pygls brings the dispatch, the pending table of our own requests and the error classes. What is replaced here,
and why:

- reading and writing, since stock pygls goes through ``json`` and cattrs for every message and logs bodies;
- the execution of handlers: ours run at once and answer with a value or a future, so that a cancellation
  which arrives in the same packet as its request finds the turn already there;
- errors: what goes out says what was expected, never what a note or a query said, and never a traceback;
- ``shutdown`` and ``exit``, which end this connection and nothing else.
"""

from __future__ import annotations

import contextvars
import logging
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, cast

import msgspec
from lsprotocol.types import ResponseErrorMessage
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
)
from pygls.protocol import JsonRPCProtocol
from pygls.server import JsonRPCServer

from memrecalld.errors import MemrecallError
from memrecalld.server import codec, faults
from memrecalld.server.messages import METHODS
from memrecalld.server.messages.base import Envelope, MessageId

_log = logging.getLogger("memrecalld.server")

# pygls logs parameters and bodies at several levels; those are private here.
logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)

REQUEST_FAILED: Final = -32803
"""LSP's code for a request that is right and cannot be met."""

MAX_OPEN_REQUESTS: Final = 256
"""Requests of one connection without an answer yet."""

_SHOWN_CHARS: Final = 100
"""Of an unknown method's name."""

_FAULT = "Internal Error: this is a fault of the daemon; its log says where"
_AFTER_SHUTDOWN = "this connection was shut down; only exit may follow"


class ConnectionServer(JsonRPCServer):
    """The server object that pygls wants beside a protocol: one for each connection, without transports."""

    protocol: RecallProtocol

    def __init__(self) -> None:
        super().__init__(RecallProtocol, lambda: codec.CONVERTER)

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401 - pygls' signature
        _log.error("%s in %s", type(error).__name__, getattr(source, "__name__", "a handler"))


class RecallProtocol(JsonRPCProtocol):
    """Dispatch for one connection. Handlers get decoded parameters."""

    def __init__(self, server: ConnectionServer, converter: Any) -> None:  # noqa: ANN401 - pygls' signature
        super().__init__(server, converter)
        self._in_flight: set[MessageId] = set()

    def register(self, method: str, handler: Callable[[Any], Any]) -> None:
        """Serve ``method`` with ``handler(params)``, which returns a result or a ``Future`` of one."""
        self.fm.add_builtin_feature(method, handler)

    # Reading --------------------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Handle one message. Whatever it holds, the worst that comes of it is an error reply."""
        try:
            message = codec.decode_envelope(body)
        except JsonRpcException as error:
            self.refuse(codec.salvage_id(body), error)
            return
        # Each handler in a context of its own, as pygls does it.
        contextvars.copy_context().run(self._dispatch, message)

    def refuse(self, msg_id: MessageId | None, error: JsonRpcException) -> None:
        """Send an error reply; ``None`` stands for a message whose id could not be read."""
        self._send_data(ResponseErrorMessage(id=msg_id, error=error.to_response_error()))

    def _dispatch(self, message: Envelope) -> None:
        has_id = message.id is not msgspec.UNSET and message.id is not None
        if message.method is msgspec.UNSET:
            if not has_id or (message.result is msgspec.UNSET) == (message.error is msgspec.UNSET):
                self.refuse(
                    None,
                    JsonRpcInvalidRequest("Invalid Request: a message has a method, or a result or an error"),
                )
            else:
                self._receive_response(message)
        elif message.id is msgspec.UNSET:
            self._receive_notification(message)
        elif message.id is None:
            self.refuse(
                None, JsonRpcInvalidRequest("Invalid Request: a request has a number or a string - at `$.id`")
            )
        else:
            self._receive_request(message.id, message)

    def _receive_request(self, msg_id: MessageId, message: Envelope) -> None:
        try:
            if self._shutdown:
                raise JsonRpcInvalidRequest(f"Invalid Request: {_AFTER_SHUTDOWN}")
            if msg_id in self._in_flight:
                raise JsonRpcInvalidRequest(
                    "Invalid Request: this id belongs to a request that is still open"
                )
            if len(self._in_flight) >= MAX_OPEN_REQUESTS:
                raise JsonRpcException(  # noqa: TRY301
                    f"Request Failed: {MAX_OPEN_REQUESTS} requests are open here; wait for their answers",
                    code=REQUEST_FAILED,
                )
            method = cast(str, message.method)
            if method not in self.fm.builtin_features:
                raise JsonRpcMethodNotFound.of(method[:_SHOWN_CHARS])
            params = codec.decode_params(method, message.params)
        except JsonRpcException as error:
            self.refuse(msg_id, error)
            return
        self._in_flight.add(msg_id)
        self._handle_request(msg_id, method, params)

    def _receive_notification(self, message: Envelope) -> None:
        method = cast(str, message.method)
        if method not in self.fm.builtin_features or (self._shutdown and method != "exit"):
            return
        try:
            if METHODS[method].result is not None:
                raise JsonRpcInvalidRequest("Invalid Request: a request has a number or a string - at `$.id`")
            params = codec.decode_params(method, message.params)
        except JsonRpcException as error:
            # Nobody waits for an answer to a notification, but its author wants to know why nothing happens.
            self.refuse(None, error)
            return
        self._handle_notification(method, params)

    def _receive_response(self, message: Envelope) -> None:
        future = self._request_futures.pop(cast(MessageId, message.id), None)
        if future is None or future.done():
            return
        if message.error is not msgspec.UNSET:
            future.set_exception(JsonRpcException("the client answered with an error"))
        else:
            future.set_result(cast(msgspec.Raw, message.result))

    def _handle_notification(self, method_name: str, params: Any) -> None:  # noqa: ANN401
        # pygls would look for a future of its own on a cancellation; here it is a handler like the others.
        self._execute_handler(
            "", self.fm.builtin_features[method_name], self._check_handler_result, (params,)
        )

    def shut_down(self) -> None:
        """From now on only ``exit`` is served."""
        self._shutdown = True

    @property
    def busy(self) -> bool:
        """Some request has no answer yet."""
        return bool(self._in_flight)

    @property
    def request_id(self) -> MessageId:
        """Id of the request that is being handled."""
        return cast(MessageId, self.msg_id)

    # Our own requests -----------------------------------------------------------------------------

    def ask(self, method: str, params: Any) -> tuple[MessageId, Future[Any]]:  # noqa: ANN401
        """Send a request to the client; the future gets the raw result.

        It gets a ``JsonRpcException`` where the client answers with an error, and a ``ConnectionError`` where
        it leaves without an answer.
        """
        request_id = uuid.uuid4().hex
        return request_id, self.send_request(method, params, msg_id=request_id)

    def withdraw(self, request_id: MessageId) -> None:
        """The answer is not wanted any more."""
        if self._request_futures.pop(request_id, None) is not None:
            self.notify("$/cancelRequest", {"id": request_id})

    def connection_lost(self) -> None:
        """No answer comes any more."""
        while self._request_futures:
            _, future = self._request_futures.popitem()
            if not future.done():
                future.set_exception(ConnectionError("the client left"))

    # Handling -------------------------------------------------------------------------------------

    def _execute_handler(
        self,
        msg_id: MessageId,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        try:
            result = handler(*(args or ()), **(kwargs or {}))
        except Exception as error:
            future: Future[Any] = Future()
            future.set_exception(error)
            callback(future)
            return
        if isinstance(result, Future):
            # A concurrent future calls back in the call that settles it, so a hand-over is on the wire at
            # once.
            result.add_done_callback(callback)
        else:
            future = Future()
            future.set_result(result)
            callback(future)

    def _send_handler_result(self, future: Future[Any], *, msg_id: MessageId) -> None:
        self._in_flight.discard(msg_id)
        if future.cancelled():
            return  # the connection is gone
        error = future.exception()
        if error is None:
            self._send_response(msg_id, result=future.result())
        else:
            self.refuse(msg_id, _for_the_wire(error))

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            _for_the_wire(error)

    # Writing --------------------------------------------------------------------------------------

    def _send_data(self, data: Any) -> None:  # noqa: ANN401 - pygls' signature
        if self.writer is None:
            return
        if isinstance(data, ResponseErrorMessage):
            error: dict[str, Any] = {}
            if data.error is not None:
                error = {"code": data.error.code, "message": data.error.message}
                if data.error.data is not None:
                    error["data"] = data.error.data
            message = {"jsonrpc": "2.0", "id": data.id, "error": error}
        else:
            message = {
                name: getattr(data, name)
                for name in ("jsonrpc", "id", "method", "params", "result")
                if hasattr(data, name)
            }
        try:
            body = codec.encode(message)
        except Exception as error:
            # Whoever asked is told, and what is going on here is not torn in the middle.
            faults.report(error)
            if "id" not in message or "method" in message:
                return
            failure = {"code": JsonRpcInternalError.CODE, "message": _FAULT}
            body = codec.encode({"jsonrpc": "2.0", "id": message["id"], "error": failure})
        self.writer.write(body)


def _for_the_wire(error: BaseException) -> JsonRpcException:
    """The error that a client sees. One of ours speaks for itself; of others only the log learns, and only
    where."""
    if isinstance(error, JsonRpcException):
        return error
    if isinstance(error, MemrecallError):
        return JsonRpcException(str(error), code=error.code)
    faults.report(error)
    return JsonRpcInternalError(_FAULT)
