"""Links lead into the configured folders and nowhere else, however they are laid; seen by a client."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from memrecalld.client import Client, ResponseError
from tests.support.daemon import DaemonProcess, make_repository
from tests.support.notes import note

OUTSIDE = "walrus outside"


@pytest.fixture
def linked(shared_daemon: DaemonProcess, tmp_path: Path) -> Path:
    """A project of this test alone, with one note; and beside its folder one that is not to be read."""
    root = shared_daemon.home / tmp_path.name
    make_repository(root)
    notes = shared_daemon.notes_of(root)
    notes.mkdir(parents=True)
    (notes / "inside.md").write_text(note("inside", "walrus inside"), encoding="utf-8")
    evil = notes.with_name(f"{notes.name}-evil")
    evil.mkdir()
    (evil / "outside.md").write_text(note("outside", OUTSIDE), encoding="utf-8")
    return root


def seen(daemon: DaemonProcess, root: Path) -> set[str]:
    """Titles of all that a project has."""
    with Client.connect(str(daemon.socket)) as client:
        return {document["title"] for document in client.list(project_root=root)}


def reasons(daemon: DaemonProcess, root: Path) -> set[str]:
    """Why something of it was left out."""
    with Client.connect(str(daemon.socket)) as client:
        return {each["reason"] for each in client.status(project_root=root)["project"]["skipped"]}


LINKS = {
    "to a file elsewhere": ("a.md", "/etc/hostname", "outside-roots"),
    "to a folder whose name begins alike": ("sub", "../{name}-evil", "outside-roots"),
    "to a note there": ("a.md", "../{name}-evil/outside.md", "outside-roots"),
    "to the folder above": ("sub", "..", "outside-roots"),
    "to everything": ("sub", "/", "outside-roots"),
    "to itself": ("a.md", "a.md", "link-loop"),
    "in a circle": ("sub", ".", "link-loop"),
    "to nothing": ("a.md", "nothing", "vanished"),
}


@pytest.mark.parametrize(("name", "target", "reason"), LINKS.values(), ids=LINKS.keys())
def test_a_link_that_leads_out_or_nowhere_is_left_out_with_its_reason(
    shared_daemon, linked, name, target, reason
):
    notes = shared_daemon.notes_of(linked)
    (notes / name).symlink_to(target.format(name=notes.name))
    assert seen(shared_daemon, linked) == {"inside"}
    assert reasons(shared_daemon, linked) == {reason}


def test_the_folder_itself_may_be_a_link(shared_daemon, linked):
    notes = shared_daemon.notes_of(linked)
    real = shared_daemon.home / f"{linked.name}-real"
    notes.rename(real)
    notes.symlink_to(real)
    assert seen(shared_daemon, linked) == {"inside"}


def test_a_link_that_is_swapped_all_the_time_gives_nothing_away(shared_daemon, linked):
    notes = shared_daemon.notes_of(linked)
    evil = notes.with_name(f"{notes.name}-evil")
    good = notes / "good"
    good.mkdir()
    (good / "outside.md").write_text(note("outside", "walrus inside"), encoding="utf-8")
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for target in (good, evil, evil / "outside.md", good / "outside.md"):
                spare = notes / ".spare"
                spare.symlink_to(target)
                spare.replace(notes / ("link.md" if target.suffix else "link"))

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        with Client.connect(str(shared_daemon.socket)) as client:
            for number in range(100):
                turn = client.start("walrus", session_id=f"{linked.name} {number}", project_root=linked)
                found = client.search("walrus", project_root=linked)
                delivered = [] if turn.delivery is None else turn.delivery["documents"]
                assert OUTSIDE not in {document["description"] for document in [*found, *delivered]}
    finally:
        ended.set()
        swapping.join()
        shutil.rmtree(notes)


@pytest.mark.parametrize("root", ["..", "%2e%2e", "w", "file://elsewhere/w", "/w\0", "file:///w%00"])
def test_a_path_that_is_none_opens_no_turn(shared_daemon, root):
    with Client.connect(str(shared_daemon.socket)) as client:
        turns = client.status()["counters"].get("turns", 0)
        with pytest.raises((ResponseError, ValueError)):
            client.start("walrus", session_id="nowhere", project_root=root)
        assert client.status()["counters"].get("turns", 0) == turns


@pytest.mark.parametrize("root", ["/", "file:///", "/tmp", "/w/%2e%2e", "/w/../.."])
def test_a_path_that_is_no_project_finds_nothing_but_the_users_own_notes(shared_daemon, root):
    with Client.connect(str(shared_daemon.socket)) as client:
        assert client.search("walrus", project_root=root) == []
