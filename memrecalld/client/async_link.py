"""A connection to the daemon for asyncio: as ``memrecalld.client.link``, for many tasks at a time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from memrecalld.client import peer
from memrecalld.client.channel import Channel, Reply
from memrecalld.client.errors import CallTimeout, ClientError, DaemonUnavailable, ProtocolError
from memrecalld.client.link import ENDED, READ_BYTES

if TYPE_CHECKING:
    from memrecalld.client.channel import JsonObject


class AwaitedReply(Reply):
    """A reply that tasks can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.changed = asyncio.Event()

    def arrived(self) -> None:
        self.changed.set()


class AsyncLink:
    """Connected streams, their channel, and the task that receives."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, call_timeout: float
    ) -> None:
        """Own connected streams; ``call_timeout`` is the bound of every wait in seconds."""
        self._reader = reader
        self._writer = writer
        self._call_timeout = call_timeout
        self._channel = Channel()
        self._failure: ClientError | None = None
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def connect(cls, path: str | None, connect_timeout: float, call_timeout: float) -> Self:
        """Connect; see ``AsyncClient.connect``."""
        path = peer.find_socket(path)
        sock = peer.make_socket(path)
        try:
            await _connect(sock, path, connect_timeout)
            reader, writer = await asyncio.open_unix_connection(sock=sock)
        except BaseException:
            sock.close()
            raise
        return cls(reader, writer, call_timeout)

    async def close(self) -> None:
        """Close, and fail what still waits; may be called twice."""
        self._fail(DaemonUnavailable("this client is closed; connect again"))
        self._receiving.cancel()
        await asyncio.wait([self._receiving])
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def call(self, method: str, params: JsonObject) -> Any:  # noqa: ANN401 - any JSON
        """Send a request, wait for its response, and return the result or raise the error."""
        reply = AwaitedReply()
        request_id = self.request(method, params, reply)
        try:
            await self.wait(reply, lambda: reply.answered)
        finally:
            self.forget(request_id)
        return reply.result()

    def request(self, method: str, params: JsonObject, reply: AwaitedReply) -> int:
        """Send a request whose answers go into ``reply``, and return its id."""
        request_id, data = self._channel.request(method, params, reply)
        self._write(data)
        return request_id

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._write(self._channel.notification(method, params))

    def forget(self, request_id: int) -> None:
        """Drop what may still come for a request."""
        self._channel.forget(request_id)

    def _write(self, data: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        self._writer.write(data)

    async def drain(self) -> None:
        """Wait until what was sent is on its way."""
        try:
            async with asyncio.timeout(self._call_timeout):
                await self._writer.drain()
        except TimeoutError:
            raise CallTimeout(f"the daemon reads nothing for {self._call_timeout:g} s") from None
        except OSError:
            raise DaemonUnavailable(ENDED) from None

    async def wait(self, reply: AwaitedReply, done: Callable[[], bool]) -> None:
        """Wait until ``done``, which depends on what comes for ``reply``."""
        try:
            async with asyncio.timeout(self._call_timeout):
                while not done():
                    if self._failure is not None:
                        raise self._failure
                    reply.changed.clear()
                    await reply.changed.wait()
        except TimeoutError:
            raise CallTimeout(f"the daemon did not answer within {self._call_timeout:g} s") from None

    async def _receive(self) -> None:
        failure: ClientError = DaemonUnavailable(ENDED)
        try:
            while data := await self._reader.read(READ_BYTES):
                if answer := self._channel.feed(data):
                    self._writer.write(answer)
        except ProtocolError as error:
            failure = error
        except OSError:
            pass
        self._fail(failure)

    def _fail(self, failure: ClientError) -> None:
        if self._failure is None:
            self._failure = failure
        self._writer.close()
        for reply in self._channel.open_replies():
            reply.arrived()


async def _connect(sock: socket.socket, path: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not peer.try_connect(sock, path):  # noqa: ASYNC110 - a full queue tells nobody when it has room
                await asyncio.sleep(peer.RETRY_S)
    except TimeoutError:
        raise CallTimeout(f"the daemon takes no connections for {seconds:g} s") from None
