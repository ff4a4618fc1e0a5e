"""``:checkhealth memrecall`` and ``:MemRecallStatus``: what is found, and what to do about it."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.client import Client
from tests.editors.neovim import Neovim, all_read, running_daemon
from tests.editors.neovim_model import selector_config
from tests.support.daemon import DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.wire import WireClient


async def health(neovim: Neovim) -> str:
    """What the check reports."""
    await neovim.command("checkhealth memrecall")
    text: str = await neovim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    return text


def findings(report: str, kind: str) -> list[str]:
    """The lines of one kind: OK, WARNING, ERROR."""
    return [line.partition(kind)[2].strip() for line in report.split("\n") if f"{kind} " in line]


@pytest.fixture(scope="module")
def skipping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon with one note, a file it skips, and a model that nobody serves."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        with running_daemon(tmp_path_factory.mktemp("daemon"), selector_config(address)) as daemon:
            daemon.write_note("project", "heron.md", note("Heron"))
            (daemon.project_notes / "dangling.md").symlink_to("nowhere.md")
            yield daemon


async def test_healthy_daemon_has_no_finding(daemon):
    daemon.write_note("project", "heron.md", note("Heron"))
    async with await Neovim.beside(daemon) as neovim:
        report = await health(neovim)
        session = await neovim.lua("return require('memrecall').session_id()")
    assert findings(report, "ERROR") == []
    assert findings(report, "WARNING") == []
    fine = findings(report, "OK")
    assert fine[0].startswith("Neovim ")
    assert fine[1:] == [
        "the socket and its folder belong to this user alone",
        f"memrecalld 0.1.0 answers, process {daemon.pid}",
        "protocol version 1, as this plugin speaks it",
        "the daemon finds nothing wrong with itself",
        "none: notes are chosen by their words alone, and all come at once",
        f"project: {daemon.project.resolve()}",
        "no file was skipped",
    ]
    assert f"{daemon.socket} (from XDG_RUNTIME_DIR)" in report
    assert f"project, native: 1 note in {daemon.project_notes}" in report
    assert "project, qwen: no folder yet in " in report
    assert session in report


async def test_failing_model_and_skipped_files_come_with_an_advice(skipping):
    await all_read(skipping)
    async with await WireClient.connect(skipping.socket) as agent:
        request = await agent.request(
            "recall/start", {"sessionId": "a", "query": "heron", "projectRoot": str(skipping.project)}
        )
        await agent.fast(request)
        await agent.response(request)
    async with await Neovim.beside(skipping) as neovim:
        report = await health(neovim)
    assert findings(report, "ERROR") == []
    assert findings(report, "WARNING") == [
        "selections failed: connection (1)",
        f"skipped (vanished): {skipping.project_notes}/dangling.md",
    ]
    assert "Check `base_url`" in report
    assert "Remove the link, or make what it leads to." in report


async def test_daemon_that_is_degraded_says_why(daemon):
    daemon.configure("selector = [")
    os.kill(daemon.pid, signal.SIGHUP)
    with Client.connect(str(daemon.socket)) as client:
        poll(lambda: "configError" in client.status(), "the broken configuration is seen")
        error = client.status()["configError"]
    async with await Neovim.beside(daemon) as neovim:
        report = await health(neovim)
        await neovim.command("MemRecallStatus")
        shown = await neovim.float_with("health")
    meaning = "the configuration file cannot be used; the one before is in effect"
    assert meaning in findings(report, "WARNING")
    rows = [" ".join(line.split()) for line in shown.split("\n")]
    assert rows[rows.index("health degraded") + 1] == meaning
    for text in (report, shown):
        assert " ".join(error.split())[:60] in " ".join(text.split())


async def test_daemon_that_says_nothing_of_its_health_is_fine_and_a_reason_of_a_newer_one_is_shown(daemon):
    change = """
        local client, change = require('memrecall.client'), loadstring(...)()
        for _, name in ipairs({ 'status', 'daemon_status' }) do
          local ask = client[name]
          client[name] = function(...)
            local arguments = { ... }
            local callback = table.remove(arguments)
            table.insert(arguments, function(err, status)
              callback(err, status and change(status))
            end)
            ask(unpack(arguments))
          end
        end"""
    older = "s.health, s.configError, s.capabilities, s.latency = nil, nil, nil, nil"
    newer = "s.health = { state = 'degraded', reasons = { 'moon-full' } }"
    shown = {}
    for fields in (older, newer):
        async with await Neovim.beside(daemon) as neovim:
            await neovim.lua(change, f"return function(s) {fields} return s end")
            shown[fields] = await health(neovim)
            await neovim.command("MemRecallStatus")
            shown[fields] += await neovim.float_with("notes held")
    assert findings(shown[older], "ERROR") == []
    assert "health" not in shown[older].partition("memrecalld\n")[2]
    assert "moon-full" in findings(shown[newer], "WARNING")
    assert shown[newer].count("moon-full") == 2


async def test_place_that_is_no_project_and_has_no_notes_is_a_finding(skipping):
    async with await Neovim.start(skipping.environment, skipping.home) as neovim:
        report = await health(neovim)
    assert findings(report, "WARNING")[-2:] == [
        "no project (home): only user notes are recalled",
        "there are no notes, so nothing can be recalled",
    ]
    assert "`:cd` to the project" in report


async def test_unreadable_notes_of_the_project_are_an_error(skipping, tmp_path):
    make_repository(tmp_path)
    skipping.notes_of(tmp_path).write_text("a file where the folder should be")
    async with await Neovim.start(skipping.environment, tmp_path) as neovim:
        report = await health(neovim)
    (error,) = findings(report, "ERROR")
    assert error.startswith("the project's memory folder cannot be read")
    assert "memrecalld 0.1.0 answers" in report


@pytest.mark.parametrize(
    ("mode", "error", "advice"),
    [
        (None, "no memrecalld serves", "memrecall service install"),
        (0o700, "no memrecalld serves", "Look at what the daemon reports"),
        (0o770, "others may write to the folder of the socket", "nothing is sent there until that is mended"),
    ],
)
async def test_socket_that_cannot_be_used_is_an_error_with_an_advice(mode, error, advice):
    # A socket's path must be short, and those of pytest's folders are not.
    with tempfile.TemporaryDirectory(prefix="memrecalld-test-", dir="/tmp") as home:
        folder = Path(home, "memrecalld")
        if mode is not None:
            folder.mkdir()
            with socket.socket(socket.AF_UNIX) as left_behind:
                left_behind.bind(str(folder / "memrecalld.sock"))
            folder.chmod(mode)
        environment = {"PATH": "", "HOME": home, "XDG_RUNTIME_DIR": home}
        async with await Neovim.start(environment, Path(home)) as neovim:
            report = await health(neovim)
    (found,) = findings(report, "ERROR")
    assert found.startswith(error)
    assert advice in report


async def test_status_shows_daemon_project_and_skipped_files(skipping):
    async with await Neovim.beside(skipping) as neovim:
        await neovim.command("MemRecallStatus")
        shown = await neovim.float_with("Skipped files")
        session = await neovim.lua("return require('memrecall').session_id()")
    rows = {" ".join(line.split()) for line in shown.split("\n")}
    assert rows >= {
        "version 0.1.0, protocol 1",
        f"socket {skipping.socket}",
        "selector openai",
        "connections 1",
        f"this session {session}",
        f"root {skipping.project.resolve()}",
        f"project native 1 note {skipping.project_notes}",
        f"vanished {skipping.project_notes}/dangling.md",
        "skipped vanished: 1 file",
    }
