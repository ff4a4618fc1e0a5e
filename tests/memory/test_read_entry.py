"""One note read by itself goes by the same rules as a whole scan."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memrecalld.memory.entry import Entry
from memrecalld.memory.scan import Unfollowable, read_entry
from tests.memory.trees import in_time, root_of, scan

PATH = "sub/a.md"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / PATH).write_text("# A\ntext")
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "a.md").write_text("# Secret")
    return folder


@pytest.fixture
def entry(notes: Path) -> Entry:
    return scan(notes).entries[PATH]


def again(notes: Path, old: Entry | None, path: str = PATH) -> Entry | None:
    return in_time(lambda: read_entry(root_of(notes), path, old, allowed=[str(notes)]))


def test_unchanged_note_is_itself(notes: Path, entry: Entry) -> None:
    found = again(notes, entry)

    assert found is not None
    assert found.document is entry.document


def test_new_and_changed_notes_are_read(notes: Path, entry: Entry) -> None:
    (notes / PATH).write_text("# B\nother")
    changed, fresh = again(notes, entry), again(notes, None)

    assert changed is not None
    assert changed == fresh
    assert (changed.document.title, changed.document.path) == ("B", f"{notes}/{PATH}")
    assert changed.document.content_hash != entry.document.content_hash


def test_emptied_note_keeps_its_last_good_form_for_a_moment(notes: Path, entry: Entry) -> None:
    os.truncate(notes / PATH, 0)

    found = again(notes, entry)

    assert found is not None
    assert found.document is entry.document
    assert found.provisional


def test_deleted_note_is_none(notes: Path, entry: Entry) -> None:
    (notes / PATH).unlink()

    assert again(notes, entry) is None


def test_note_replaced_by_a_link_to_the_outside_is_none(notes: Path, entry: Entry, outside: Path) -> None:
    (notes / PATH).unlink()
    (notes / PATH).symlink_to(outside / "a.md")

    assert again(notes, entry) is None


def test_note_whose_folder_became_a_link_to_the_outside_is_none(
    notes: Path, entry: Entry, outside: Path
) -> None:
    (notes / "sub").rename(notes / "aside")
    (notes / "sub").symlink_to(outside)

    assert again(notes, entry) is None


def test_note_replaced_by_a_pipe_is_none_at_once(notes: Path, entry: Entry) -> None:
    (notes / PATH).unlink()
    os.mkfifo(notes / PATH)

    assert again(notes, entry) is None


def test_note_of_a_folder_that_is_gone_is_none(notes: Path, entry: Entry, tmp_path: Path) -> None:
    root = root_of(notes)
    notes.rename(tmp_path / "moved")

    assert read_entry(root, PATH, entry, allowed=[root.real_path]) is None


@pytest.mark.parametrize("path", ["../outside/a.md", "/etc/hostname", "sub/../../outside/a.md"])
def test_path_that_leads_out_is_none(path: str, notes: Path, outside: Path) -> None:
    assert again(notes, None, path) is None


def test_file_with_another_name_cannot_be_followed_by_events(notes: Path) -> None:
    (notes / "link.md").symlink_to(PATH)
    with pytest.raises(Unfollowable):
        again(notes, None, "link.md")

    (notes / "linked").symlink_to("sub")
    with pytest.raises(Unfollowable):
        again(notes, None, "linked/a.md")

    os.link(notes / PATH, notes / "second.md")
    with pytest.raises(Unfollowable):
        again(notes, None)


def test_no_descriptor_stays_open(notes: Path, entry: Entry) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        again(notes, entry)
        again(notes, entry, "none.md")

    assert len(os.listdir("/proc/self/fd")) <= before
