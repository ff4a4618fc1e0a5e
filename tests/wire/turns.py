"""Turns as a client on the wire drives them."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self

from tests.support.daemon import DaemonProcess, make_repository
from tests.support.wire import WAIT_S, Message, MessageId, WireClient, frame

_sessions = itertools.count(1)

CANCELLED = -32800
FAILED = -32803
REFUSED = -32803


def new_session() -> str:
    """A session id that no other test uses."""
    return f"session {next(_sessions)}"


class Project:
    """A project of one test, on a daemon that several tests share."""

    def __init__(self, daemon: DaemonProcess, root: Path) -> None:
        self.daemon = daemon
        self.root = root
        self.notes = daemon.notes_of(root)
        make_repository(root)

    def write(self, name: str, text: str) -> Path:
        """Write a note."""
        path = self.notes / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    async def read(self, client: WireClient) -> None:
        """Return when all notes are read, so that no initial wait is too short for them."""
        await client.call("memory/list", {"projectRoot": str(self.root)})


class Turn:
    """One turn, from its ``recall/fast`` on."""

    def __init__(
        self, client: WireClient, request_id: MessageId, params: dict[str, Any], fast: Message
    ) -> None:
        self.client = client
        self.request_id = request_id
        self.session = params["sessionId"]
        self.key = {name: params[name] for name in ("sessionId", "agentId") if name in params}
        self.fast = fast
        self.id: str = fast["turnId"]

    @classmethod
    async def start(
        cls,
        client: WireClient,
        query: str,
        project: Project | None = None,
        *,
        session: str | None = None,
        at_ceiling: bool = False,
        msg_id: MessageId | None = None,
        **params: Any,
    ) -> Self:
        """Start, and return when the initial wait is over.

        On a test machine that stalls for a tenth of a second a wait ends with a part of the notes, or at the
        ceiling. Such a turn is cancelled, which gives back what it got also where it has ended, and started
        again; not, though, for the ceiling where the test is about that (``at_ceiling``).
        """
        params |= {"query": query, "sessionId": new_session() if session is None else session}
        if project is not None:
            params["projectRoot"] = str(project.root)
        async with asyncio.timeout(WAIT_S):
            while True:
                request_id = await client.request("recall/start", params, msg_id=msg_id)
                turn = cls(client, request_id, params, await client.fast(request_id))
                if not turn.fast["partial"] and (at_ceiling or turn.fast["endedBy"] != "ceiling"):
                    return turn
                await turn.cancel()
                await client.response(request_id)
                msg_id = None

    @property
    def fast_titles(self) -> list[str]:
        """Titles of the notes in the first prompt."""
        return titles(self.fast["delivery"])

    async def tool_result(self, *, client: WireClient | None = None, **params: Any) -> Message:
        """Ask at a tool result."""
        result: Message = await (client or self.client).call(
            "recall/toolResult", {**self.key, "turnId": self.id, **params}
        )
        return result

    async def settled_tool_result(self, *, client: WireClient | None = None) -> Message:
        """Ask at one tool result after the other, until the answer is not ``pending``."""
        return await poll(
            lambda: self.tool_result(client=client), lambda result: result["state"] != "pending"
        )

    async def end(self) -> None:
        """Say that no delivery point is left."""
        await self.client.notify("recall/end", {**self.key, "turnId": self.id})

    async def cancel(self) -> None:
        """Cancel the request."""
        await self.client.notify("$/cancelRequest", {"id": self.request_id})

    async def outcome(self) -> Message:
        """The outcome in the response."""
        response = await self.client.response(self.request_id)
        assert "result" in response, response["error"]
        assert response["result"]["turnId"] == self.id
        outcome: Message = response["result"]["outcome"]
        return outcome

    async def discarded(self) -> str:
        """Why the result was discarded."""
        outcome = await self.outcome()
        assert outcome["deliveryPoint"] == "discarded"
        reason: str = outcome["discardReason"]
        return reason

    async def error(self) -> Message:
        """The error in the response."""
        error: Message = (await self.client.response(self.request_id))["error"]
        return error


def titles(delivery: Message | None) -> list[str]:
    """Titles of the delivered notes, after a look at whether the prompt holds just these."""
    if delivery is None:
        return []
    documents = delivery["documents"]
    shown = [line[2:] for line in delivery["prompt"].splitlines() if line.startswith("| /")]
    assert shown == [document["path"] for document in documents]
    return [document["title"] for document in documents]


async def cancelled_at_once(client: WireClient, params: Message) -> Message:
    """The error of a ``recall/start`` whose cancellation comes in the same packet."""
    client.expect_answer("cancelled at once")
    start = {"jsonrpc": "2.0", "id": "cancelled at once", "method": "recall/start", "params": params}
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "cancelled at once"}}
    await client.send_bytes(frame(json.dumps(start).encode()) + frame(json.dumps(cancel).encode()))
    error: Message = (await client.response("cancelled at once"))["error"]
    return error


async def happened(event: asyncio.Event) -> None:
    """Wait for an event, within the bound of every wait."""
    async with asyncio.timeout(WAIT_S):
        await event.wait()


async def poll(
    ask: Callable[[], Awaitable[Any]], good: Callable[[Any], bool], *, pause_s: float = 0.01
) -> Any:
    """Ask until the answer is good; the bound is that of every wait."""
    async with asyncio.timeout(WAIT_S):
        while not good(answer := await ask()):
            await asyncio.sleep(pause_s)
    return answer


async def counters(client: WireClient) -> dict[str, int]:
    """The daemon's counters."""
    status: Message = await client.call("daemon/status")
    counted: dict[str, int] = status["counters"]
    return counted
