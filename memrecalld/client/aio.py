"""The client for asyncio: as ``memrecalld.client``, and many tasks may use one connection at a time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memrecalld.client import peer
from memrecalld.client.channel import (
    REQUEST_CANCELLED,
    Channel,
    Reply,
    project_params,
    start_params,
    turn_params,
)
from memrecalld.client.errors import CallTimeout, ClientError, DaemonUnavailable, ProtocolError, ResponseError
from memrecalld.client.sync import CALL_S, CONNECT_S

if TYPE_CHECKING:
    from memrecalld.client.channel import JsonObject, ProjectPath
    from memrecalld.client.shapes import (
        Delivery,
        Fast,
        FoundDocument,
        ListedDocument,
        Outcome,
        Status,
        ToolResult,
    )

    FoundDocuments = list[FoundDocument]
    ListedDocuments = list[ListedDocument]

__all__ = ["AsyncClient", "AsyncTurn"]

_READ_BYTES = 64 * 1024


class _AwaitedReply(Reply):
    """A reply that tasks can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.changed = asyncio.Event()

    def arrived(self) -> None:
        self.changed.set()


class AsyncClient:
    """One connection to the daemon. Times out everywhere; closes as an asynchronous context manager.

    Every method raises what ``memrecalld.client.Client`` raises; a shorter time than ``call_timeout`` is set
    with ``asyncio.timeout``. A cancelled ``start`` cancels its turn.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, call_timeout: float = CALL_S
    ) -> None:
        """Talk over connected streams, which the client owns from now on. Most callers want ``connect``."""
        self.call_timeout = call_timeout
        self._reader = reader
        self._writer = writer
        self._channel = Channel()
        self._failure: ClientError | None = None
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def connect(
        cls, path: str | None = None, *, connect_timeout: float = CONNECT_S, call_timeout: float = CALL_S
    ) -> Self:
        """Connect to the daemon of this user, at its usual socket or at ``path``.

        Raises ``DaemonUnavailable`` when nobody serves the socket, or when it is not this user's own, and
        ``CallTimeout`` when the daemon takes no connections for ``connect_timeout`` seconds.
        """
        path = peer.find_socket(path)
        sock = peer.make_socket(path)
        try:
            await _connect(sock, path, connect_timeout)
            reader, writer = await asyncio.open_unix_connection(sock=sock)
        except BaseException:
            sock.close()
            raise
        return cls(reader, writer, call_timeout=call_timeout)

    async def close(self) -> None:
        """Close the connection, which ends its turns; may be called twice."""
        self._fail(DaemonUnavailable("this client is closed; connect again"))
        self._receiving.cancel()
        await asyncio.wait([self._receiving])
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # Turns -------------------------------------------------------------------------------------------------

    async def start(
        self,
        query: str,
        *,
        session_id: str,
        project_root: ProjectPath | None = None,
        agent_id: str = "",
        recent_tools: Sequence[str] = (),
        exclude_layouts: Sequence[str] = (),
        detached: bool = False,
    ) -> AsyncTurn:
        """Open a turn, and return when its fast result is there; as ``Client.start``."""
        params = start_params(
            query,
            session_id,
            project_root=project_root,
            agent_id=agent_id,
            recent_tools=recent_tools,
            exclude_layouts=exclude_layouts,
            detached=detached,
        )
        reply = _AwaitedReply()
        request_id = self._request("recall/start", params, reply)
        try:
            await self._wait(reply, lambda: reply.fast is not None or reply.answered)
        except BaseException:
            self._channel.forget(request_id)
            with contextlib.suppress(ClientError):
                self._notify("$/cancelRequest", {"id": request_id})
            raise
        if reply.fast is None:
            reply.result()  # raises, unless the turn has ended already
        return AsyncTurn(self, request_id, reply, session_id, agent_id)

    async def tool_result(
        self,
        session_id: str,
        *,
        tool_name: str | None = None,
        agent_id: str = "",
        turn_id: str | None = None,
    ) -> ToolResult:
        """A later delivery point of the session's open turn, or of the one named."""
        result: ToolResult = await self._call(
            "recall/toolResult", turn_params(session_id, agent_id, turn_id, toolName=tool_name)
        )
        return result

    async def end(self, session_id: str, *, agent_id: str = "", turn_id: str | None = None) -> None:
        """Tell that no delivery point is left in the session's open turn, or in the one named."""
        self._notify("recall/end", turn_params(session_id, agent_id, turn_id))
        await self._drain()

    async def reset(self, session_id: str, *, agent_id: str = "") -> None:
        """The session's context was cleared or compacted: what was delivered may be delivered again."""
        await self._call("recall/reset", turn_params(session_id, agent_id, None))

    # Outside any turn --------------------------------------------------------------------------------------

    async def search(
        self, query: str, *, project_root: ProjectPath | None = None, limit: int = 5
    ) -> FoundDocuments:
        """Notes that match, best first; no session is touched."""
        params = project_params(project_root, query=query, limit=limit)
        documents: FoundDocuments = (await self._call("memory/search", params))["documents"]
        return documents

    async def list(self, *, project_root: ProjectPath | None = None) -> ListedDocuments:
        """The newest notes, at most 200 of each scope: the project's, then the user's, newest first."""
        answer = await self._call("memory/list", project_params(project_root))
        documents: ListedDocuments = answer["documents"]
        return documents

    async def status(self, *, project_root: ProjectPath | None = None) -> Status:
        """What the daemon tells about itself, and with a project about its folders of notes."""
        status: Status = await self._call("daemon/status", project_params(project_root))
        return status

    # The parts ---------------------------------------------------------------------------------------------

    async def _call(self, method: str, params: JsonObject) -> Any:  # noqa: ANN401 - any JSON
        reply = _AwaitedReply()
        request_id = self._request(method, params, reply)
        try:
            await self._wait(reply, lambda: reply.answered)
        finally:
            self._channel.forget(request_id)
        return reply.result()

    def _request(self, method: str, params: JsonObject, reply: _AwaitedReply) -> int:
        request_id, data = self._channel.request(method, params, reply)
        self._write(data)
        return request_id

    def _notify(self, method: str, params: JsonObject) -> None:
        self._write(self._channel.notification(method, params))

    def _write(self, data: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        self._writer.write(data)

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self.call_timeout):
                await self._writer.drain()
        except TimeoutError:
            raise CallTimeout(f"the daemon reads nothing for {self.call_timeout:g} s") from None
        except OSError:
            raise DaemonUnavailable("the connection to the daemon has ended; connect again") from None

    async def _wait(self, reply: _AwaitedReply, done: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(self.call_timeout):
                while not done():
                    if self._failure is not None:
                        raise self._failure
                    reply.changed.clear()
                    await reply.changed.wait()
        except TimeoutError:
            raise CallTimeout(f"the daemon did not answer within {self.call_timeout:g} s") from None

    async def _receive(self) -> None:
        failure: ClientError = DaemonUnavailable("the connection to the daemon has ended; connect again")
        try:
            while data := await self._reader.read(_READ_BYTES):
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


class AsyncTurn:
    """One recall, from its fast result on. Made by ``AsyncClient.start``; as ``memrecalld.client.Turn``."""

    def __init__(
        self, client: AsyncClient, request_id: int, reply: _AwaitedReply, session_id: str, agent_id: str
    ) -> None:
        self._client = client
        self._request_id = request_id
        self._reply = reply
        self._session_id = session_id
        self._agent_id = agent_id
        self.id: str = reply.fast["turnId"] if reply.fast is not None else reply.result()["turnId"]
        """The daemon's name of the turn."""

    @property
    def fast(self) -> Fast | None:
        """The fast result; None for a turn that ended before it, superseded from elsewhere."""
        return self._reply.fast

    @property
    def delivery(self) -> Delivery | None:
        """What goes into the first prompt, if there is anything."""
        return None if self._reply.fast is None else self._reply.fast["delivery"]

    async def tool_result(self, tool_name: str | None = None) -> ToolResult:
        """A later delivery point: what the selector chose, if it has, without the notes of ``delivery``."""
        return await self._client.tool_result(
            self._session_id,
            tool_name=tool_name,
            agent_id=self._agent_id,
            turn_id=self.id,
        )

    async def end(self) -> Outcome | None:
        """End the turn, if it has not ended, and return how it did; as ``Turn.end``."""
        if self._reply.outcome is None:
            await self._client.end(self._session_id, agent_id=self._agent_id, turn_id=self.id)
        await self._answered()
        self._reply.result()  # raises
        return self._reply.outcome

    async def cancel(self) -> Outcome | None:
        """Abort the turn, its prompt being thrown away, and return how it ended; as ``Turn.cancel``."""
        if not self._reply.answered:
            self._client._notify("$/cancelRequest", {"id": self._request_id})
        await self._answered()
        try:
            self._reply.result()
        except ResponseError as error:
            if error.code != REQUEST_CANCELLED:
                raise
        return self._reply.outcome

    async def _answered(self) -> None:
        await self._client._wait(self._reply, lambda: self._reply.answered)


async def _connect(sock: socket.socket, path: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not peer.try_connect(sock, path):  # noqa: ASYNC110 - a full queue tells nobody when it has room
                await asyncio.sleep(peer.RETRY_S)
    except TimeoutError:
        raise CallTimeout(f"the daemon takes no connections for {seconds:g} s") from None
