"""What the client package offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import memrecalld.client
import memrecalld.client.aio
from tests.support.daemon import REPOSITORY

HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "inspect",
    "logging",
    "msgspec",
    "pathlib",
    "pygls",
    "ssl",
    "subprocess",
    "typing",
    "urllib",
}


def test_the_public_names_are_these():
    assert memrecalld.client.__all__ == [
        "CallTimeout",
        "Client",
        "ClientError",
        "DaemonUnavailable",
        "ProtocolError",
        "ResponseError",
        "Turn",
    ]
    assert memrecalld.client.aio.__all__ == ["AsyncClient", "AsyncTurn"]


def test_importing_the_client_loads_nothing_heavy():
    program = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import memrecalld.client; print(*sys.modules)"
    )
    # Without site: what a virtual environment's .pth files load is not the client's doing.
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    assert "memrecalld.client.sync" in loaded
    assert not loaded & HEAVY
    assert not any(name.startswith("memrecalld.server") for name in loaded)


def test_importing_the_command_does_not_load_argparse():
    program = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import memrecalld.cli; print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert not set(result.stdout.split()) & (HEAVY | {"json", "socket"})
