"""A raw client for tests: any bytes out, every message in; no answer may be missing, double or unasked for.

It shares no code with the product, so that a fault in framing or envelopes cannot hide on both sides.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Message = dict[str, Any]
MessageId = int | str

WAIT_S = 60.0
"""Bound of every wait: far beyond what any answer takes on a busy machine."""
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


class ConnectionClosed(Exception):
    """The daemon closed the connection while something was waited for."""


class WireClient:
    """One connection. As a context manager it ends with ``close``, which checks the answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.messages: list[Message] = []
        """Everything received, in order."""
        self.closed = asyncio.Event()
        """The daemon closed the connection."""
        self._reader = reader
        self._writer = writer
        self._ids = itertools.count(1)
        self._asked: Counter[tuple[type, MessageId]] = Counter()
        self._answered: Counter[tuple[type, MessageId]] = Counter()
        self._unattributed = 0
        """Errors with the id ``null`` that a test has taken."""
        self._taken: set[int] = set()
        self._fault: AssertionError | None = None
        self._arrived = asyncio.Condition()
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def connect(cls, socket: Path) -> Self:
        """Connect; nothing is sent."""
        return cls(*await asyncio.open_unix_connection(str(socket)))

    # Sending -------------------------------------------------------------------------------------------

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are. Answers they call for are announced with ``expect_answer``."""
        self._writer.write(data)
        await self._writer.drain()

    async def send(self, message: object) -> None:
        """Send one frame; a request in it is expected to be answered once."""
        if isinstance(message, dict) and "method" in message and isinstance(message.get("id"), int | str):
            self.expect_answer(message["id"])
        await self.send_bytes(frame(json.dumps(message, ensure_ascii=False).encode()))

    def expect_answer(self, msg_id: MessageId) -> None:
        """One more answer with this id is due."""
        self._asked[_key(msg_id)] += 1

    async def request(
        self, method: str, params: object = None, *, msg_id: MessageId | None = None
    ) -> MessageId:
        """Send a request and return its id."""
        if msg_id is None:
            msg_id = next(number for number in self._ids if not self._asked[_key(number)])
        await self.send({"jsonrpc": "2.0", "id": msg_id, "method": method} | _params(params))
        return msg_id

    async def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method} | _params(params))

    async def call(self, method: str, params: object = None) -> Any:
        """Send a request, wait for its answer, and return its result; an error answer fails the test."""
        response = await self.response(await self.request(method, params))
        assert "result" in response, f"{method} was answered with an error: {response['error']}"
        return response["result"]

    async def call_error(self, method: str, params: object = None) -> Message:
        """Send a request, wait for its answer, and return its error; a result fails the test."""
        response = await self.response(await self.request(method, params))
        assert "error" in response, f"{method} was answered with a result"
        error: Message = response["error"]
        return error

    # Receiving -----------------------------------------------------------------------------------------

    async def response(self, msg_id: MessageId) -> Message:
        """The first answer to a request."""
        key = _key(msg_id)
        return await self._find(lambda message: _is_response(message) and _key(message["id"]) == key)

    async def unattributed_error(self) -> Message:
        """The next error whose ``id`` is ``null``: the daemon's answer to what it could not attribute."""
        message = await self._take(lambda message: _is_response(message) and message["id"] is None)
        self._unattributed += 1
        error: Message = message["error"]
        return error

    async def notification(self, method: str, **fields: object) -> Message:
        """The parameters of the next notification of this kind that hold these fields; taken once."""

        def wanted(message: Message) -> bool:
            return (
                message.get("method") == method
                and "id" not in message
                and all(message["params"].get(name) == value for name, value in fields.items())
            )

        params: Message = (await self._take(wanted))["params"]
        return params

    async def daemon_request(self, method: str) -> Message:
        """The next request of the daemon with this method, as the whole message; taken once."""
        return await self._take(lambda message: message.get("method") == method and "id" in message)

    async def fast(self, request_id: MessageId) -> Message:
        """The ``recall/fast`` that belongs to a ``recall/start``."""
        return await self.notification("recall/fast", requestId=request_id)

    async def closed_by_daemon(self) -> None:
        """Wait until the daemon has closed the connection."""
        async with asyncio.timeout(WAIT_S):
            await self.closed.wait()

    # The end -------------------------------------------------------------------------------------------

    async def abort(self) -> None:
        """Cut the connection without waiting; answers that are still due are not missed."""
        self._writer.transport.abort()
        await self._stop()
        self._asked &= self._answered
        self._check()

    def half_close(self) -> None:
        """Send nothing more, and go on reading."""
        self._writer.write_eof()

    async def close(self) -> None:
        """Wait for every answer that is due, close, and check that each came exactly once."""
        await self._wait_for_answers()
        if not self.closed.is_set():
            # The daemon sends what it still has and then closes: what would have come twice is seen here.
            self.half_close()
        await self._stop()
        self._check()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
        else:
            self._writer.transport.abort()
            await self._stop()

    # The parts -----------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        try:
            while (message := await self._read_message()) is not None:
                async with self._arrived:
                    self._record(message)
                    self._arrived.notify_all()
        except AssertionError as fault:
            self._fault = fault
        finally:
            self.closed.set()
            async with self._arrived:
                self._arrived.notify_all()

    async def _read_message(self) -> Message | None:
        try:
            header = await self._reader.readuntil(b"\r\n\r\n")
            name, _, value = header.decode("ascii").strip().partition(": ")
            assert name == "Content-Length", f"an unknown header: {header!r}"
            length = int(value)
            assert length <= _MAX_MESSAGE_BYTES
            body = await self._reader.readexactly(length)
        except asyncio.IncompleteReadError as end:
            assert not end.partial or self._writer.transport.is_closing(), "the stream ended inside a message"
            return None
        except ConnectionError:
            return None
        message = json.loads(body)
        assert isinstance(message, dict) and message.get("jsonrpc") == "2.0", "not a JSON-RPC 2.0 message"
        return message

    def _record(self, message: Message) -> None:
        self.messages.append(message)
        if _is_response(message):
            assert ("result" in message) != ("error" in message), (
                f"neither result nor error, or both: {message}"
            )
            if "error" in message:
                assert isinstance(message["error"]["code"], int)
                assert isinstance(message["error"]["message"], str)
            if message["id"] is not None:
                self._answered[_key(message["id"])] += 1

    async def _find(self, wanted: Callable[[Message], bool]) -> Message:
        return self.messages[await self._index(wanted)]

    async def _take(self, wanted: Callable[[Message], bool]) -> Message:
        """As ``_find``, but each message is found once."""
        index = await self._index(wanted, self._taken)
        self._taken.add(index)
        return self.messages[index]

    async def _index(
        self, wanted: Callable[[Message], bool], but: set[int] | frozenset[int] = frozenset()
    ) -> int:
        async with asyncio.timeout(WAIT_S), self._arrived:
            while True:
                for index, message in enumerate(self.messages):
                    if index not in but and wanted(message):
                        return index
                if self._fault is not None:
                    raise self._fault
                if self.closed.is_set():
                    raise ConnectionClosed
                await self._arrived.wait()

    async def _wait_for_answers(self) -> None:
        try:
            async with asyncio.timeout(WAIT_S), self._arrived:
                await self._arrived.wait_for(lambda: self.closed.is_set() or not self._asked - self._answered)
        except TimeoutError:
            return  # the check says what is missing

    async def _stop(self) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._receiving
        except TimeoutError:
            raise AssertionError("the daemon keeps a connection open whose client has left") from None
        finally:
            self._writer.transport.abort()

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault
        missing = self._asked - self._answered
        extra = self._answered - self._asked
        nulls = sum(_is_response(message) and message["id"] is None for message in self.messages)
        assert not missing, f"requests without an answer: {_readable(missing)}"
        assert not extra, f"answers that nobody asked for, or that came twice: {_readable(extra)}"
        assert nulls == self._unattributed, f"{nulls - self._unattributed} unexpected errors without an id"


def frame(body: bytes) -> bytes:
    """One body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _params(params: object) -> Message:
    return {} if params is None else {"params": params}


def _is_response(message: Message) -> bool:
    return "id" in message and "method" not in message


def _key(msg_id: MessageId | None) -> tuple[type, MessageId]:
    """Ids by type and value: ``1`` and ``"1"`` are two ids."""
    return type(msg_id), msg_id  # type: ignore[return-value]


def _readable(ids: Counter[tuple[type, MessageId]]) -> str:
    return ", ".join(f"{msg_id!r} ({count})" for (_, msg_id), count in ids.items())
