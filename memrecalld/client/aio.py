"""The client for asyncio: as ``memrecalld.client``, and many tasks may use one connection at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memrecalld.client.async_link import AsyncLink, AwaitedReply
from memrecalld.client.channel import (
    REQUEST_CANCELLED,
    explain_params,
    project_params,
    start_params,
    turn_params,
    warm_params,
)
from memrecalld.client.errors import ClientError, ResponseError
from memrecalld.client.link import CALL_S, CONNECT_S
from memrecalld.client.received import RECEIVED

if TYPE_CHECKING:
    from memrecalld.client.channel import ProjectPath
    from memrecalld.client.shapes import (
        Delivery,
        Fast,
        FoundDocument,
        ListedDocument,
        Outcome,
        Status,
        ToolResult,
        Verdict,
    )

    FoundDocuments = list[FoundDocument]
    ListedDocuments = list[ListedDocument]

__all__ = ["AsyncClient", "AsyncTurn"]


class AsyncClient:
    """One connection to the daemon. Times out everywhere; closes as an asynchronous context manager.

    Every method raises what ``memrecalld.client.Client`` raises; a shorter time than ``call_timeout`` is set
    with ``asyncio.timeout``. A cancelled ``start`` cancels its turn.
    """

    def __init__(self, link: AsyncLink) -> None:
        """Talk over a link, which the client owns from now on. Most callers want ``connect``."""
        self._link = link

    @classmethod
    async def connect(
        cls, path: str | None = None, *, connect_timeout: float = CONNECT_S, call_timeout: float = CALL_S
    ) -> Self:
        """Connect to the daemon of this user, at its usual socket or at ``path``.

        Raises ``DaemonUnavailable`` when nobody serves the socket, or when it is not this user's own, and
        ``CallTimeout`` when the daemon takes no connections for ``connect_timeout`` seconds.
        """
        return cls(await AsyncLink.connect(path, connect_timeout, call_timeout))

    async def close(self) -> None:
        """Close the connection, which ends its turns; may be called twice."""
        await self._link.close()

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
        max_prompt_chars: int | None = None,
        last_delivery: str | None = None,
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
            max_prompt_chars=max_prompt_chars,
            last_delivery=last_delivery,
        )
        reply = AwaitedReply()
        request_id = self._link.request("recall/start", params, reply)
        try:
            await self._link.wait(reply, lambda: reply.fast is not None or reply.answered)
        except BaseException:
            self._link.forget(request_id)
            with contextlib.suppress(ClientError):
                self._link.notify("$/cancelRequest", {"id": request_id})
            raise
        if reply.fast is None:
            reply.result()  # raises, unless the turn has ended already
        else:
            RECEIVED.add(session_id, agent_id, reply.fast["delivery"])
        return AsyncTurn(self._link, request_id, reply, session_id, agent_id)

    async def tool_result(
        self,
        session_id: str,
        *,
        tool_name: str | None = None,
        agent_id: str = "",
        turn_id: str | None = None,
        max_prompt_chars: int | None = None,
    ) -> ToolResult:
        """A later delivery point of the session's open turn, or of the one named."""
        params = turn_params(
            session_id, agent_id, turn_id, toolName=tool_name, maxPromptChars=max_prompt_chars
        )
        result: ToolResult = await self._link.call("recall/toolResult", params)
        RECEIVED.add(session_id, agent_id, result["delivery"])
        return result

    async def end(self, session_id: str, *, agent_id: str = "", turn_id: str | None = None) -> None:
        """Tell that no delivery point is left in the session's open turn, or in the one named."""
        self._link.notify("recall/end", turn_params(session_id, agent_id, turn_id))
        await self._link.drain()

    async def reset(self, session_id: str, *, agent_id: str = "") -> None:
        """The session's context was cleared or compacted: what was delivered may be delivered again."""
        await self._link.call("recall/reset", turn_params(session_id, agent_id, None))

    async def warm(self, project_root: ProjectPath) -> None:
        """Have a project's notes read before the first query; as ``Client.warm``."""
        await self._link.call("initialize", warm_params(project_root))

    # Outside any turn --------------------------------------------------------------------------------------

    async def search(
        self, query: str, *, project_root: ProjectPath | None = None, limit: int = 5
    ) -> FoundDocuments:
        """Notes that match, best first; no session is touched."""
        params = project_params(project_root, query=query, limit=limit)
        documents: FoundDocuments = (await self._link.call("memory/search", params))["documents"]
        return documents

    async def explain(
        self,
        query: str,
        path: str,
        *,
        project_root: ProjectPath | None = None,
        session_id: str | None = None,
        agent_id: str = "",
    ) -> Verdict:
        """Why the note at ``path`` is recalled for a query, or why not; ``session_id``: in that session."""
        params = explain_params(query, path, session_id, agent_id, project_root)
        verdict: Verdict = await self._link.call("memory/explain", params)
        return verdict

    async def list(self, *, project_root: ProjectPath | None = None) -> ListedDocuments:
        """The newest notes, at most 200 of each scope: the project's, then the user's, newest first."""
        answer = await self._link.call("memory/list", project_params(project_root))
        documents: ListedDocuments = answer["documents"]
        return documents

    async def read(self, path: str, *, project_root: ProjectPath | None = None) -> FoundDocument:
        """The note at the ``path`` of one that was found, listed or delivered, as it is now."""
        answer = await self._link.call("memory/read", project_params(project_root, path=path))
        document: FoundDocument = answer["document"]
        return document

    async def status(self, *, project_root: ProjectPath | None = None) -> Status:
        """What the daemon tells about itself, and with a project about its folders of notes."""
        status: Status = await self._link.call("daemon/status", project_params(project_root))
        return status


class AsyncTurn:
    """One recall, from its fast result on. Made by ``AsyncClient.start``; as ``memrecalld.client.Turn``."""

    def __init__(
        self, link: AsyncLink, request_id: int, reply: AwaitedReply, session_id: str, agent_id: str
    ) -> None:
        self._link = link
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

    async def tool_result(
        self, tool_name: str | None = None, *, max_prompt_chars: int | None = None
    ) -> ToolResult:
        """A later delivery point: what the selector chose, if it has, without the notes of ``delivery``."""
        params = turn_params(
            self._session_id, self._agent_id, self.id, toolName=tool_name, maxPromptChars=max_prompt_chars
        )
        result: ToolResult = await self._link.call("recall/toolResult", params)
        RECEIVED.add(self._session_id, self._agent_id, result["delivery"])
        return result

    async def end(self) -> Outcome | None:
        """End the turn, if it has not ended, and return how it did; as ``Turn.end``."""
        if self._reply.outcome is None:
            self._link.notify("recall/end", turn_params(self._session_id, self._agent_id, self.id))
        await self._answered()
        self._reply.result()  # raises where the turn failed
        return self._reply.outcome

    async def cancel(self) -> Outcome | None:
        """Abort the turn, its prompt being thrown away, and return how it ended; as ``Turn.cancel``."""
        if not self._reply.answered:
            self._link.notify("$/cancelRequest", {"id": self._request_id})
        await self._answered()
        try:
            self._reply.result()
        except ResponseError as error:
            if error.code != REQUEST_CANCELLED:
                raise
        return self._reply.outcome

    async def _answered(self) -> None:
        await self._link.wait(self._reply, lambda: self._reply.answered)
