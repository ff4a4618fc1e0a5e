"""What a daemon makes is its user's alone, and what others could have laid out for it is refused.

Needs root, to be another user as well.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.client import Client
from memrecalld.database import make_private_directory
from tests.conftest import ConnectWire
from tests.support.daemon import REPOSITORY, DaemonProcess
from tests.support.notes import note

NOBODY = 65534
FAILED_START = 3


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    """A daemon that is not started yet, and has made nothing."""
    daemon = DaemonProcess(tmp_path / "home")
    yield daemon
    daemon.stop()
    shutil.rmtree(daemon.runtime, ignore_errors=True)


def modes(*folders: Path) -> dict[str, str]:
    """Of these folders and everything in them, by path: kind and permissions as ``ls`` shows them."""
    return {
        str(path.relative_to(folder.parent)): stat.filemode(path.lstat().st_mode)
        for folder in folders
        for path in (folder, *folder.rglob("*"))
    }


def test_everything_that_is_made_is_private_whatever_the_umask(daemon: DaemonProcess) -> None:
    daemon.write_note("project", "crane.md", note("Harbour crane", "crane deploy"))
    state, cache = daemon.home / "state", daemon.home / "cache"
    before = os.umask(0)
    try:
        daemon.start("--log-level", "debug", "--log-file", str(state / "memrecalld" / "daemon.log"))
    finally:
        os.umask(before)
    daemon.wait_until_read(1)
    with Client.connect(str(daemon.socket)) as client:
        client.start("harbour crane", session_id="s", project_root=daemon.project).end()
        files = [
            "cache/memrecalld/notes.sqlite",
            "cache/memrecalld/notes.sqlite-shm",
            "cache/memrecalld/notes.sqlite-wal",
            "memrecalld/memrecalld.sock.lock",
            "state/memrecalld/daemon.log",
            "state/memrecalld/sessions.sqlite",
            "state/memrecalld/sessions.sqlite-shm",
            "state/memrecalld/sessions.sqlite-wal",
        ]
        assert modes(state, cache, daemon.socket.parent) == {
            **dict.fromkeys(
                ("cache", "cache/memrecalld", "memrecalld", "state", "state/memrecalld"), "drwx------"
            ),
            **dict.fromkeys(files, "-rw-------"),
            "memrecalld/memrecalld.sock": "srw-------",
        }


def test_directories_above_are_private_too_where_they_are_made(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private_directory(tmp_path / "a" / "b" / "memrecalld")
    finally:
        os.umask(before)
    assert set(modes(tmp_path / "a").values()) == {"drwx------"}


# Others -----------------------------------------------------------------------------------------------------

CONNECT_AS = """
import os, socket, sys
uid, path = int(sys.argv[1]), sys.argv[2]
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
body = b'{"jsonrpc":"2.0","id":1,"method":"memory/list","params":{}}'
with socket.socket(socket.AF_UNIX) as client:
    client.settimeout(60)
    try:
        client.connect(path)
        client.sendall(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
        print("answered" if client.recv(65536) else "closed")
    except PermissionError:
        print("not let in")
    except (BrokenPipeError, ConnectionResetError):
        print("closed")
"""


def connect_as(uid: int, path: Path) -> str:
    """What becomes of a request that another user's process sends."""
    command = [sys.executable, "-c", CONNECT_AS, str(uid), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


async def test_another_user_is_refused_even_with_modes_loosened_by_hand(
    daemon: DaemonProcess, connect_wire: ConnectWire
) -> None:
    daemon.write_note("user", "mine.md", note("Mine", "mine"))
    daemon.start()
    assert connect_as(NOBODY, daemon.socket) == "not let in"
    daemon.runtime.chmod(0o755)
    daemon.socket.parent.chmod(0o777)
    daemon.socket.chmod(0o666)
    assert connect_as(NOBODY, daemon.socket) == "closed"
    assert connect_as(os.geteuid(), daemon.socket) == "answered"
    client = await connect_wire(daemon)
    assert [each["title"] for each in (await client.call("memory/list"))["documents"]] == ["Mine"]


# Places that are refused ------------------------------------------------------------------------------------


def refusal(daemon: DaemonProcess) -> str:
    """What a daemon says that does not start."""
    command = [sys.executable, "-m", "memrecalld.server.main", "--socket", str(daemon.socket)]
    done = subprocess.run(
        command,
        env=daemon.environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == FAILED_START, done.stderr
    return done.stderr


def test_a_socket_directory_that_is_open_to_others_is_refused_until_the_command_given_is_run(
    daemon: DaemonProcess,
) -> None:
    daemon.socket.parent.mkdir()
    daemon.socket.parent.chmod(0o777)
    command = mending(refusal(daemon))
    assert command == ["chmod", "700", str(daemon.socket.parent)]
    subprocess.run(command, check=True)
    daemon.start()


def test_a_socket_directory_that_is_a_link_is_refused_until_the_command_given_is_run(
    daemon: DaemonProcess,
) -> None:
    elsewhere = daemon.runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    daemon.socket.parent.symlink_to(elsewhere)
    command = mending(refusal(daemon))
    assert command == ["rm", str(daemon.socket.parent)]
    subprocess.run(command, check=True)
    daemon.start()
    assert list(elsewhere.iterdir()) == []


def test_a_socket_directory_of_another_user_is_refused_and_left_as_it_is(daemon: DaemonProcess) -> None:
    daemon.socket.parent.mkdir(mode=0o700)
    os.chown(daemon.socket.parent, NOBODY, NOBODY)
    said = refusal(daemon)
    assert f"belongs to user {NOBODY}" in said
    assert "--socket" in said
    assert list(daemon.socket.parent.iterdir()) == []


def mending(said: str) -> list[str]:
    """The command in what was said."""
    found = re.search(r"(?:chmod 700|rm) \S+", said)
    assert found is not None, said
    return found[0].split()


@pytest.mark.parametrize(
    ("cache", "state", "said"),
    [
        ("open", "link", ["chmod 700", "link or no directory"]),
        ("foreign", "open", ["another user", "chmod 700"]),
    ],
)
def test_directories_that_others_could_have_made_are_not_used_and_recall_goes_on(
    daemon: DaemonProcess, cache: str, state: str, said: list[str]
) -> None:
    elsewhere = daemon.home / "elsewhere"
    elsewhere.mkdir()
    folders = {name: daemon.home / name / "memrecalld" for name in ("cache", "state")}
    for name, kind in (("cache", cache), ("state", state)):
        folder = folders[name]
        folder.parent.mkdir()
        match kind:
            case "link":
                folder.symlink_to(elsewhere)
            case "open":
                folder.mkdir()
                folder.chmod(0o777)
            case _:
                folder.mkdir(mode=0o700)
                os.chown(folder, NOBODY, NOBODY)
    daemon.write_note("user", "mine.md", note("Mine", "mine"))
    daemon.start()
    with Client.connect(str(daemon.socket)) as client:
        assert [each["title"] for each in client.list()] == ["Mine"]
        assert client.status()["health"]["reasons"] == ["state-in-memory", "cache-off"]
    lines = [line for line in daemon.log().splitlines() if "cannot be used" in line]
    assert len(lines) == 2
    assert all(any(each in line for line in lines) for each in said)
    assert [list(folder.iterdir()) for folder in (elsewhere, *folders.values())] == [[], [], []]


def test_databases_loosened_by_hand_are_closed_again_and_one_of_another_user_is_not_used(
    daemon: DaemonProcess,
) -> None:
    daemon.start()
    daemon.stop()
    notes, sessions = (
        daemon.home / "cache" / "memrecalld" / "notes.sqlite",
        daemon.home / "state" / "memrecalld" / "sessions.sqlite",
    )
    notes.chmod(0o666)
    os.chown(sessions, NOBODY, NOBODY)
    before = sessions.read_bytes()
    daemon.start()
    assert stat.S_IMODE(notes.stat().st_mode) == 0o600
    with Client.connect(str(daemon.socket)) as client:
        assert client.status()["health"]["reasons"] == ["state-in-memory"]
    daemon.stop()
    assert sessions.read_bytes() == before
