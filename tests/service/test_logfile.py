"""The log of a daemon that a command started: private, and of bounded size."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys

import pytest

from memrecalld.logfile import MAX_BYTES, LogFile
from memrecalld.server import faults
from tests.support.daemon import START_S, STOP_S, DaemonProcess
from tests.support.polling import poll


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "daemon.log"


def say(log, text):
    log.handle(logging.LogRecord("memrecalld", logging.WARNING, "", 0, text, None, None))


def test_folder_and_file_are_private_whatever_the_umask(path):
    before = os.umask(0)
    try:
        log = LogFile.open(path)
    finally:
        os.umask(before)
    say(log, "one")
    log.close()
    assert [each.stat().st_mode & 0o777 for each in (path.parent, path)] == [0o700, 0o600]
    assert path.read_text(encoding="utf-8") == "one\n"


def test_a_file_that_others_could_read_is_closed_to_them(path):
    path.parent.mkdir(mode=0o700)
    path.write_text("before\n", encoding="utf-8")
    path.chmod(0o666)
    LogFile.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text(encoding="utf-8") == "before\n"


def test_it_never_grows_beyond_its_bound_and_one_former_file(path):
    log = LogFile.open(path)
    line = "x" * 10_000
    for _ in range(5 * MAX_BYTES // len(line)):
        say(log, line)
    log.close()
    files = {each.name: each.stat() for each in path.parent.iterdir()}
    assert sorted(files) == ["daemon.log", "daemon.log.1"]
    assert all(0 < each.st_size <= MAX_BYTES and each.st_mode & 0o777 == 0o600 for each in files.values())


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_written_to(path, kind, capsys):
    path.parent.mkdir(mode=0o700)
    target = path.with_name("target")
    match kind:
        case "link":
            path.symlink_to(target)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    assert LogFile.open(path) is None
    assert "no log file" in capsys.readouterr().err
    assert not target.exists()


def test_a_folder_that_others_may_write_to_is_refused(path, capsys):
    path.parent.mkdir()
    path.parent.chmod(0o777)
    assert LogFile.open(path) is None
    assert "chmod 700" in capsys.readouterr().err


def test_what_the_interpreter_itself_says_is_there_too_and_after_the_file_was_changed(path):
    program = (
        "import logging, os, pathlib, sys\n"
        "from memrecalld.logfile import LogFile, MAX_BYTES\n"
        f"log = LogFile.open(pathlib.Path({str(path)!r}))\n"
        "log.take_standard_streams()\n"
        "record = logging.LogRecord('m', 30, '', 0, 'x' * (MAX_BYTES // 2), None, None)\n"
        "log.handle(record), log.handle(record)\n"
        "os.write(1, b'out\\n'), os.write(2, b'err\\n')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=START_S, cwd=os.getcwd())
    assert path.read_text(encoding="utf-8").endswith("x\nout\nerr\n")
    assert path.with_name("daemon.log.1").exists()


# The journal -----------------------------------------------------------------------------------------------


def test_a_line_for_the_journal_begins_with_its_level_and_no_other_does():
    record = logging.LogRecord("memrecalld", logging.WARNING, "", 0, "text", None, None)
    assert faults.Formatter(journal=True).format(record) == "<4>WARNING memrecalld: text"
    assert faults.Formatter().format(record) == "WARNING memrecalld: text"


def test_the_journal_is_the_stream_that_systemd_names_and_not_one_inherited(tmp_path):
    with (tmp_path / "stream").open("w") as stream:
        found = os.fstat(stream.fileno())
        named = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
        assert faults.is_journal(stream.fileno(), named)
        assert not faults.is_journal(2, named)
        assert not faults.is_journal(stream.fileno(), {})
    assert not faults.is_journal(-1, named)


# The terminal that a daemon without a log file was started in ----------------------------------------------

IN_A_TERMINAL = """
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-m", "memrecalld.server.main"])
print(pid, flush=True)
sys.stdin.read()
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_hang_up_reloads_while_there_is_a_terminal_and_stops_when_that_is_gone(tmp_path):
    place = DaemonProcess(tmp_path / "home")
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL],
        env=place.environment,
        cwd=place.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        pid = int(process.stdout.readline())
        poll(place.serves, "the daemon serves")
        os.kill(pid, signal.SIGHUP)
        poll(place.serves, "it still serves")
        out, _ = process.communicate(timeout=STOP_S)
        assert out == "0\n"
        assert not place.socket.exists()
    finally:
        process.kill()
        process.wait()
        place.close()
