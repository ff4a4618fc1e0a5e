"""A session's start has the daemon started, where systemd listens for it, and the project read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memrecalld.client import Client
from tests.hooks.agent import Agent
from tests.support.daemon import START_S, DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.polling import poll

HOSTS = pytest.mark.parametrize("host", ["claude", "qwen"])


@HOSTS
@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_the_project_is_read_when_its_session_starts(
    shared_daemon: DaemonProcess, tmp_path: Path, host: str, source: str
):
    make_repository(tmp_path)
    notes = shared_daemon.notes_of(tmp_path)
    notes.mkdir(parents=True)
    (notes / "n.md").write_text(note("Harbour crane"))
    with Client.connect(str(shared_daemon.socket)) as client:
        before = client.status()["topics"]
        session = Agent(host, shared_daemon.environment, tmp_path)
        session.be_patient()
        assert session.fire("SessionStart", source=source) is None
        poll(lambda: client.status()["topics"] == before + 1, "the note")


def test_a_daemon_that_is_started_on_demand_is_started_and_reads_the_project(tmp_path: Path):
    """By the real program that listens in its place, and long after the hook has ended."""
    place = DaemonProcess(tmp_path / "home")
    place.write_note("project", "n.md", note("Harbour crane"))
    place.socket.parent.mkdir(mode=0o700)
    activate = ["systemd-socket-activate", "--listen", str(place.socket), "--fdname", "memrecalld.socket"]
    passing = [f"--setenv={name}" for name in place.environment]
    manager = subprocess.Popen(
        [*activate, *passing, sys.executable, "-m", "memrecalld.server.main"],
        env=place.environment,
        cwd=place.home,
    )
    command = Path(f"/proc/{manager.pid}/cmdline")
    try:
        poll(place.socket.exists, "the socket is there")
        assert b"memrecalld.server.main" in command.read_bytes().split(b"--listen")[1]
        assert (
            Agent("claude", place.environment, place.project).fire("SessionStart", source="startup") is None
        )
        poll(lambda: b"--listen" not in command.read_bytes(), "the manager has become the daemon")
        with Client.connect(str(place.socket), call_timeout=START_S) as client:
            poll(lambda: client.status()["topics"] == 1, "the note")
    finally:
        manager.kill()
        manager.wait()
        place.close()


def test_a_start_that_nobody_answers_is_no_failure(tmp_path: Path):
    """Nothing was asked for yet, and a daemon that systemd starts takes longer than a hook waits."""
    (tmp_path / "run").mkdir(mode=0o700)
    environment = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    session = Agent("claude", environment, tmp_path)
    assert [session.fire("SessionStart", source="startup") for _ in range(4)] == [None] * 4
    assert not (tmp_path / ".local").exists()
