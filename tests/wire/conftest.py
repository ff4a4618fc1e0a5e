"""Daemons that all tests share, for a start takes longer than most tests, and what keeps tests apart."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.selectors.model_server import ModelServer, model_server
from tests.support.daemon import DaemonProcess
from tests.support.wire import WireClient
from tests.wire.model import Choice, selector
from tests.wire.turns import Project


@pytest.fixture(scope="session")
def plain_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon without a selector."""
    yield from _running(DaemonProcess(tmp_path_factory.mktemp("plain") / "home"))


@pytest.fixture(scope="session")
def model_port() -> Iterator[socket.socket]:
    """Where the shared daemon's model listens; each test serves it anew."""
    with socket.create_server(("127.0.0.1", 0)) as port:
        yield port


@pytest.fixture(scope="session")
def selecting_daemon(
    tmp_path_factory: pytest.TempPathFactory, model_port: socket.socket
) -> Iterator[DaemonProcess]:
    """A daemon that asks the model on ``model_port``."""
    yield from _running(DaemonProcess(tmp_path_factory.mktemp("selecting") / "home", selector(model_port)))


@pytest_asyncio.fixture
async def shared_model(model_port: socket.socket) -> AsyncIterator[ModelServer]:
    """The model of ``selecting_daemon``. Until a test sets other ``answers`` it chooses nothing."""
    async with model_server(Choice(), sock=model_port.dup()) as server:
        yield server


@pytest.fixture
def plain_project(plain_daemon: DaemonProcess, tmp_path: Path) -> Project:
    """A project of this test alone, on ``plain_daemon``."""
    return Project(plain_daemon, plain_daemon.home / tmp_path.name)


@pytest.fixture
def project(selecting_daemon: DaemonProcess, tmp_path: Path) -> Project:
    """A project of this test alone, on ``selecting_daemon``."""
    return Project(selecting_daemon, selecting_daemon.home / tmp_path.name)


@pytest_asyncio.fixture
async def plain_client(plain_daemon: DaemonProcess) -> AsyncIterator[WireClient]:
    """A connection to ``plain_daemon``."""
    async with await WireClient.connect(plain_daemon.socket) as client:
        yield client


@pytest_asyncio.fixture
async def client(selecting_daemon: DaemonProcess) -> AsyncIterator[WireClient]:
    """A connection to ``selecting_daemon``."""
    async with await WireClient.connect(selecting_daemon.socket) as client:
        yield client


def _running(daemon: DaemonProcess) -> Iterator[DaemonProcess]:
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.close()
