"""What every test has: an environment of its own, and on request a real daemon on a real socket."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.daemon import DaemonProcess
from tests.support.model import Model, running_model
from tests.support.wire import WireClient

_KEPT_VARIABLES = ("PATH", "TMPDIR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
_KEPT_PREFIXES = ("PYTEST_", "HYPOTHESIS_", "COVERAGE_", "COV_CORE_")
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing of the developer's own environment reaches a test, and no test reaches their daemon or notes.

    Neither ``HOME`` nor ``XDG_RUNTIME_DIR`` exists until a test makes it. The path of a socket has to be
    short, and that of a test's own folder is as long as its name.
    """
    for name in os.environ:
        if name not in _KEPT_VARIABLES and not name.startswith(_KEPT_PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.getbasetemp() / f"run{next(_numbers)}"))


@pytest.fixture(autouse=True, scope="session")
def unignored_signals() -> None:
    """A run in the background, or under ``nohup``, ignores signals; what it starts would inherit that."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


StartDaemon = Callable[..., DaemonProcess]


@pytest.fixture
def start_daemon(tmp_path: Path) -> Iterator[StartDaemon]:
    """Start daemons with private homes: ``start_daemon(config="", **environment)``.

    The teardown stops each of them and fails the test if one reported an internal error or stopped badly.
    """
    numbers = itertools.count(1)
    with contextlib.ExitStack() as teardown:

        def start(config: str = "", **environment: str) -> DaemonProcess:
            daemon = DaemonProcess(tmp_path / f"home{next(numbers)}", config, environment)
            teardown.callback(daemon.close)
            daemon.start()
            return daemon

        yield start


@pytest.fixture
def daemon(start_daemon: StartDaemon) -> DaemonProcess:
    """A running daemon with the default configuration and no notes."""
    return start_daemon()


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """As ``daemon``, but one for all tests of a module, which only ask and keep apart by their sessions.

    A start takes longer than all their questions.
    """
    daemon = DaemonProcess(tmp_path_factory.mktemp("shared") / "home")
    with contextlib.closing(daemon):
        daemon.start()
        yield daemon


@pytest.fixture
def model() -> Iterator[Model]:
    """A model on a local port; ``start_daemon(model.config)`` makes it the selector."""
    with running_model() as model:
        yield model


ConnectWire = Callable[[DaemonProcess], Awaitable[WireClient]]


@pytest_asyncio.fixture
async def connect_wire() -> AsyncIterator[ConnectWire]:
    """Open raw connections with ``await connect_wire(daemon)``; the teardown checks their answers."""
    async with contextlib.AsyncExitStack() as teardown:

        async def connect(daemon: DaemonProcess) -> WireClient:
            return await teardown.enter_async_context(await WireClient.connect(daemon.socket))

        yield connect
