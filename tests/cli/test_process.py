"""What only a process of its own can show: signals, pipes, descriptors, locales."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memrecalld.client import Client
from tests.support.daemon import REPOSITORY
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.turns import TOO_BUSY, start

COMMAND = [sys.executable, "-m", "memrecalld.cli"]


@pytest.fixture
def bare():
    """An environment without a daemon, a home or notes."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}


def run(command, **options):
    return subprocess.run(command, check=False, text=True, timeout=180, stderr=subprocess.PIPE, **options)


def test_the_usual_socket_is_found(daemon):
    daemon.write_note("user", "a.md", note("Terse answers"))
    daemon.wait_until_read(1)
    result = run(
        [*COMMAND, "search", "terse"],
        env=daemon.environment,
        cwd=daemon.project,
        stdout=subprocess.PIPE,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Terse answers" in result.stdout


def test_ctrl_c_cancels_the_turn(start_daemon, model):
    daemon = start_daemon(model.config)
    daemon.write_note("user", "a.md", note("Terse answers"))
    daemon.wait_until_read(1)
    process = subprocess.Popen(
        [*COMMAND, "recall", "terse", "--session", "s"],
        env=daemon.environment,
        cwd=daemon.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    model.wait_until_asked()
    with process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    with Client.connect(str(daemon.socket)) as client:
        assert client.status()["openTurns"] == 0
        turn = start(client, "terse", session_id="s")
        assert turn.delivery is not None
        turn.end()


def test_a_reader_that_leaves_ends_the_command_quietly(daemon):
    for number in range(200):
        daemon.write_note("user", f"{number}.md", note(f"Note {number}", "x" * 500))
    daemon.wait_until_read(200)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = run(
            [*COMMAND, "list", "--json"],
            env=daemon.environment,
            cwd=daemon.project,
            stdout=writing,
        )
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (141, "")


def test_a_closed_stdout_is_no_fault(daemon):
    result = run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "list"],
        env=daemon.environment,
        cwd=daemon.project,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_a_locale_that_lacks_a_script_shows_its_code_points(daemon):
    daemon.write_note("user", "a.md", note("数据库备份 backup"))
    daemon.wait_until_read(1)
    result = run(
        [*COMMAND, "search", "backup"],
        env={**daemon.environment, "PYTHONIOENCODING": "ascii"},
        cwd=daemon.project,
        stdout=subprocess.PIPE,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert r"\u6570\u636e\u5e93\u5907\u4efd backup" in result.stdout


def test_a_current_folder_that_is_gone_is_said(daemon, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    result = run(
        ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *COMMAND, "list"],
        env=daemon.environment,
        cwd=gone,
        stdout=subprocess.PIPE,
    )
    assert result.returncode == 2
    assert "use --project" in result.stderr


# The demonstration ----------------------------------------------------------------------------------------


def processes_about(text: str) -> list[str]:
    """Command lines of running processes that mention ``text``."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if text in command:
                found.append(command)
    return found


def home_of_the_demo(output: str) -> Path | None:
    found = re.search(r"/tmp/memrecalld-demo-\w+", output)
    return Path(found[0]) if found else None


def test_the_demo_shows_a_whole_turn_and_leaves_nothing(bare, tmp_path):
    for _ in range(5):
        result = run([*COMMAND, "demo"], env=bare, cwd=tmp_path, stdout=subprocess.PIPE)
        assert (result.returncode, result.stderr) == (0, "")
        out = result.stdout
        if not TOO_BUSY.search(out) and "no note (" not in out:
            break
    assert "13 of a project, 7 of its user" in out
    assert "2 notes, chosen by the scorer, for the first prompt, after" in out
    assert "First tool result: " in out
    assert re.search(r"\d more notes?, chosen by the stand-in for a model, at a tool result:", out)
    assert "Outcome: delivered at a tool result." in out
    assert re.search(r"数据库怎么备份？\n +数据库备份", out)
    assert re.search(r"миграции\?\n +Миграции базы данных", out)
    assert re.search(r"Umsatzsteuer gerundet\?\n +Rechnungen und Umsatzsteuer", out)
    assert re.search(r"ok, go on\n +no note; the model was not asked", out)
    assert "Start the real daemon" in out
    home = home_of_the_demo(out)
    assert home is not None
    assert not home.exists()
    assert processes_about(str(home)) == []
    assert list(tmp_path.iterdir()) == [], "something was written outside of the demonstration's own home"


def test_the_demo_ends_with_commands_that_work_when_they_are_pasted(bare, tmp_path):
    result = run([*COMMAND, "demo"], env={**bare, "PATH": os.defpath}, cwd=tmp_path, stdout=subprocess.PIPE)
    assert result.returncode == 0
    shown = [line.strip() for line in result.stdout.partition("own notes:")[2].splitlines()]
    daemon, recall = (line for line in shown if line and not line.endswith(":"))
    assert recall.endswith(' recall "how do we deploy?"')
    for line in (daemon, recall.partition(" recall ")[0]):
        version = run(
            ["/bin/sh", "-c", f"{line} --version"],
            env={**bare, "PATH": os.defpath},
            cwd="/",
            stdout=subprocess.PIPE,
        )
        assert (version.returncode, version.stderr) == (0, "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_demo_that_is_stopped_leaves_nothing(bare, tmp_path, number, status):
    process = subprocess.Popen(
        [*COMMAND, "demo"], env=bare, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        home = None
        while home is None:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            home = home_of_the_demo(line)
        assert home.exists()
        assert processes_about(str(home))
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == status
    assert not home.exists()
    poll(lambda: processes_about(str(home)) == [], "the end of the private daemon")
