"""The blocking client."""

from __future__ import annotations

from memrecalld.client.channel import (
    REQUEST_CANCELLED,
    Reply,
    explain_params,
    project_params,
    start_params,
    turn_params,
    warm_params,
)
from memrecalld.client.errors import ClientError, DaemonUnavailable, ResponseError
from memrecalld.client.link import CALL_S, CONNECT_S, Link
from memrecalld.client.received import RECEIVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from memrecalld.client.channel import JsonObject, ProjectPath
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


class Client:
    """One connection to the daemon, for one thread at a time. As a context manager it closes at the end.

    Every method raises ``ClientError``: ``ResponseError`` for an error answer, ``CallTimeout`` after
    ``timeout`` seconds (``call_timeout`` by default), ``DaemonUnavailable`` when the connection has ended,
    and ``ProtocolError``.
    """

    def __init__(self, link: Link) -> None:
        """Talk over a link, which the client owns from now on. Most callers want ``connect``."""
        self._link = link

    @classmethod
    def connect(
        cls, path: str | None = None, *, connect_timeout: float = CONNECT_S, call_timeout: float = CALL_S
    ) -> Self:
        """Connect to the daemon of this user, at its usual socket or at ``path``.

        Raises ``DaemonUnavailable`` when nobody serves the socket, or when it is not this user's own, and
        ``CallTimeout`` when the daemon takes no connections for ``connect_timeout`` seconds.
        """
        return cls(Link.connect(path, connect_timeout, call_timeout))

    def close(self) -> None:
        """Close the connection, which ends its turns; may be called twice."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Turns -------------------------------------------------------------------------------------------------

    def start(
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
        timeout: float | None = None,
    ) -> Turn:
        """Open a turn, and return when its fast result is there or when it has ended early.

        ``project_root`` is an absolute path or ``file:`` URI; without one, only the user's notes are
        recalled. ``exclude_layouts`` names layouts whose notes the caller's agent recalls by itself. A
        ``detached`` turn outlives the connection and can be continued from others. With ``max_prompt_chars``
        notes that would make the prompt longer are left for later; see PROTOCOL.md. If this raises, no turn
        is left open.

        A daemon that is killed may have recorded notes for the session which it could not send any more.
        The next one gives them again, since it is told what arrived: this process remembers the last delivery
        of each session, over all its connections. ``last_delivery`` is for what it cannot know: the ``id`` of
        the last one where the session goes on from another process, and ``""`` where the session begins now.
        """
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
        reply = Reply()
        request_id, data = self._link.request("recall/start", params, reply)
        try:
            self._link.send(data)
            self._link.wait(lambda: reply.fast is not None or reply.answered, timeout)
            if reply.fast is not None:
                RECEIVED.add(session_id, agent_id, reply.fast["delivery"])
                return Turn(self._link, request_id, reply, session_id, agent_id)
        except BaseException:
            self._link.forget(request_id)
            self._cancel_quietly(request_id)
            raise
        reply.result()  # raises, unless the turn has ended already
        return Turn(self._link, request_id, reply, session_id, agent_id)

    def tool_result(
        self,
        session_id: str,
        *,
        tool_name: str | None = None,
        agent_id: str = "",
        turn_id: str | None = None,
        max_prompt_chars: int | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """A later delivery point of the session's open turn, or of the one named."""
        params = turn_params(
            session_id, agent_id, turn_id, toolName=tool_name, maxPromptChars=max_prompt_chars
        )
        result: ToolResult = self._link.call("recall/toolResult", params, timeout)
        RECEIVED.add(session_id, agent_id, result["delivery"])
        return result

    def end(self, session_id: str, *, agent_id: str = "", turn_id: str | None = None) -> None:
        """Tell that no delivery point is left in the session's open turn, or in the one named."""
        self._link.notify("recall/end", turn_params(session_id, agent_id, turn_id))

    def reset(self, session_id: str, *, agent_id: str = "", timeout: float | None = None) -> None:
        """The session's context was cleared or compacted: what was delivered may be delivered again."""
        self._link.call("recall/reset", turn_params(session_id, agent_id, None), timeout)

    def warm(self, project_root: ProjectPath, *, timeout: float | None = None) -> None:
        """Have a project's notes read before the first query; returns at once.

        From now on it is the project of a call that names none, on this connection.
        """
        self._link.call("initialize", warm_params(project_root), timeout)

    # Outside any turn --------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        project_root: ProjectPath | None = None,
        limit: int = 5,
        timeout: float | None = None,
    ) -> FoundDocuments:
        """Notes that match, best first; no session is touched."""
        params = project_params(project_root, query=query, limit=limit)
        documents: FoundDocuments = self._link.call("memory/search", params, timeout)["documents"]
        return documents

    def explain(
        self,
        query: str,
        path: str,
        *,
        project_root: ProjectPath | None = None,
        session_id: str | None = None,
        agent_id: str = "",
        timeout: float | None = None,
    ) -> Verdict:
        """Why the note at ``path`` is recalled for a query, or why not; ``session_id``: in that session."""
        params = explain_params(query, path, session_id, agent_id, project_root)
        verdict: Verdict = self._link.call("memory/explain", params, timeout)
        return verdict

    def list(
        self, *, project_root: ProjectPath | None = None, timeout: float | None = None
    ) -> ListedDocuments:
        """The newest notes, at most 200 of each scope: the project's, then the user's, newest first."""
        answer = self._link.call("memory/list", project_params(project_root), timeout)
        documents: ListedDocuments = answer["documents"]
        return documents

    def read(
        self, path: str, *, project_root: ProjectPath | None = None, timeout: float | None = None
    ) -> FoundDocument:
        """The note at the ``path`` of one that was found, listed or delivered, as it is now."""
        answer = self._link.call("memory/read", project_params(project_root, path=path), timeout)
        document: FoundDocument = answer["document"]
        return document

    def status(self, *, project_root: ProjectPath | None = None, timeout: float | None = None) -> Status:
        """What the daemon tells about itself, and with a project about its folders of notes."""
        status: Status = self._link.call("daemon/status", project_params(project_root), timeout)
        return status

    def _cancel_quietly(self, request_id: int) -> None:
        try:  # noqa: SIM105 - contextlib is not worth its import in a hook process
            self._link.notify("$/cancelRequest", {"id": request_id})
        except ClientError:
            pass  # the connection has ended, and its turns with it


class Turn:
    """One recall, from its fast result on. Made by ``Client.start``."""

    def __init__(self, link: Link, request_id: int, reply: Reply, session_id: str, agent_id: str) -> None:
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

    def tool_result(
        self,
        tool_name: str | None = None,
        *,
        max_prompt_chars: int | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """A later delivery point: what the selector chose, if it has, without the notes of ``delivery``."""
        params = turn_params(
            self._session_id, self._agent_id, self.id, toolName=tool_name, maxPromptChars=max_prompt_chars
        )
        result: ToolResult = self._link.call("recall/toolResult", params, timeout)
        RECEIVED.add(self._session_id, self._agent_id, result["delivery"])
        return result

    def end(self, *, timeout: float | None = None) -> Outcome | None:
        """End the turn, if it has not ended, and return how it did.

        None for a detached turn that was still open: its outcome is in the daemon's log only. Raises
        ``ResponseError`` for a turn that failed, such as one whose project cannot be read; its ``data`` is
        the outcome.
        """
        if self._reply.outcome is None:
            self._tell("recall/end", turn_params(self._session_id, self._agent_id, self.id))
        self._wait(timeout)
        self._reply.result()  # raises where the turn failed
        return self._reply.outcome

    def cancel(self, *, timeout: float | None = None) -> Outcome | None:
        """Abort the turn, its prompt being thrown away, and return how it ended.

        What it has delivered may then be delivered again. Too late for a turn that has ended, or for a
        detached one, whose request is answered already: they stay as they are.
        """
        if not self._reply.answered:
            self._tell("$/cancelRequest", {"id": self._request_id})
        self._wait(timeout)
        try:
            self._reply.result()
        except ResponseError as error:
            if error.code != REQUEST_CANCELLED:
                raise
        return self._reply.outcome

    def _tell(self, method: str, params: JsonObject) -> None:
        try:  # noqa: SIM105 - contextlib is not worth its import in a hook process
            self._link.notify(method, params)
        except DaemonUnavailable:
            pass  # a daemon that stops ends the turn by itself, and the outcome may already have arrived

    def _wait(self, timeout: float | None) -> None:
        self._link.wait(lambda: self._reply.answered, timeout)
