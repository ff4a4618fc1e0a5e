"""Whose socket it is. The folders and sockets are real; only the answer to "who am I" may be another."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest

from memrecalld.client import CallTimeout, Client, DaemonUnavailable, peer
from memrecalld.client.aio import AsyncClient


@pytest.fixture
def listening(tmp_path):
    """A socket in a private folder that nobody accepts from, with room for one connection in its queue."""
    folder = tmp_path / "d"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        listener.listen(0)
        yield folder / "s"


def test_a_private_socket_is_connected_to(listening):
    Client.connect(str(listening)).close()


def test_a_relative_path_is_one_from_the_current_folder(listening, monkeypatch):
    monkeypatch.chdir(listening.parent)
    Client.connect("s").close()


def test_without_a_socket_the_error_says_how_to_start_the_daemon(tmp_path):
    with pytest.raises(DaemonUnavailable, match=r"start it: .*memrecalld"):
        Client.connect(str(tmp_path / "none"))


def test_a_socket_that_nobody_serves_any_more_is_unavailable(tmp_path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "s"))
    with pytest.raises(DaemonUnavailable, match=r"start it: .*memrecalld"):
        Client.connect(str(tmp_path / "s"))


def test_the_usual_socket_is_the_one_of_the_environment(monkeypatch, listening):
    with pytest.raises(DaemonUnavailable):
        Client.connect()
    monkeypatch.setenv("MEMRECALLD_SOCKET", str(listening))
    Client.connect().close()


def test_a_relative_override_is_unavailable_and_not_guessed(monkeypatch):
    monkeypatch.setenv("MEMRECALLD_SOCKET", "s")
    with pytest.raises(DaemonUnavailable, match="absolute"):
        Client.connect()


@pytest.mark.parametrize("name", ["x" * 200, "é" * 54, "x" * 5_000], ids=["long", "in bytes", "no path"])
def test_a_path_too_long_for_a_socket_is_said_to_be_the_cause_with_the_next_step(name):
    for connect in (Client.connect, lambda path: asyncio.run(AsyncClient.connect(path))):
        with pytest.raises(DaemonUnavailable, match=r"longer than 107 bytes.* choose a shorter one with"):
            connect(f"/tmp/{name}")


def test_the_longest_path_of_a_socket_is_not_too_long(listening):
    longest = listening.with_name("s" * (107 - len(str(listening.parent)) - 1))
    with pytest.raises(DaemonUnavailable, match="no memrecalld serves"):
        Client.connect(str(longest))


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_may_write_to_is_refused(listening, mode):
    listening.parent.chmod(mode)
    with pytest.raises(DaemonUnavailable, match="chmod 700"):
        Client.connect(str(listening))


def test_a_folder_behind_a_link_is_refused(listening, tmp_path):
    (tmp_path / "link").symlink_to(listening.parent)
    with pytest.raises(DaemonUnavailable, match="not a folder"):
        Client.connect(str(tmp_path / "link" / "s"))


def test_a_link_to_a_socket_is_refused(listening):
    (listening.parent / "link").symlink_to(listening)
    with pytest.raises(DaemonUnavailable, match="not a socket"):
        Client.connect(str(listening.parent / "link"))


def test_a_file_is_refused(listening):
    (listening.parent / "file").touch()
    with pytest.raises(DaemonUnavailable, match="not a socket"):
        Client.connect(str(listening.parent / "file"))


def test_the_folder_of_another_user_is_refused(listening, monkeypatch):
    monkeypatch.setattr(peer.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(DaemonUnavailable, match="not a folder of user"):
        Client.connect(str(listening))


def test_a_listener_of_another_user_is_refused(listening, monkeypatch):
    sock = peer.make_socket(str(listening))
    monkeypatch.setattr(peer.os, "geteuid", lambda: os.getuid() + 1)
    monkeypatch.setattr(peer, "_ROOT", os.getuid() + 2)
    with sock, pytest.raises(DaemonUnavailable, match=f"user {os.getuid()} listens there"):
        peer.try_connect(sock, str(listening))


def test_a_listener_of_root_is_trusted(listening, monkeypatch):
    sock = peer.make_socket(str(listening))
    monkeypatch.setattr(peer.os, "geteuid", lambda: os.getuid() + 1)
    monkeypatch.setattr(peer, "_ROOT", os.getuid())
    with sock:
        assert peer.try_connect(sock, str(listening))


def test_a_daemon_that_accepts_nothing_is_not_waited_for_longer_than_asked(listening):
    with Client.connect(str(listening)), pytest.raises(CallTimeout, match=r"0\.05 s"):
        Client.connect(str(listening), connect_timeout=0.05)


def test_a_daemon_that_accepts_nothing_is_not_waited_for_by_tasks_either(listening):
    async def connect() -> None:
        await AsyncClient.connect(str(listening), connect_timeout=0.05)

    with Client.connect(str(listening)), pytest.raises(CallTimeout, match=r"0\.05 s"):
        asyncio.run(connect())


def test_a_daemon_that_never_answers_is_not_waited_for_longer_than_asked(listening):
    with Client.connect(str(listening), call_timeout=0.05) as client:
        with pytest.raises(CallTimeout, match=r"0\.05 s"):
            client.list()
        with pytest.raises(TimeoutError, match=r"0\.01 s"):
            client.search("x", timeout=0.01)


def test_a_daemon_that_never_answers_is_not_waited_for_by_tasks_either(listening):
    async def call() -> None:
        async with await AsyncClient.connect(str(listening), call_timeout=0.05) as client:
            await client.list()

    with pytest.raises(CallTimeout, match=r"0\.05 s"):
        asyncio.run(call())
