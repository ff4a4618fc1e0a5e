"""What is a topic, and where a link may lead."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memrecalld.memory.scan import RootScan
from memrecalld.memory.walk import MAX_DEPTH, is_topic_name
from tests.memory.trees import in_time, reasons, scan, titles


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("# Secret\nprivate words")
    return folder


def write(path: Path, title: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {title}\nbody of {title}")


# --- topics


@pytest.mark.parametrize(
    "name", ["a.md", "A.MD", "b.Md", "memory.md", "a.b.md", "漢字.md", "a b.md", "-.md", "tmp.md", "4913.md"]
)
def test_markdown_file_is_a_topic(name: str) -> None:
    assert is_topic_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "MEMORY.md",
        "a.txt",
        "a.mdx",
        "md",
        ".md",
        ".a.md",
        ".#a.md",
        "#a.md#",
        "#a.md",
        "a.md~",
        "a~.md",
        "~$a.md",
        ".a.md.swp",
        "a.md.swp",
        "a.swp.md",
        "a.md.tmp",
        "a.tmp.md",
        "a.md.tmp.123.ab",
        "a.bak.md",
        "4913",
    ],
)
def test_index_and_temporary_files_are_no_topics(name: str) -> None:
    assert not is_topic_name(name)


def test_notes_are_found_at_any_depth_but_not_in_hidden_folders(notes: Path) -> None:
    for path in ("a.md", "one/b.md", "1/2/3/4/5/6/c.md", "one/MEMORY.md", "MEMORY.md"):
        write(notes / path, path)
    for path in (".hidden/d.md", "one/node_modules/e.md", ".git/f.md", "one/.x/g.md", "one/h.txt"):
        write(notes / path, path)

    found = scan(notes)

    assert list(found.entries) == ["a.md", "1/2/3/4/5/6/c.md", "one/b.md"]
    assert found.skips == ()


def test_folder_named_like_a_note_is_a_folder(notes: Path) -> None:
    write(notes / "a.md/b.md", "B")

    assert titles(scan(notes)) == {"a.md/b.md": "B"}


def test_depth_is_bounded(notes: Path) -> None:
    deepest = "/".join(["d"] * MAX_DEPTH)
    write(notes / deepest / "in.md", "In")
    write(notes / deepest / "d/out.md", "Out")

    found = scan(notes)

    assert list(found.entries) == [f"{deepest}/in.md"]
    assert reasons(found) == {f"{deepest}/d": "too-deep"}


def test_name_that_is_no_unicode_is_reported(notes: Path) -> None:
    write(notes / "a.md", "A")
    for name in (b"caf\xe9.md", b"dir\xff"):
        try:
            os.mkdir(os.path.join(os.fsencode(notes), name))
        except OSError:  # a file system that takes Unicode names only has no such file
            return

    found = scan(notes)

    assert titles(found) == {"a.md": "A"}
    assert reasons(found) == {"caf\\xe9.md": "name-not-unicode", "dir\\xff": "name-not-unicode"}


# --- what is no file


def test_pipes_sockets_and_devices_neither_block_nor_count_as_notes(notes: Path) -> None:
    os.mkfifo(notes / "pipe.md")
    (notes / "piped.md").symlink_to("pipe.md")
    (notes / "null.md").symlink_to("/dev/null")
    (notes / "zero.md").symlink_to("/dev/zero")
    (notes / "tty.md").symlink_to("/dev/tty")
    write(notes / "z.md", "Z")
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.open(notes, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{folder}/socket.md")  # a socket address is short
        os.close(folder)

        found = in_time(lambda: scan(notes, Path("/dev")))

    assert titles(found) == {"z.md": "Z"}
    others = ("pipe.md", "piped.md", "null.md", "zero.md", "tty.md", "socket.md")
    assert reasons(found) == dict.fromkeys(others, "not-a-regular-file")


# --- links


def test_root_may_be_a_link(notes: Path, tmp_path: Path) -> None:
    write(notes / "sub/a.md", "A")
    (tmp_path / "link").symlink_to(notes)

    found = scan(tmp_path / "link")

    assert titles(found) == {"sub/a.md": "A"}
    assert found.documents[0].path == f"{notes}/sub/a.md"


def test_links_lead_into_allowed_folders_only(notes: Path, outside: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    write(shared / "deep/b.md", "B")
    write(notes / "real.md", "Real")
    (notes / "a.md").symlink_to("/etc/hostname")
    (notes / "secret.md").symlink_to(outside / "secret.md")
    (notes / "relative.md").symlink_to("../outside/secret.md")
    (notes / "folder").symlink_to(outside)
    (notes / "up").symlink_to("..")
    (notes / "top").symlink_to("/")
    (notes / "shared").symlink_to(shared)
    (notes / "b.md").symlink_to(shared / "deep/b.md")

    found = in_time(lambda: scan(notes, shared))

    assert titles(found) == {"real.md": "Real", "b.md": "B", "shared/deep/b.md": "B"}
    refused = ("a.md", "secret.md", "relative.md", "folder", "up", "top")
    assert reasons(found) == dict.fromkeys(refused, "outside-roots")
    assert found.skipped == {"outside-roots": 6}


def test_folder_whose_name_begins_like_an_allowed_one_is_outside(notes: Path, tmp_path: Path) -> None:
    write(tmp_path / "notes-evil/a.md", "Evil")
    (notes / "a.md").symlink_to(tmp_path / "notes-evil/a.md")
    (notes / "d").symlink_to(tmp_path / "notes-evil")

    found = scan(notes)

    assert found.entries == {}
    assert reasons(found) == {"a.md": "outside-roots", "d": "outside-roots"}


def test_link_to_a_link_counts_by_where_it_ends(notes: Path, outside: Path, tmp_path: Path) -> None:
    write(notes / ".kept/in.md", "In")
    (outside / "back.md").symlink_to(notes / ".kept/in.md")
    (notes / "in.md").symlink_to(outside / "back.md")
    (notes / ".hop").symlink_to(outside / "secret.md")
    (notes / "out.md").symlink_to(".hop")

    found = scan(notes)

    assert titles(found) == {"in.md": "In"}
    assert reasons(found) == {"out.md": "outside-roots"}


def test_circles_end(notes: Path) -> None:
    write(notes / "one/a.md", "A")
    (notes / "self").symlink_to(".")
    (notes / "one/up").symlink_to("..")
    (notes / "one/here").symlink_to(notes / "one")
    (notes / "self.md").symlink_to("self.md")
    (notes / "ping.md").symlink_to("pong.md")
    (notes / "pong.md").symlink_to("ping.md")

    found = in_time(lambda: scan(notes))

    assert titles(found) == {"one/a.md": "A"}
    assert set(reasons(found).values()) == {"link-loop"}
    assert len(found.skips) == 6


def test_circle_through_another_allowed_folder_ends(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(notes / "a.md", "A")
    write(other / "b.md", "B")
    (notes / "other").symlink_to(other)
    (other / "back").symlink_to(notes)

    found = in_time(lambda: scan(notes, other))

    assert titles(found) == {"a.md": "A", "other/b.md": "B"}
    assert reasons(found) == {"other/back": "link-loop"}


def test_each_file_is_found_once_under_its_own_name(notes: Path) -> None:
    write(notes / "z/real.md", "Real")
    (notes / "alias.md").symlink_to("z/real.md")
    (notes / "a").symlink_to("z")
    write(notes / ".archive/old.md", "Old")
    (notes / "old1.md").symlink_to(".archive/old.md")
    (notes / "old2.md").symlink_to(".archive/old.md")

    found = scan(notes)

    assert titles(found) == {"z/real.md": "Real", "old1.md": "Old"}
    assert reasons(found) == {"alias.md": "duplicate", "a": "duplicate", "old2.md": "duplicate"}


def test_link_to_nothing_is_reported(notes: Path) -> None:
    (notes / "a.md").symlink_to("nowhere.md")

    assert reasons(scan(notes)) == {"a.md": "vanished"}


def test_linked_folders_count_as_depth(notes: Path, tmp_path: Path) -> None:
    chain = tmp_path / "chain"
    for number in range(MAX_DEPTH + 4):
        write(chain / str(number) / "n.md", str(number))
        if number:
            (chain / str(number - 1) / "next").symlink_to(chain / str(number))
    (notes / "next").symlink_to(chain / "0")

    found = scan(notes, chain)

    assert len(found.entries) == MAX_DEPTH
    assert set(reasons(found).values()) == {"too-deep"}


# --- names that change under the walk


@contextmanager
def repeatedly(change: Callable[[], None]) -> Iterator[Callable[[], int]]:
    """``change`` over and over in another thread; gives a count of how often it was done."""
    stop = threading.Event()
    done = 0

    def run() -> None:
        nonlocal done
        while not stop.is_set():
            change()
            done += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield lambda: done
    finally:
        stop.set()
        thread.join()


def scans_during(change: Callable[[], None], notes: Path, least: int = 300) -> Iterator[RootScan]:
    """Scans while ``change`` goes on, until both have happened often."""
    with repeatedly(change) as done:
        for number in range(100_000):
            yield scan(notes)
            if number >= least and done() >= least:
                return
    pytest.fail("the other thread did not get to run")


def replace_by_link(path: Path, target: Path | str) -> None:
    fresh = path.with_name(".fresh")
    fresh.symlink_to(target)
    fresh.replace(path)


def assert_nothing_secret(found: RootScan) -> None:
    for document in found.documents:
        assert "private" not in document.body
        assert document.title != "Secret"


def test_link_swapped_between_check_and_open_gives_nothing_away(notes: Path, outside: Path) -> None:
    write(notes / "kept/good.md", "Good")

    def swap() -> None:
        replace_by_link(notes / "a.md", "kept/good.md")
        replace_by_link(notes / "a.md", outside / "secret.md")

    for found in scans_during(swap, notes):
        assert_nothing_secret(found)
        assert "kept/good.md" in found.entries


def test_file_swapped_for_a_link_gives_nothing_away(notes: Path, outside: Path) -> None:
    def swap() -> None:
        fresh = notes / ".fresh"
        fresh.write_text("# Good\nwords")
        fresh.replace(notes / "a.md")
        replace_by_link(notes / "a.md", outside / "secret.md")

    for found in scans_during(swap, notes):
        assert_nothing_secret(found)


def test_folder_swapped_for_a_link_gives_nothing_away(notes: Path, outside: Path) -> None:
    write(notes / "sub/secret.md", "Good")

    def swap() -> None:
        (notes / "sub").rename(notes / ".aside")
        (notes / "sub").symlink_to(outside)
        (notes / "sub").unlink()
        (notes / ".aside").rename(notes / "sub")

    for found in scans_during(swap, notes):
        assert_nothing_secret(found)


def test_note_replaced_by_rename_is_always_there_and_whole(notes: Path) -> None:
    versions = ["# Old\n" + "o" * 1_000, "# New\n" + "n" * 1_100]
    (notes / "a.md").write_text(versions[0])

    def save() -> None:
        for version in versions:
            fresh = notes / "a.md.tmp"
            fresh.write_text(version)
            fresh.replace(notes / "a.md")

    for found in scans_during(save, notes):
        assert found.documents[0].body in versions
