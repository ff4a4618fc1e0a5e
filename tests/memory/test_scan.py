"""A scan sees every change, reads only what changed, and loses nothing in silence."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

import memrecalld
from memrecalld.errors import ProjectMemoryError
from memrecalld.memory import entry as entry_module
from memrecalld.memory.layouts import Root
from memrecalld.memory.reader import MAX_FILE_BYTES, WRITER_GRACE_NS, Found, Reading, read
from memrecalld.memory.scan import RootScan, scan_root
from memrecalld.memory.skips import MAX_LISTED, Skips, reason_of
from tests.memory.trees import as_ordinary_user, in_time, later, reasons, root_of, scan, titles

SOURCE = Path(memrecalld.__file__).parent.parent


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """A folder that other users can reach, which pytest's own cannot be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def body(found: RootScan, path: str = "a.md") -> str:
    return found.entries[path].document.body


# --- what is read


def test_documents_know_where_they_come_from(notes: Path) -> None:
    (notes / "sub").mkdir()
    (notes / "sub/a.md").write_text("---\nname: A\ntype: user\n---\ntext")
    os.utime(notes / "sub/a.md", ns=(1, 1_234_567_891))

    document = scan(notes, scope="user").documents[0]

    assert document.scope == "user"
    assert document.root == str(notes)
    assert document.relative_path == "sub/a.md"
    assert document.path == f"{notes}/sub/a.md"
    assert document.modified_ns == 1_234_567_891
    assert document.type == "user"


def test_one_bad_note_harms_no_other(notes: Path) -> None:
    values = [
        "fixed in PR #456 today",
        "Note: use spaces",
        "*lead",
        "@lead",
        "`lead`",
        "!lead",
        "%lead",
        "[a] b",
        '"say "hi" now"',
        '"C:\\new\\table"',
    ]
    for number, value in enumerate(values):
        (notes / f"{number}.md").write_text(f"---\nname: N{number}\ndescription: {value}\n---\nbody")
    (notes / "clean.md").write_text("---\nname: Clean\ndescription: clean\n---\nbody")

    found = scan(notes)

    assert len(found.entries) == 11
    assert [document.description for document in found.documents] == [
        *(value.removeprefix('"').removesuffix('"') for value in values),
        "clean",
    ]
    assert {path for path, entry in found.entries.items() if entry.document.problem} == {
        f"{number}.md" for number in range(10)
    }


def test_huge_note_is_read_up_to_a_bound(notes: Path) -> None:
    (notes / "huge.md").write_text("---\nname: Huge\ndescription: valid\n---\n\nIts text.\n")
    os.truncate(notes / "huge.md", 50 * 1024 * 1024)
    (notes / "emoji.md").write_text("---\nname: Emoji\n---\n" + "😀" * 100_000)
    (notes / "unclosed.md").write_text("---\nname: Unclosed\n" + "x: y\n" * 40_000)
    (notes / "z.md").write_text("# Other")

    tracemalloc.start()
    try:
        found = scan(notes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert titles(found) == {
        "emoji.md": "Emoji",
        "huge.md": "Huge",
        "unclosed.md": "unclosed",
        "z.md": "Other",
    }
    assert found.entries["huge.md"].document.truncated
    assert body(found, "emoji.md") == "😀" * 1_200
    assert found.entries["unclosed.md"].document.problem == "frontmatter-unclosed"
    assert peak < 20 * MAX_FILE_BYTES


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_file_of_just_the_bound_is_not_shortened(notes: Path, extra: int) -> None:
    (notes / "a.md").write_text("x" + " " * (MAX_FILE_BYTES - 1 + extra))

    assert scan(notes).entries["a.md"].document.truncated == (extra > 0)


# --- what has not changed


def test_unchanged_files_are_not_read_again(notes: Path) -> None:
    (notes / ".kept").mkdir()
    (notes / ".kept/c.md").write_text("# C")
    (notes / "a.md").write_text("# A")
    (notes / "b.md").write_text("# B")
    (notes / "c.md").symlink_to(".kept/c.md")
    first = scan(notes)

    again = scan(notes, previous=first.entries)

    assert (first.read_files, again.read_files) == (3, 0)
    assert all(again.entries[path] is first.entries[path] for path in ("a.md", "b.md", "c.md"))
    assert list(again.entries) == list(first.entries)


def test_added_changed_and_removed_notes_are_seen(notes: Path) -> None:
    for name in ("a", "b", "c"):
        (notes / f"{name}.md").write_text(f"# {name}")
    first = scan(notes)
    (notes / "a.md").unlink()
    (notes / "b.md").write_text("# other")
    (notes / "d.md").write_text("# d")

    again = scan(notes, previous=first.entries)

    assert titles(again) == {"b.md": "other", "c.md": "c", "d.md": "d"}
    assert again.read_files == 2


def test_older_file_in_its_place_is_a_change(notes: Path, tmp_path: Path) -> None:
    (notes / "a.md").write_text("# new")
    first = scan(notes)
    (tmp_path / "old.md").write_text("# old")
    os.utime(tmp_path / "old.md", (1, 1))
    (tmp_path / "old.md").replace(notes / "a.md")

    assert titles(scan(notes, previous=first.entries)) == {"a.md": "old"}


def test_change_that_keeps_size_and_time_is_seen(notes: Path) -> None:
    (notes / "a.md").write_text("# one")
    os.utime(notes / "a.md", ns=(5, 5))
    first = scan(notes)
    (notes / "a.md").write_text("# two")
    os.utime(notes / "a.md", ns=(5, 5))

    assert titles(scan(notes, previous=first.entries)) == {"a.md": "two"}


def test_touched_note_keeps_its_content_and_gets_the_new_time(notes: Path) -> None:
    (notes / "a.md").write_text("# A")
    first = scan(notes)
    os.utime(notes / "a.md", ns=(9, 9))

    again = scan(notes, previous=first.entries)

    before, after = first.documents[0], again.documents[0]
    assert after.modified_ns == 9
    assert after.content_hash == before.content_hash
    assert after.body is before.body


def test_every_write_before_a_scan_is_seen_by_it(notes: Path) -> None:
    """Also when several writes of the same length fall into one tick of the clock that stamps files."""
    entries = None
    for number in range(1_000, 1_400):
        (notes / "a.md").write_text(f"# {number}")
        found = scan(notes, previous=entries, clock=time.time_ns)
        entries = found.entries
        assert titles(found) == {"a.md": str(number)}


def test_fresh_file_is_read_once_more_when_its_times_can_be_trusted(notes: Path) -> None:
    (notes / "a.md").write_text("# A")
    changed_ns = (notes / "a.md").stat().st_ctime_ns

    fresh = scan(notes, clock=lambda: changed_ns + 1_000_000)
    settled = scan(notes, previous=fresh.entries)
    again = scan(notes, previous=settled.entries)

    assert [found.read_files for found in (fresh, settled, again)] == [1, 1, 0]
    assert again.documents[0] is fresh.documents[0]


def test_link_turned_to_another_file_is_seen(notes: Path) -> None:
    (notes / ".kept").mkdir()
    (notes / ".kept/one.md").write_text("# one")
    (notes / ".kept/two.md").write_text("# two")
    (notes / "a.md").symlink_to(".kept/one.md")
    first = scan(notes)
    (notes / "a.md").unlink()
    (notes / "a.md").symlink_to(".kept/two.md")

    assert titles(scan(notes, previous=first.entries)) == {"a.md": "two"}


def test_linked_file_moved_out_of_the_allowed_folders_is_lost(notes: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a.md").write_text("# A")
    (notes / "a.md").symlink_to(shared / "a.md")
    first = scan(notes, shared)
    shared.rename(tmp_path / "elsewhere")
    (tmp_path / "shared").symlink_to(tmp_path / "elsewhere")

    again = scan_root(root_of(notes), allowed=[str(notes), str(shared)], previous=first.entries, clock=later)

    assert titles(first) == {"a.md": "A"}
    assert again.entries == {}
    assert reasons(again) == {"a.md": "outside-roots"}


# --- files in the middle of a change


def test_emptied_file_keeps_its_last_good_form_for_a_moment(notes: Path) -> None:
    (notes / "a.md").write_text("# A\ntext")
    first = scan(notes)
    os.truncate(notes / "a.md", 0)
    emptied_ns = (notes / "a.md").stat().st_mtime_ns

    soon = scan(notes, previous=first.entries, clock=lambda: emptied_ns + 50_000_000)
    much_later = scan(notes, previous=soon.entries, clock=lambda: emptied_ns + 1_500_000_000)

    assert soon.documents == first.documents
    assert body(much_later) == ""


def test_refilled_file_is_read_after_it_was_empty(notes: Path) -> None:
    (notes / "a.md").write_text("# old")
    first = scan(notes)
    os.truncate(notes / "a.md", 0)
    between = scan(notes, previous=first.entries, clock=time.time_ns)
    (notes / "a.md").write_text("# new")

    assert titles(scan(notes, previous=between.entries, clock=time.time_ns)) == {"a.md": "new"}


def test_note_that_was_always_empty_is_a_note(notes: Path) -> None:
    (notes / "a.md").touch()

    found = scan(notes, clock=time.time_ns)

    assert titles(scan(notes, previous=found.entries, clock=time.time_ns)) == {"a.md": "a"}


@pytest.mark.parametrize(("changes", "title"), [(1, "whole 1"), (99, "old")])
def test_file_that_changes_while_it_is_read_is_read_again(
    changes: int, title: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it holds still; if it does not, its last good form stands in."""
    path = notes / "a.md"
    path.write_text("# old")
    first = scan(notes)
    path.write_text("# half")
    readings: list[Reading] = []

    def read_during_a_write(found: Found, now_ns: int) -> Reading:
        reading = read(found, now_ns)
        readings.append(reading)
        if len(readings) > changes:
            return reading
        path.write_text(f"# whole {len(readings)}")
        return structs.replace(reading, steady=False)

    monkeypatch.setattr(entry_module, "read", read_during_a_write)

    assert titles(scan(notes, previous=first.entries, clock=time.time_ns)) == {"a.md": title}
    assert 2 <= len(readings) <= 3


def test_reading_notices_a_change_during_it(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = notes / "a.md"
    path.write_text("text")

    found = Found("a.md", path.stat(), str(path), None)
    quiet = read(found, time.time_ns())

    def read_and_grow(descriptor: int, size: int) -> bytes:
        if path.stat().st_size == len("text"):
            path.write_text("text and more")
        return os_read(descriptor, size)

    os_read = os.read
    monkeypatch.setattr(os, "read", read_and_grow)
    disturbed = read(found, time.time_ns())

    assert (quiet.data, quiet.steady, quiet.shortened) == (b"text", True, False)
    assert not disturbed.steady


def test_note_that_is_being_written_keeps_its_last_good_form(notes: Path) -> None:
    path = notes / "a.md"
    path.write_text("# Old")
    first = scan(notes)
    with path.open("w") as stream:
        stream.write("# Ha")
        stream.flush()
        during = scan(notes, previous=first.entries, clock=time.time_ns)
        stream.write("lf and half")
    after = scan(notes, previous=during.entries, clock=time.time_ns)

    assert (titles(during), during.unfinished) == ({"a.md": "Old"}, ("a.md",))
    assert (titles(after), after.unfinished) == ({"a.md": "Half and half"}, ())


def test_new_note_appears_when_it_is_whole(notes: Path) -> None:
    with (notes / "a.md").open("w") as stream:
        stream.write("# Ha")
        stream.flush()
        during = scan(notes, clock=time.time_ns)
        stream.write("lf and half")
    after = scan(notes, previous=during.entries, clock=time.time_ns)

    assert (titles(during), during.unfinished, during.skipped) == ({}, ("a.md",), {"being-written": 1})
    assert titles(after) == {"a.md": "Half and half"}


def test_note_that_stays_open_is_read_after_a_while(notes: Path) -> None:
    with (notes / "a.md").open("w") as stream:
        stream.write("# Log")
        stream.flush()
        later = scan(notes, clock=lambda: time.time_ns() + 2 * WRITER_GRACE_NS)

    assert titles(later) == {"a.md": "Log"}


# --- what cannot be read


def test_missing_root_is_empty_and_recovers(notes: Path) -> None:
    (notes / "a.md").write_text("# A")
    first = scan(notes)
    (notes / "a.md").unlink()
    notes.rmdir()

    gone = scan(notes, previous=first.entries)
    notes.mkdir()
    (notes / "b.md").write_text("# B")

    assert (gone.state, gone.entries, gone.skips) == ("missing", {}, ())
    assert titles(scan(notes, previous=gone.entries)) == {"b.md": "B"}


def test_root_that_is_a_dangling_link_is_missing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    assert scan(tmp_path / "link").state == "missing"


def broken_root(kind: str, public: Path) -> Path:
    path = public / "broken"
    if kind == "not-a-directory":
        path.touch()
    elif kind == "link-loop":
        path.symlink_to(path)
    else:
        path.mkdir(mode=0o000)
    return path


@pytest.mark.parametrize("kind", ["not-a-directory", "link-loop", "unreadable"])
def test_unreadable_project_root_is_an_error_that_names_no_path(kind: str, public: Path) -> None:
    path = broken_root(kind, public)

    with pytest.raises(ProjectMemoryError) as failure:
        as_ordinary_user(lambda: scan(path))

    assert failure.value.reason == kind
    assert failure.value.path == str(path)
    assert failure.value.code == -32803
    assert kind in str(failure.value)
    assert str(path) not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


@pytest.mark.parametrize("kind", ["not-a-directory", "link-loop", "unreadable"])
def test_unreadable_user_root_is_reported_and_empty(kind: str, public: Path) -> None:
    path = broken_root(kind, public)

    found = as_ordinary_user(lambda: scan(path, scope="user"))

    assert (found.state, found.entries) == ("failed", {})
    assert found.skipped == {kind: 1}
    assert reasons(found) == {"": kind}


def test_root_turned_into_a_link_since_it_was_resolved_is_not_followed(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "parent/store").mkdir(parents=True)
    (tmp_path / "private/store").mkdir(parents=True)
    (tmp_path / "private/store/a.md").write_text("# Private")
    root = root_of(tmp_path / "parent/store")
    (tmp_path / "parent").rename(tmp_path / "aside")
    (tmp_path / "parent").symlink_to(tmp_path / "private")

    with pytest.raises(ProjectMemoryError) as failure:
        scan_root(root, allowed=[root.real_path])

    assert failure.value.reason == "moved"


def test_unreadable_files_and_folders_are_reported_and_cost_nothing_else(public: Path) -> None:
    (public / "a.md").write_text("# A")
    (public / "b.md").write_text("# B")
    (public / "b.md").chmod(0)
    (public / "closed").mkdir(mode=0o000)
    (public / "listed").mkdir(mode=0o755)
    (public / "listed/c.md").write_text("# C")
    (public / "listed").chmod(0o444)
    (public / "link").symlink_to("closed")

    found = as_ordinary_user(lambda: scan(public))

    assert titles(found) == {"a.md": "A"}
    assert reasons(found) == {
        "b.md": "unreadable",
        "closed": "unreadable",
        "listed/c.md": "unreadable",
        "link": "unreadable",
    }
    (public / "closed").chmod(0o755)
    (public / "listed").chmod(0o755)


def test_file_whose_reading_fails_is_reported(notes: Path) -> None:
    (notes / "a.md").write_text("# A")
    (notes / "b.md").symlink_to("/proc/self/mem")  # a regular file, and an error to read from its start

    found = scan(notes, Path("/proc/self"))

    assert titles(found) == {"a.md": "A"}
    assert reasons(found) == {"b.md": "io-error"}


def test_reasons_of_system_errors() -> None:
    assert reason_of(PermissionError(1, "")) == "unreadable"
    assert reason_of(OSError(5, "")) == "io-error"
    assert reason_of(OSError("no number")) == "io-error"


def test_every_skip_is_counted_and_the_first_are_named() -> None:
    skips = Skips()
    for number in range(MAX_LISTED + 50):
        skips.add(f"{number}.md", "unreadable")
    skips.add("last.md", "vanished")

    assert skips.counts == {"unreadable": MAX_LISTED + 50, "vanished": 1}
    assert [skip.relative_path for skip in skips.listed] == [f"{number}.md" for number in range(MAX_LISTED)]


# --- descriptors


def run_python(script: str, *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


LARGE_TREE = """
import os, resource, sys
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import scan_root
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
root = Root(scope="project", layout="native", path=sys.argv[1], real_path=sys.argv[1], required=True)
before = len(os.listdir("/proc/self/fd"))
found = scan_root(root, allowed=[sys.argv[1]])
again = scan_root(root, allowed=[sys.argv[1]], previous=found.entries)
print(len(found.entries), len(again.entries), dict(found.skipped), len(os.listdir("/proc/self/fd")) - before)
"""


def test_no_note_of_a_large_tree_is_lost_with_few_descriptors(notes: Path) -> None:
    for number in range(5_000):
        if number < 16 * 50:
            folder = notes / "/".join(["d"] * (number // 50 + 1))
        else:
            folder = notes / f"wide{number % 400}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.md").write_bytes(b"# T")

    assert run_python(LARGE_TREE, str(notes)) == "5000 5000 {} 0"


EXHAUSTED = """
import os, resource, sys
from memrecalld.errors import ProjectMemoryError
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import scan_root
root = Root(scope="project", layout="native", path=sys.argv[1], real_path=sys.argv[1], required=True)
scan_root(root, allowed=[sys.argv[1]])
held = []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        held.append(os.open("/", os.O_RDONLY))
except OSError:
    pass
outcomes = []
for _ in range(6):
    try:
        found = scan_root(root, allowed=[sys.argv[1]])
        outcomes.append(len(found.entries))
    except ProjectMemoryError as error:
        outcomes.append(error.reason)
    os.close(held.pop())
print(*outcomes, sep="|")
"""


def test_note_is_not_lost_for_want_of_descriptors(notes: Path) -> None:
    """With nothing left to open files with, the answer is an error and never "no such note"."""
    (notes / "sub").mkdir()
    (notes / "sub/a.md").write_text("# A")

    outcomes = run_python(EXHAUSTED, str(notes)).split("|")

    assert outcomes[0] == "no-descriptors"
    assert outcomes[-1] == "1"
    assert set(outcomes) == {"no-descriptors", "1"}


def test_root_of_another_kind_is_refused_before_it_is_opened(notes: Path) -> None:
    os.mkfifo(notes / "pipe")
    root = Root(
        scope="project",
        layout="extra",
        path=str(notes / "pipe"),
        real_path=str(notes / "pipe"),
        required=True,
    )

    with pytest.raises(ProjectMemoryError) as failure:
        in_time(lambda: scan_root(root, allowed=[root.real_path]))

    assert failure.value.reason == "not-a-directory"
