"""Whatever goes wrong, a hook neither fails nor takes long, and it speaks once."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memrecalld.hooks.process import EVENTS, LIFE_S, main
from tests.hooks.agent import HOST_WAIT_S, Agent
from tests.support.notes import note

HOSTS = pytest.mark.parametrize("host", ["claude", "qwen"])
FIELDS = {"prompt": "harbour crane", "tool_name": "grep", "source": "clear", "reason": "other"}

Event = dict[str, Any]
StartAgent = Callable[..., Agent]

DEAR = {
    "argparse",
    "asyncio",
    "contextlib",
    "dataclasses",
    "importlib.metadata",
    "logging",
    "memrecalld.cli",
    "memrecalld.config",
    "msgspec",
    "pathlib",
    "site",
    "tempfile",
    "typing",
}

BUSY_S = 5.0
"""What starting a process may take on a machine that runs the other tests."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A place for a socket; the paths of pytest's own folders are too long for one."""
    with tempfile.TemporaryDirectory(prefix="memrecalld-test-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def without_daemon(home: Path, runtime: Path) -> StartAgent:
    """Agents of a user without a daemon: ``without_daemon(host, **environment)``."""
    return lambda host, **environment: Agent(
        host, {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), **environment}, home
    )


@pytest.fixture
def listener(runtime: Path) -> Iterator[socket.socket]:
    """A socket where the daemon's should be, which nobody accepts from."""
    folder = runtime / "memrecalld"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "memrecalld.sock"))
        listening.listen(1)
        yield listening


def complaint(said: Event | None) -> str:
    """The cause that a hook names to its user."""
    assert said is not None and said.keys() == {"systemMessage"}
    found = re.fullmatch(r"No notes are recalled: (.*)\. See: \S*memrecall doctor", said["systemMessage"])
    assert found is not None, said
    return found[1]


@HOSTS
@pytest.mark.parametrize("event", EVENTS)
def test_without_a_daemon_a_hook_is_silent_and_starts_none(without_daemon, runtime, host, event):
    assert without_daemon(host).fire(event, **FIELDS) is None
    assert list(runtime.iterdir()) == []


@HOSTS
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"session_id": 3}',
        b'{"session_id": ""}',
        b'{"session_id": "s", "prompt": ["x"], "cwd": 7, "tool_name": {}, "agent_id": []}',
        b'{"session_id": "s", "cwd": "relative", "prompt": "x"}',
        b'{"session_id": "s", "prompt": "\\ud800", "cwd": "/\\u0000"}',
        b"\xff\xfe\xfa",
        b"[" * 200_000,
        b'{"session_id": "' + b"s" * 5_000_000 + b'"}',
    ],
)
def test_input_that_makes_no_sense_is_passed_over(shared_daemon, home, host, data):
    session = Agent(host, {**shared_daemon.environment, "XDG_STATE_HOME": str(home)}, shared_daemon.project)
    for event in ("UserPromptSubmit", "PostToolUse"):
        assert session.run(event, data) == (b"", b"")


def test_a_query_longer_than_a_message_is_passed_over(shared_daemon, home):
    session = Agent(
        "claude", {**shared_daemon.environment, "XDG_STATE_HOME": str(home)}, shared_daemon.project
    )
    assert session.prompt("crane " * 1_000_000) == ""


@pytest.mark.parametrize(
    "arguments",
    [[], ["Stop"], ["Stop", "--host"], ["Stop", "--host", "emacs"], ["Sleep", "--host", "qwen"], ["--help"]],
)
def test_a_hook_that_is_written_wrongly_explains_itself_and_blocks_nothing(capsys, arguments):
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "usage: memrecall hook EVENT --host claude|qwen\n")


@HOSTS
@pytest.mark.parametrize("event", EVENTS)
def test_a_daemon_that_accepts_and_never_answers_is_not_waited_for(without_daemon, listener, host, event):
    started = time.monotonic()
    assert without_daemon(host).fire(event, **FIELDS) is None
    assert time.monotonic() - started < LIFE_S + BUSY_S


def test_a_daemon_that_does_not_accept_is_not_waited_for(without_daemon, listener):
    with contextlib.ExitStack() as waiting:
        with pytest.raises(BlockingIOError):  # its queue is full
            for _ in range(16):
                each = waiting.enter_context(socket.socket(socket.AF_UNIX))
                each.setblocking(False)
                each.connect(listener.getsockname())
        started = time.monotonic()
        assert without_daemon("claude").prompt("harbour crane") == ""
        assert time.monotonic() - started < LIFE_S + BUSY_S


def test_a_daemon_that_speaks_another_language_is_passed_over(without_daemon, listener):
    with ThreadPoolExecutor() as pool:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n<html>" + b"x" * 5000)
                connection.recv(4096)

        pool.submit(answer)
        assert without_daemon("claude").prompt("harbour crane") == ""


def test_a_socket_of_somebody_else_is_told_nothing(without_daemon, runtime, listener):
    folder = runtime / "memrecalld"
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    else:
        folder.chmod(0o777)  # what only another user may do to ours, to our eyes
    assert without_daemon("claude").prompt("a secret of the harbour crane") == ""
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_an_agent_that_keeps_its_end_of_the_pipe_open_does_not_keep_the_process(without_daemon):
    session = without_daemon("qwen")
    command = session.command("UserPromptSubmit")
    with subprocess.Popen(
        ["sh", "-c", f"exec {command}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"session_id": "s", ')
        process.stdin.flush()
        assert process.wait(HOST_WAIT_S) == 0
        assert process.stdout is not None and process.stdout.read() == b""


def test_an_agent_that_reads_nothing_is_no_reason_to_fail(daemon):
    daemon.write_note("project", "n.md", note("Harbour crane"))
    daemon.wait_until_read(1)
    session = Agent("qwen", daemon.environment, daemon.project)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            ["sh", "-c", session.command("UserPromptSubmit")],
            input=json.dumps(session.input("UserPromptSubmit", prompt="harbour crane")).encode(),
            stdout=writing,
            stderr=subprocess.PIPE,
            env=daemon.environment,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_after_three_failures_in_a_row_claude_code_shows_one_line_with_the_cause(without_daemon, runtime):
    session = without_daemon("claude")
    said = [
        session.fire(event, **FIELDS) for event in ("UserPromptSubmit", "PostToolUse", "Stop", "Stop", "Stop")
    ]
    assert [bool(each) for each in said] == [False, False, True, False, False]
    assert complaint(said[2]).startswith(
        f"no memrecalld serves {runtime}/memrecalld/memrecalld.sock; start it: "
    )


def test_a_socket_path_that_is_too_long_is_named_as_the_cause(without_daemon):
    session = without_daemon("claude", MEMRECALLD_SOCKET=f"/tmp/{'x' * 110}/sock")
    said = [session.fire("Stop", **FIELDS) for _ in range(3)]
    assert "longer than 107 bytes" in complaint(said[2])


def test_qwen_code_shows_it_with_the_event_at_which_it_shows_anything(without_daemon):
    session = without_daemon("qwen")
    events = [
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUse",
        "PostToolUse",
        "Stop",
        "UserPromptSubmit",
        "Stop",
    ]
    said = [session.fire(event, **FIELDS) for event in events]
    assert [bool(each) for each in said] == [False] * 4 + [True] + [False] * 2
    assert complaint(said[4])


@pytest.mark.parametrize(
    ("queue", "cause"),
    [(1, "the daemon takes no connections for 0.3 s"), (8, "memrecalld does not answer")],
)
def test_a_daemon_that_hangs_is_complained_of_as_one_that_is_not_there(
    without_daemon, listener, queue, cause
):
    listener.listen(queue)
    session = without_daemon("qwen")
    events = ["UserPromptSubmit", "PostToolUse", "Stop"]
    said = [session.fire(event, **FIELDS) for event in events]
    assert said[:2] == [None, None]
    assert complaint(said[2]) == cause


@pytest.mark.parametrize("event", EVENTS)
def test_an_answer_ends_the_row(without_daemon, shared_daemon, home, event):
    state = {"XDG_STATE_HOME": str(home / "state")}
    without = without_daemon("claude", **state)
    answered = Agent("claude", {**shared_daemon.environment, **state}, shared_daemon.project, event)
    answered.be_patient()
    assert [without.fire("PostToolUse", **FIELDS) for _ in range(2)] == [None, None]
    assert answered.fire(event, **FIELDS) is None
    said = [without.fire("PostToolUse", **FIELDS) for _ in range(4)]
    assert [bool(each) for each in said] == [False, False, True, False]


def test_processes_that_fail_at_once_complain_once(without_daemon):
    session = without_daemon("claude")
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: session.fire("PostToolUse", **FIELDS), range(16)))
    [told] = [each for each in said if each]
    assert complaint(told)


def test_nothing_of_the_session_is_kept_with_the_failures(without_daemon, home):
    without_daemon("claude").prompt("a secret of the harbour crane")
    [state] = (home / ".local/state/memrecalld").iterdir()
    assert (state.read_bytes(), state.stat().st_mode & 0o777) == (b"f", 0o600)


@pytest.mark.parametrize("state", ["/proc/self/status", "/proc"])
def test_a_place_for_state_that_is_of_no_use_costs_no_memory(daemon, state):
    daemon.write_note("project", "n.md", note("Harbour crane"))
    daemon.wait_until_read(1)
    session = Agent("qwen", {**daemon.environment, "XDG_STATE_HOME": state}, daemon.project)
    assert "# Harbour crane" in session.prompt_with_memory("harbour crane")


def test_a_user_without_a_place_for_state_hears_nothing(without_daemon, home):
    (home / ".local").write_text("a file")
    session = without_daemon("claude")
    assert [session.fire("PostToolUse", **FIELDS) for _ in range(4)] == [None] * 4


def test_the_process_imports_little(home):
    """What it must do without costs more than all the rest of it."""
    run = str(Path(__file__).parents[2] / "memrecalld" / "hooks" / "run.py")
    script = f"""
import sys, os
really = os._exit
def leave(status):
    print(*sorted(sys.modules), flush=True)
    really(status)
os._exit = leave
sys.argv = ["run.py", "UserPromptSubmit", "--host", "claude"]
exec(compile(open({run!r}).read(), {run!r}, "exec"), {{"__file__": {run!r}}})
"""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        input=b'{"session_id": "s", "prompt": "x", "cwd": "/"}',
        capture_output=True,
        env={"HOME": str(home), "XDG_RUNTIME_DIR": str(home)},
        check=True,
    )
    loaded = set(ended.stdout.decode().split())
    assert "memrecalld.client.sync" in loaded
    assert not loaded & DEAR
