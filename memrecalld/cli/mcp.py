"""``memrecall mcp``: the server for agents that speak the Model Context Protocol."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from memrecalld.cli.command import UsageError
from memrecalld.programs import install


def run(arguments: argparse.Namespace) -> None:
    """Serve on standard input and output until the agent leaves."""
    try:
        from memrecalld.mcp.server import serve  # noqa: PLC0415 - an extra, which other commands do without
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp", "mcp_types", "pydantic"}:
            raise
        raise UsageError(f"this needs the MCP package; install it: {install('mcp')}") from None
    try:
        folder = str(Path.cwd())
    except OSError:
        raise UsageError("the current folder is gone; start the server in the project") from None
    asyncio.run(serve(arguments.socket, folder))
