"""An agent that starts ``memrecall mcp``, by the official client."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp_types import ListRootsResult, Root, TextContent

from tests.support.daemon import DaemonProcess

ANSWER_S = 60.0


class Agent:
    """One agent with a server of its own."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, tool: str, **arguments: Any) -> str:
        """What a tool says."""
        failed, text = await self.result(tool, **arguments)
        assert not failed, text
        return text

    async def result(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Whether a tool failed, and what it says."""
        result = await self.session.call_tool(tool, arguments)
        [content] = result.content
        assert isinstance(content, TextContent)
        return result.is_error, content.text


@asynccontextmanager
async def agent(
    daemon: DaemonProcess,
    *,
    cwd: Path | None = None,
    roots: list[Path] | None = None,
) -> AsyncIterator[Agent]:
    """An agent in the daemon's environment, started in its project; it names ``roots`` if any are given."""

    async def list_roots(_context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=root.as_uri()) for root in roots or ()])

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memrecalld.cli", "mcp"],
        env=dict(daemon.environment),
        cwd=cwd or daemon.project,
    )
    async with (
        stdio_client(parameters) as (reading, writing),
        ClientSession(
            reading,
            writing,
            read_timeout_seconds=ANSWER_S,
            list_roots_callback=None if roots is None else list_roots,
        ) as session,
    ):
        await session.initialize()
        yield Agent(session)
