"""The system fails in all the ways it can: the rest is right and in time, and the reason is counted."""

from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrecalld.client import Client, ResponseError
from tests.robustness.messages import notification, request, take_messages
from tests.support.daemon import REPOSITORY, DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.wire import WAIT_S

FAULTS = Path(__file__).with_name("faults")
CEILING_MS = 100.0
ATTEMPTS = 20
"""A busy machine may be late with an answer now and then, a fault makes it late each time."""

_sessions = itertools.count()
DAY_S = 86_400


class Faulty:
    """A daemon, the faults around it, and a project for each test."""

    def __init__(self, home: Path) -> None:
        self._orders = home.with_name("faults.json")
        self.order()
        environment = {"PYTHONPATH": f"{FAULTS}:{REPOSITORY}", "FAULTS": str(self._orders)}
        self.daemon = DaemonProcess(home, "", environment)

    def order(self, *calls: dict[str, Any], clock_s: int = 0) -> None:
        """From now on these calls fail, and the clock is wrong by so much."""
        written = self._orders.with_suffix(".new")
        written.write_text(json.dumps({"calls": calls, "clock_s": clock_s}), encoding="ascii")
        os.utime(written, ns=(0, time.monotonic_ns()))
        written.replace(self._orders)

    def project(self, name: str, **notes: str) -> Path:
        """A project with these notes, read and indexed."""
        root = self.daemon.home / name
        make_repository(root)
        for title, description in notes.items():
            self.write(root, title, description)
        with Client.connect(str(self.daemon.socket)) as client:
            assert len(client.list(project_root=root)) == len(notes)
        return root

    def write(self, root: Path, title: str, description: str) -> Path:
        """Write a note of a project."""
        path = self.daemon.notes_of(root) / f"{title}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(title, description), encoding="utf-8")
        return path

    def recalled(
        self, root: Path, query: str, session: str | None = None, *, whole: bool = True
    ) -> list[str]:
        """Titles of a recall that came in time, and of the ``whole`` of the notes.

        Any other is cancelled, which gives back what the session got.
        """
        params = {
            "sessionId": session or f"faults {next(_sessions)}",
            "query": query,
            "projectRoot": str(root),
        }
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(WAIT_S)
            raw.connect(str(self.daemon.socket))
            arrived = bytearray()
            for number in range(ATTEMPTS):
                began = time.monotonic()
                raw.sendall(request(number, "recall/start", **params))
                fast = _fast(raw, arrived, number)
                in_time = (time.monotonic() - began) * 1e3 < CEILING_MS
                if in_time and not (whole and fast["partial"]):
                    delivery = fast["delivery"] or {"documents": []}
                    return sorted(each["title"] for each in delivery["documents"])
                raw.sendall(notification("$/cancelRequest", id=number))
        raise AssertionError("no recall comes in time")

    def searched(self, root: Path, query: str) -> list[str]:
        """Titles of what a search finds."""
        with Client.connect(str(self.daemon.socket)) as client:
            return sorted(each["title"] for each in client.search(query, project_root=root))

    def skipped(self, root: Path) -> dict[str, str]:
        """What was left out of a project's folders: names and reasons."""
        with Client.connect(str(self.daemon.socket)) as client:
            project = client.status(project_root=root)["project"]
            return {Path(each["path"]).name: each["reason"] for each in project["skipped"]}

    def counter(self, name: str) -> int:
        """A counter of the daemon's status."""
        with Client.connect(str(self.daemon.socket)) as client:
            return client.status()["counters"].get(name, 0)


def _fast(raw: socket.socket, arrived: bytearray, request_id: int) -> dict[str, Any]:
    """What is read of the first prompt of a request."""
    while True:
        for message in take_messages(arrived):
            if message.get("method") == "recall/fast" and message["params"]["requestId"] == request_id:
                fast: dict[str, Any] = message["params"]
                return fast
        data = raw.recv(1 << 16)
        assert data, "the daemon has closed the connection"
        arrived += data


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    """A daemon around which nothing is faulty yet."""
    world = Faulty(tmp_path_factory.mktemp("faulty") / "home")
    try:
        world.daemon.start()
        yield world
    finally:
        world.order()
        world.daemon.close()


@pytest.fixture(autouse=True)
def all_well_at_the_end(faulty: Faulty) -> Iterator[None]:
    """No fault of one test is there in the next."""
    yield
    faulty.order()


# Notes and folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errno.EACCES, "unreadable"),
        (errno.EIO, "io-error"),
        (errno.ENOENT, "vanished"),
        (errno.ESTALE, "moved"),
    ],
    ids=errno.errorcode.get,
)
def test_a_note_that_cannot_be_read_is_left_out_alone_and_counted(faulty, error, reason):
    root = faulty.project(f"note-{error}", good="about the walrus")
    faulty.order({"part": "bad-note", "errno": error})
    faulty.write(root, "bad-note", "about the walrus")
    assert faulty.recalled(root, "walrus") == ["good"]
    assert faulty.skipped(root) == {"bad-note.md": reason}
    with Client.connect(str(faulty.daemon.socket)) as client:
        assert client.status()["skipped"][reason] >= 1
    faulty.order()
    faulty.write(root, "bad-note", "about the walrus again")
    assert faulty.recalled(root, "walrus") == ["bad-note", "good"]


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE], ids=errno.errorcode.get)
def test_without_descriptors_a_project_says_so_and_nothing_of_it_is_forgotten(faulty, error):
    root = faulty.project(f"descriptors-{error}", known="about the walrus")
    fine = faulty.project(f"fine-{error}", fine="about the walrus")
    faulty.order({"part": f"{faulty.daemon.notes_of(root).name}/", "errno": error})
    faulty.write(root, "later", "about the walrus")
    with pytest.raises(ResponseError, match="no-descriptors"):
        faulty.searched(root, "walrus")
    assert faulty.recalled(fine, "walrus") == ["fine"]
    faulty.order()
    assert faulty.recalled(root, "walrus") == ["known", "later"]


def test_a_folder_that_vanishes_or_is_replaced_is_what_it_is_at_the_next_recall(faulty):
    root = faulty.project("replaced", old="about the walrus")
    notes = faulty.daemon.notes_of(root)
    notes.rename(notes.with_name("elsewhere"))
    assert faulty.recalled(root, "walrus") == []
    faulty.write(root, "new", "about the walrus")
    assert faulty.recalled(root, "walrus") == ["new"]
    shutil.rmtree(notes)
    notes.with_name("elsewhere").rename(notes)
    assert faulty.recalled(root, "walrus") == ["old"]
    shutil.rmtree(notes)
    notes.write_text("a file in its place", encoding="ascii")
    with pytest.raises(ResponseError, match="not-a-directory"):
        faulty.searched(root, "walrus")
    notes.unlink()
    assert faulty.recalled(root, "walrus") == []


def test_a_file_system_that_does_not_answer_holds_up_its_own_notes_only(faulty):
    slow = faulty.project("slow", slow="about the walrus")
    fine = faulty.project("fine", fine="about the walrus")
    notes = faulty.daemon.notes_of(slow)
    stalled = notes / "stalled"
    stalled.mkdir()
    faulty.order({"part": f"{notes.name}/stalled", "seconds": 10})
    began = time.monotonic()
    (stalled / "new.md").write_text(note("new", "about the walrus"), encoding="utf-8")
    # The folder with the stalled part gives what was known of it; the other does not even notice.
    assert "slow" in faulty.recalled(slow, "walrus", whole=False)
    assert faulty.recalled(fine, "walrus") == ["fine"]
    faulty.write(fine, "finer", "about the walrus")
    assert faulty.recalled(fine, "walrus") == ["fine", "finer"]
    assert time.monotonic() - began < 10, "everything waited for the file system"


# Descriptors and connections ------------------------------------------------------------------------


def said_to_a_newcomer(daemon: DaemonProcess) -> list[dict[str, Any]]:
    """What a client that connects now gets before the connection is closed."""
    arrived = bytearray()
    with socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(30)
        raw.connect(str(daemon.socket))
        while data := raw.recv(1 << 16):
            arrived += data
    return take_messages(arrived)


def test_a_process_without_descriptors_serves_who_is_there_and_refuses_others_with_a_reason(faulty):
    root = faulty.project("full", full="about the walrus")
    pid = faulty.daemon.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    with Client.connect(str(faulty.daemon.socket)) as staying:
        opened = len(os.listdir(f"/proc/{pid}/fd"))
        try:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (opened + 2, hard))
            (said,) = said_to_a_newcomer(faulty.daemon)
            assert (said["id"], said["error"]["code"]) == (None, -32803)
            assert "connections are open already" in said["error"]["message"]
            found = staying.search("walrus", project_root=root)
            assert [each["title"] for each in found] == ["full"]
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
        assert staying.status()["counters"]["connections.dropped.refused"] >= 1
    assert faulty.recalled(root, "walrus") == ["full"]


# The clock ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [400, -400])
def test_a_clock_that_jumps_changes_no_answer_and_makes_no_session_forget(faulty, days):
    root = faulty.project(f"clock{days}", before="about the walrus")
    session = f"clock {days}"
    assert faulty.recalled(root, "walrus", session) == ["before"]
    faulty.order(clock_s=days * DAY_S)
    assert faulty.recalled(root, "walrus", session) == []
    assert faulty.recalled(root, "walrus") == ["before"]
    faulty.write(root, "after", "about the walrus")
    assert faulty.recalled(root, "walrus", session) == ["after"]
    faulty.daemon.kill()
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", session) == []
    faulty.order()
    assert faulty.recalled(root, "walrus", session) == []
    assert faulty.recalled(root, "walrus") == ["after", "before"]


# The record of what was delivered -------------------------------------------------------------------


def test_a_full_disk_costs_no_recall_and_what_was_delivered_meanwhile_is_written_when_there_is_room(faulty):
    root = faulty.project("full-disk", first="about the walrus")
    pid = faulty.daemon.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    # No room for a page of the database, and enough for the log, which is a file, too.
    most = min(4_000, len(faulty.daemon.log()) + 1_000)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        assert faulty.recalled(root, "walrus", "full disk") == ["first"]
        faulty.write(root, "second", "about the walrus")
        assert faulty.recalled(root, "walrus", "full disk") == ["second"]
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
    with Client.connect(str(faulty.daemon.socket)) as client:
        failed = {name for name in client.status()["counters"] if name.startswith("state.failed.SQLITE_")}
    assert failed
    poll(
        lambda: faulty.recalled(root, "walrus") and "written to sessions.sqlite again" in faulty.daemon.log(),
        "the record is written again",
    )
    assert faulty.daemon.log().count("remembered in memory until") == 1
    faulty.daemon.kill()
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", "full disk") == []


def corrupt(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def of_another_version(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE delivered (something INTEGER)")
        connection.execute("PRAGMA user_version=99")
    connection.close()


def damaged_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3 :] = bytes(len(data) - len(data) // 3)
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [corrupt, of_another_version, damaged_in_the_middle])
def test_a_record_that_cannot_be_used_is_set_aside_once_and_begun_anew(faulty, spoil):
    root = faulty.project(spoil.__name__, first="about the walrus")
    session = spoil.__name__
    assert faulty.recalled(root, "walrus", session) == ["first"]
    faulty.daemon.stop()
    state = faulty.daemon.home / "state" / "memrecalld"
    (state / "sessions.sqlite-wal").unlink(missing_ok=True)
    spoil(state / "sessions.sqlite")
    said = faulty.daemon.log().count("set aside, starting afresh")
    faulty.daemon.start()
    assert faulty.daemon.log().count("set aside, starting afresh") == said + 1
    assert (state / "sessions.sqlite.set-aside").exists()
    assert faulty.recalled(root, "walrus", session) == ["first"]
    faulty.daemon.kill()
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", session) == []


def test_a_record_that_cannot_be_opened_is_kept_in_memory_until_it_can(faulty):
    root = faulty.project("unusable", first="about the walrus")
    state = faulty.daemon.home / "state" / "memrecalld"
    faulty.daemon.stop()
    written = "written to sessions.sqlite again"
    before = faulty.daemon.log().count(written)
    aside = state.with_name("aside")
    state.rename(aside)
    state.write_text("a file where the folder should be", encoding="ascii")
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", "unusable") == ["first"]
    assert faulty.recalled(root, "walrus", "unusable") == []
    assert faulty.counter("state.failed.unusable") >= 1
    state.unlink()
    poll(
        lambda: faulty.daemon.log().count(written) == before + 1,
        "the record is written once there is a place for it",
    )
    faulty.daemon.kill()
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", "unusable") == []


def test_a_record_that_is_removed_under_a_running_daemon_is_made_again_with_what_it_held(faulty):
    root = faulty.project("removed", first="about the walrus")
    assert faulty.recalled(root, "walrus", "removed") == ["first"]
    state = faulty.daemon.home / "state" / "memrecalld"
    shutil.rmtree(state)
    faulty.write(root, "second", "about the walrus")
    assert faulty.recalled(root, "walrus", "removed") == ["second"]

    def recorded() -> bool:
        try:
            with sqlite3.connect(f"{(state / 'sessions.sqlite').as_uri()}?mode=ro", uri=True) as connection:
                (entries,) = connection.execute("SELECT count(*) FROM delivered").fetchone()
        except sqlite3.Error:
            return False
        connection.close()
        return entries >= 2

    poll(recorded, "the record is made again")
    assert faulty.daemon.log().count("sessions.sqlite was removed or replaced") == 1
    faulty.daemon.kill()
    faulty.daemon.start()
    assert faulty.recalled(root, "walrus", "removed") == []
