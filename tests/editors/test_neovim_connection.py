"""Neovim's way to the daemon: found, trusted, lost and found again; and many clients at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memrecalld.paths import socket_path
from tests.editors.neovim import Neovim, all_read, running_daemon
from tests.support.daemon import make_repository
from tests.support.dying import DyingDaemon
from tests.support.notes import note
from tests.support.wire import WireClient, frame

NOT_THERE = "no memrecalld serves {socket}; start it with"


@asynccontextmanager
async def impostor(socket: Path, *answers: dict[str, Any]) -> AsyncIterator[list[bytes]]:
    """Something else on the socket, that says ``answers`` once it was spoken to; yields what it has heard."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            heard.append(data)
            if len(heard) == 1:
                writer.writelines(frame(json.dumps(answer).encode()) for answer in answers)
        writer.close()

    socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with await asyncio.start_unix_server(serve, socket):
        yield heard


def environment(home: Path) -> dict[str, str]:
    """An environment without a daemon."""
    return {"PATH": "", "LC_ALL": "C.UTF-8", "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with so short a path that a socket fits into it."""
    with tempfile.TemporaryDirectory(prefix="memrecalld-test-", dir="/tmp") as folder:
        yield Path(folder)


async def test_daemon_that_was_killed_and_came_back_is_used_again(daemon):
    daemon.write_note("user", "heron.md", note("Heron"))
    async with await Neovim.beside(daemon) as neovim:
        await neovim.command("MemRecall heron")
        await neovim.float_with("1. Heron")
        await neovim.type("q")
        daemon.kill()
        daemon.start()
        await neovim.command("MemRecall heron")
        await neovim.float_with("1. Heron")
        assert await neovim.told() == []
        assert await neovim.lua("return #vim.lsp.get_clients({ name = 'memrecall' })") == 1


async def test_killed_daemon_loses_no_delivery_and_repeats_none(tmp_path):
    daemon = DyingDaemon(tmp_path / "home")
    with contextlib.closing(daemon):
        daemon.write_note("user", "heron.md", note("Heron"))
        daemon.write_note("user", "ferry.md", note("Ferry"))
        daemon.start()
        async with await Neovim.beside(daemon) as neovim:

            async def given(word: str) -> list[str] | None:
                await neovim.lua("T.start({ query = ... })", word)
                await neovim.until("T.fast ~= nil")
                titles: list[str] | None = await neovim.lua("return T.titles(T.fast)")
                return titles

            for word, title in (("heron", "Heron"), ("ferry", "Ferry")):
                daemon.die_at_next_handover()
                await neovim.lua("T.start({ query = ... })", word)
                await neovim.until("T.end_error ~= nil")
                daemon.return_from_death()
                await all_read(daemon)
                assert await given(word) == [title]
            assert not await given("heron")
            daemon.kill()
            daemon.start()
            await all_read(daemon)
            assert not await given("heron")
            assert not await given("ferry")


async def test_client_that_the_user_stopped_is_started_again(daemon):
    daemon.write_note("user", "heron.md", note("Heron"))
    async with await Neovim.beside(daemon) as neovim:
        await neovim.command("MemRecall heron")
        await neovim.float_with("1. Heron")
        await neovim.type("q")
        # The next use comes before Neovim has noticed the end of the connection.
        await neovim.lua("vim.lsp.stop_client(vim.lsp.get_clients(), true) vim.cmd('MemRecall heron')")
        await neovim.float_with("1. Heron")


async def test_daemon_that_is_absent_is_used_once_it_is_there(daemon):
    daemon.write_note("user", "heron.md", note("Heron"))
    daemon.stop()
    async with await Neovim.start(daemon.environment, daemon.project) as neovim:
        for command in ("MemRecall heron", "MemRecallSearch heron", "MemRecallStatus"):
            await neovim.command(command)
            shown = await neovim.float_with("See :checkhealth memrecall")
            assert NOT_THERE.format(socket=daemon.socket) in shown
            await neovim.type("q")
        assert await neovim.told() == [], "the float has said it"
        daemon.start()
        await neovim.command("MemRecall heron")
        await neovim.float_with("1. Heron")


async def test_absent_daemon_is_told_once_until_it_was_there_again(daemon):
    async def start() -> None:
        await neovim.lua("T.turn = require('memrecall').start({ query = 'heron' })")
        await neovim.lua("T.turn:on_fast(function() T.count('answers') end)")

    async with await Neovim.beside(daemon) as neovim:
        daemon.kill()
        for _ in range(3):
            await start()
        await neovim.until("T.counts.answers == 3")
        first = await neovim.told()
        daemon.start()
        await start()
        await neovim.until("T.counts.answers == 4")
        daemon.kill()
        for _ in range(3):
            await start()
        await neovim.until("T.counts.answers == 7")
        assert len(first) == 1
        assert first[0].startswith("memrecall: " + NOT_THERE.format(socket=daemon.socket))
        assert await neovim.told() == first * 2


async def test_nothing_is_sent_to_a_socket_that_others_could_have_put_there(home):
    socket = home / "memrecalld" / "memrecalld.sock"
    async with impostor(socket) as heard:
        socket.parent.chmod(0o777)
        async with await Neovim.start(environment(home), home) as neovim:
            await neovim.command("MemRecall secret")
            shown = await neovim.float_with("checkhealth")
    assert f"chmod 700 {socket.parent}" in shown
    assert heard == []


async def test_socket_that_is_a_file_is_refused(home):
    (home / "memrecalld").mkdir(mode=0o700)
    (home / "memrecalld" / "memrecalld.sock").touch()
    async with await Neovim.start(environment(home), home) as neovim:
        await neovim.command("MemRecall secret")
        await neovim.float_with("is not a socket of this user")


@pytest.mark.parametrize(
    ("experimental", "said"),
    [
        ({}, "is no memrecalld"),
        ({"memrecall": {"protocolVersion": 2}}, "speaks version 2 of the protocol"),
    ],
)
async def test_server_that_speaks_something_else_gets_no_query(home, experimental, said):
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {"experimental": experimental}}}
    async with (
        impostor(home / "memrecalld" / "memrecalld.sock", answer) as heard,
        await Neovim.start(environment(home), home) as neovim,
    ):
        await neovim.command("MemRecall secret")
        await neovim.float_with(said)
    assert b"secret" not in b"".join(heard)


async def test_server_that_says_nothing_is_given_up(home):
    async with (
        impostor(home / "memrecalld" / "memrecalld.sock"),
        await Neovim.start(environment(home), home) as neovim,
    ):
        # Five seconds pass in a twentieth of one.
        await neovim.lua(
            "local defer = vim.defer_fn vim.defer_fn = function(f, ms) return defer(f, ms / 100) end"
        )
        await neovim.command("MemRecall secret")
        await neovim.float_with("does not answer; is it memrecalld?")


async def test_socket_with_too_long_a_path_is_an_error_that_says_so(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    async with await Neovim.start(environment(folder), folder) as neovim:
        await neovim.command("MemRecall secret")
        said = await neovim.float_with("the path of the socket is longer than 107 bytes")
        assert "MEMRECALLD_SOCKET" in said


async def test_configured_socket_goes_before_the_environment(daemon, tmp_path):
    async with await Neovim.start(environment(tmp_path), tmp_path) as neovim:
        await neovim.lua("require('memrecall').setup({ socket = ... })", str(daemon.socket))
        await neovim.command("MemRecallStatus")
        assert str(daemon.socket) in await neovim.float_with("notes held")


async def test_socket_is_looked_for_where_the_daemon_binds_it(tmp_path):
    cases: list[dict[str, str]] = [
        {},
        {"XDG_RUNTIME_DIR": ""},
        {"XDG_RUNTIME_DIR": "/run/here"},
        {"XDG_RUNTIME_DIR": "/run/here//"},
        {"XDG_RUNTIME_DIR": "run/here"},
        {"MEMRECALLD_SOCKET": "/x/y.sock"},
        {"MEMRECALLD_SOCKET": "/x/y.sock", "XDG_RUNTIME_DIR": "/run/here"},
        {"MEMRECALLD_SOCKET": "", "XDG_RUNTIME_DIR": "/run/here"},
    ]
    async with await Neovim.start(environment(tmp_path), tmp_path) as neovim:
        for case in cases:
            found = await neovim.lua(
                """
                vim.env.MEMRECALLD_SOCKET, vim.env.XDG_RUNTIME_DIR = ...
                return (require('memrecall.socket').path())
                """,
                case.get("MEMRECALLD_SOCKET"),
                case.get("XDG_RUNTIME_DIR"),
            )
            assert found == socket_path(case), case
        await neovim.lua("vim.env.MEMRECALLD_SOCKET = 'relative.sock'")
        await neovim.command("MemRecall heron")
        await neovim.float_with("MEMRECALLD_SOCKET must be an absolute path")


async def test_two_neovims_and_an_agent_at_once_get_their_own_answers(tmp_path):
    with running_daemon(tmp_path) as daemon:
        projects = [daemon.home / f"project{number}" for number in range(2)]
        for number, project in enumerate(projects):
            make_repository(project)
            folder = daemon.notes_of(project)
            folder.mkdir(parents=True)
            (folder / "heron.md").write_text(note(f"Heron {number}"))
            await all_read(daemon, project)
        async with (
            await Neovim.start(daemon.environment, projects[0]) as first,
            await Neovim.start(daemon.environment, projects[1]) as second,
            await WireClient.connect(daemon.socket) as agent,
        ):
            for _ in range(5):
                request, *_ = await asyncio.gather(
                    agent.request(
                        "recall/start",
                        {"sessionId": "a", "query": "heron", "projectRoot": str(projects[0])},
                    ),
                    first.command("MemRecall heron"),
                    second.command("MemRecall heron"),
                )
                fast = await agent.fast(request)
                await agent.call("recall/reset", {"sessionId": "a"})
                assert [each["title"] for each in fast["delivery"]["documents"]] == ["Heron 0"]
                assert "Heron 1" not in await first.float_with("1. Heron 0")
                assert "Heron 0" not in await second.float_with("1. Heron 1")
                await first.type("q")
                await second.type("q")
            status = await agent.call("daemon/status")
            sessions = {
                await each.lua("return require('memrecall').session_id()") for each in (first, second)
            }
        assert status["connections"] == 3
        assert status["counters"]["delivery_point.initial"] == 15
        assert len(sessions) == 2
