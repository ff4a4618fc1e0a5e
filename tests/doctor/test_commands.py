"""``memrecall doctor`` and ``memrecall logs`` as a person runs them, with a real daemon and without one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memrecalld.cli import main
from memrecalld.client import Client
from tests.doctor.conftest import User
from tests.support.daemon import REPOSITORY, DaemonProcess
from tests.support.notes import note
from tests.support.polling import poll

WORD = "mangosteen"


@pytest.fixture
def served(shared_daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch) -> DaemonProcess:
    """A daemon, and this process in its user's environment."""
    for name, value in shared_daemon.environment.items():
        monkeypatch.setenv(name, value)
    shared_daemon.write_note("project", "deploy.md", note(f"Deploy {WORD}", WORD, WORD))
    monkeypatch.chdir(shared_daemon.project)
    return shared_daemon


@pytest.fixture
def alone(user: User, monkeypatch: pytest.MonkeyPatch) -> User:
    """No daemon, and this process in the user's environment."""
    for name, value in user.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(user.project)
    return user


def test_a_service_in_order_is_examined_with_status_0(
    served: DaemonProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["doctor"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, ""), out
    assert f"answers on {served.socket} (process {served.pid}" in out
    assert f"1 note in {served.project_notes} (project notes, native)" in out
    assert "ERROR" not in out
    assert WORD not in out


def test_what_is_wrong_gives_status_1_and_stands_under_its_family_with_the_fix(
    served: DaemonProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = served.home / "cache" / "memrecalld"
    cache.chmod(0o777)
    try:
        assert main(["doctor", "--project", str(served.project)]) == 1
    finally:
        cache.chmod(0o700)
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f"  ERROR    {cache} is open to others (mode 0777)")
    assert lines[at + 1] == f"           -> chmod 700 {cache}"
    assert lines[at - 1] == "permissions"
    assert lines[-1].startswith("1 error")


def test_json_holds_every_finding(served: DaemonProcess, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["worst"] in {"ok", "hint"}
    checks = list(dict.fromkeys(finding["check"] for finding in answer["findings"]))
    assert checks == [
        "system",
        "configuration",
        "permissions",
        "unit",
        "daemon",
        "selector",
        "notes",
        "hooks",
    ]
    assert {finding["severity"] for finding in answer["findings"]} <= {"ok", "hint"}


def test_a_daemon_of_another_version_is_a_warning(
    served: DaemonProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrecalld.__version__", "99.0")
    assert main(["doctor"]) == 1
    assert "and this command version 99.0" in capsys.readouterr().out


def test_without_a_daemon_the_rest_is_examined_all_the_same(
    alone: User, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "ERROR" in out
    assert "does not exist yet" in out
    assert main(["doctor", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["worst"] == "error"


def test_without_a_home_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMRECALLD_SOCKET", "relative")
    assert main(["doctor"]) == 2
    assert "absolute" in capsys.readouterr().err


def test_status_shows_how_healthy_the_daemon_is(
    served: DaemonProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["status"]) == 0
    assert re.search(r"^health +ok$", capsys.readouterr().out, re.MULTILINE)
    ask = Client.status

    def degraded(client: Client, **params: Any) -> Any:
        return ask(client, **params) | {
            "health": {"state": "degraded", "reasons": ["cache-off", "events-off"]}
        }

    monkeypatch.setattr(Client, "status", degraded)
    assert main(["status"]) == 0
    assert re.search(
        r"^health +degraded: cache-off, events-off \(.*memrecall doctor", capsys.readouterr().out, re.M
    )
    assert main(["doctor"]) == 1
    assert "sysctl fs.inotify" in capsys.readouterr().out

    def of_an_earlier_version(client: Client, **params: Any) -> Any:
        return {name: value for name, value in ask(client, **params).items() if name != "health"}

    monkeypatch.setattr(Client, "status", of_an_earlier_version)
    assert main(["status"]) == 0
    assert re.search(r"^health +not told", capsys.readouterr().out, re.MULTILINE)
    assert main(["doctor"]) == 0


# Logs -------------------------------------------------------------------------------------------------------


def programs(user: User, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """Programs that a shell finds first."""
    folder = user.home / "bin"
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def unit(state: str, loaded: str = "loaded") -> str:
    return f"printf 'Id=memrecalld.service\\nLoadState={loaded}\\nActiveState={state}\\n'"


def log_of(user: User, text: str) -> Path:
    user.state.mkdir(parents=True)
    file = user.state / "daemon.log"
    file.write_text(text, encoding="ascii")
    return file


def test_the_last_lines_of_the_log_file_are_shown(alone: User, capfd: pytest.CaptureFixture[str]) -> None:
    log_of(alone, "".join(f"line {number}\n" for number in range(100)))
    assert main(["logs"]) == 0
    assert capfd.readouterr().out.splitlines() == [f"line {number}" for number in range(50, 100)]
    assert main(["logs", "-n", "2"]) == 0
    assert capfd.readouterr().out == "line 98\nline 99\n"


def test_the_journal_is_shown_where_the_daemon_is_a_unit(
    alone: User, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log_of(alone, "of the file\n")
    programs(alone, monkeypatch, systemctl=unit("active"), journalctl='echo "$@"')
    assert main(["logs", "-n", "7", "-f"]) == 0
    assert capfd.readouterr().out == "--user --unit=memrecalld.service --no-pager --lines=7 --follow\n"


def test_a_unit_that_does_not_run_leaves_the_log_file_to_be_shown(
    alone: User, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    programs(alone, monkeypatch, systemctl=unit("inactive"), journalctl="echo of the journal")
    assert main(["logs"]) == 0
    assert capfd.readouterr().out == "of the journal\n"
    log_of(alone, "of the file\n")
    assert main(["logs"]) == 0
    assert capfd.readouterr().out == "of the file\n"


def test_where_there_is_no_log_it_says_so(
    alone: User, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    programs(alone, monkeypatch, systemctl=unit("inactive", "not-found"))
    assert main(["logs"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert str(alone.state / "daemon.log") in err
    assert "memrecalld.service" in err


def test_a_log_that_is_followed_shows_what_comes_until_it_is_interrupted(alone: User) -> None:
    file = log_of(alone, "before\n")
    command = [sys.executable, "-m", "memrecalld.cli", "logs", "--follow"]
    environ = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    shown = alone.home / "shown"
    with shown.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, env=environ, start_new_session=True)
    try:
        poll(lambda: "before" in shown.read_text(encoding="ascii"), "the log was shown")
        with file.open("a", encoding="ascii") as log:
            log.write("after\n")
        poll(lambda: shown.read_text(encoding="ascii") == "before\nafter\n", "what came was shown")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize("lines", ["-1", "x", "1.5", ""])
def test_a_wrong_number_of_lines_is_a_wrong_usage(lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", f"--lines={lines}"]) == 2
    assert "a number of lines" in capsys.readouterr().err
