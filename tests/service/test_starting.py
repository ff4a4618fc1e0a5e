"""A command that finds no daemon starts one, which outlives it; a hook does not."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.cli import starting
from memrecalld.client import Client
from memrecalld.logfile import LogFile
from memrecalld.programs import shown
from tests.support.daemon import START_S, DaemonProcess
from tests.support.polling import poll

COMMAND = [sys.executable, "-m", "memrecalld.cli"]


@pytest.fixture
def place(tmp_path) -> Iterator[DaemonProcess]:
    """A home without a daemon; one that was started meanwhile is stopped."""
    place = DaemonProcess(tmp_path / "home")
    try:
        yield place
    finally:
        with contextlib.suppress(Exception), Client.connect(str(place.socket)) as client:
            os.kill(client.status()["pid"], signal.SIGTERM)
            poll(lambda: not place.socket.exists(), "the daemon ends")
        place.close()


def memrecall(place, *arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments],
        env=place.environment,
        cwd=place.project,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
        **options,
    )


def log_file(place):
    return place.home / "state" / "memrecalld" / "daemon.log"


def test_the_first_command_starts_a_daemon_of_its_own_session_and_the_next_ones_use_it(place):
    first = memrecall(place, "list")
    assert (first.returncode, first.stdout) == (0, "There are no notes yet.\n")
    said = re.fullmatch(r"memrecall: started memrecalld, process (\d+); it logs to (.*)\n", first.stderr)
    pid = int(said[1])
    assert Path(said[2]) == log_file(place)
    assert log_file(place).stat().st_mode & 0o777 == 0o600
    assert os.getsid(pid) == pid != os.getsid(0)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    streams = [os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)]
    assert streams == [os.devnull, said[2], said[2]]
    second = memrecall(place, "search", "deploy")
    assert (second.returncode, second.stderr) == (0, "")
    assert json.loads(memrecall(place, "status", "--json").stdout)["pid"] == pid
    assert starting.start(str(place.socket), place.environment) == starting.Running(pid)

    # What it reports is in the log, with the time.
    place.configure("nonsense")
    os.kill(pid, signal.SIGHUP)
    poll(lambda: "stays as it was" in log_file(place).read_text(encoding="utf-8"), "the report")
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", log_file(place).read_text(encoding="utf-8"))


def test_commands_that_start_at_once_are_served_by_one_daemon(place):
    running = [
        subprocess.Popen([*COMMAND, "list"], env=place.environment, cwd=place.project, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=START_S)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert sorted(bool(each) for each in said) == [False, False, True]


def test_with_no_start_none_is_started(place):
    refused = memrecall(place, "search", "deploy", "--no-start")
    assert refused.returncode == 3
    assert f"start it: {shown('memrecalld')}" in refused.stderr
    assert not place.socket.parent.exists()


def test_asking_for_the_status_and_a_hook_start_none(place):
    assert memrecall(place, "status").returncode == 3
    event = json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "deploy"})
    hook = memrecall(place, "hook", "UserPromptSubmit", "--host", "claude", input=event)
    assert (hook.returncode, hook.stdout) == (0, "")
    assert not place.socket.parent.exists()


def test_a_daemon_that_cannot_start_is_a_failure_with_its_reason(place):
    place.configure("[memory]\nlayout = []\n")
    refused = memrecall(place, "list")
    assert refused.returncode == 3
    assert (
        "memory.layouts" in refused.stderr and shown(f"memrecalld --socket {place.socket}") in refused.stderr
    )
    assert not place.socket.exists()


def test_a_folder_that_others_may_enter_is_a_failure_with_the_chmod(place):
    place.socket.parent.mkdir()
    place.socket.parent.chmod(0o755)
    refused = memrecall(place, "list")
    assert refused.returncode == 3
    assert f"chmod 700 {place.socket.parent}" in refused.stderr


def test_one_that_does_not_serve_in_time_is_ended(place, monkeypatch):
    sleeper = place.home / "memrecalld"
    sleeper.write_text("#!/bin/sh\nexec sleep 600\n", encoding="ascii")
    sleeper.chmod(0o755)
    monkeypatch.setattr(starting, "program", lambda _: [str(sleeper)])
    answer = starting.start(str(place.socket), place.environment, within_s=0.2)
    assert isinstance(answer, starting.Failed)
    # A log that is not there is not named.
    assert answer.next_step == f"run it in a terminal: {shown(f'memrecalld --socket {place.socket}')}"
    LogFile.open(log_file(place)).close()
    answer = starting.start(str(place.socket), place.environment, within_s=0.2)
    assert isinstance(answer, starting.Failed)
    assert answer.next_step == f"see {log_file(place)}"


def test_a_program_that_is_not_there_is_a_failure(place, monkeypatch):
    monkeypatch.setattr(starting, "program", lambda _: ["/nowhere/memrecalld"])
    answer = starting.start(str(place.socket), place.environment)
    assert isinstance(answer, starting.Failed)
    assert "cannot be run" in answer.reason


def test_without_a_usable_log_file_the_daemon_serves_and_the_command_says_why_there_is_none(place):
    log_file(place).parent.mkdir(parents=True)
    log_file(place).symlink_to(place.home / "elsewhere")
    started = memrecall(place, "list")
    assert started.returncode == 0
    assert not (place.home / "elsewhere").exists()
    assert re.fullmatch(
        rf"memrecall: started memrecalld, process \d+; no log file: {re.escape(str(log_file(place)))} "
        rf"cannot be used: {os.strerror(errno.ELOOP)}: {re.escape(shown('memrecall doctor'))} names it\n",
        started.stderr,
    )
    doctor = memrecall(place, "doctor")
    assert f"{log_file(place)} is a link" in doctor.stdout


def test_a_folder_that_is_not_this_users_alone_is_said_to_be_the_reason_for_no_log(place):
    log_file(place).parent.mkdir(parents=True)
    log_file(place).parent.chmod(0o777)
    started = memrecall(place, "list")
    assert started.returncode == 0
    assert "it logs to" not in started.stderr and "no log file" in started.stderr
    assert "chmod 700" in started.stderr


def test_a_place_where_no_folder_can_be_made_is_said_to_be_the_reason_for_no_log(place):
    (place.home / "state").write_text("a file where the folder should be", encoding="ascii")
    started = memrecall(place, "list")
    assert started.returncode == 0
    assert "it logs to" not in started.stderr and "no log file" in started.stderr
    doctor = memrecall(place, "doctor")
    assert f"{place.home / 'state'} is no directory" in doctor.stdout
    (place.home / "state").unlink()
