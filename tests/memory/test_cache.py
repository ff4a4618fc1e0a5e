"""A new process reads again what changed, and does without the cache whatever is wrong with it."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.config import MemoryConfig
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.entry import Entry
from memrecalld.memory.folder import Folder
from memrecalld.memory.layouts import Root
from tests.memory.trees import root_of
from tests.ranking.notes import STEADY, note

LONG_AGO = time.time() - 1_000


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Five notes that were written long ago."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(5):
        write(folder / f"n{number}.md", f"# Note {number}\ntext")
    return folder


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "notes.sqlite"


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))


async def read(notes: Path, database: Path) -> tuple[dict[str, str], int]:
    """Titles by path, and how many files a new process read for them."""
    # What was written a moment ago is read again for its own reasons.
    await asyncio.sleep(0.15)
    loop = asyncio.get_running_loop()
    catalog = Catalog(
        MemoryConfig(extra_user_roots=(str(notes),)),
        environment={},
        home=str(notes.parent),
        loop=loop,
        watcher=None,
        cache=NoteCache.open(database),
    )
    answer: asyncio.Future[Reading] = loop.create_future()
    catalog.read(None, frozenset(), answer.set_result)  # type: ignore[arg-type]
    reading = await answer
    folder = next(each for each in reading.folders if each.root.path == str(notes))
    result = titles(folder)
    catalog.close()
    return result


def titles(folder: Folder) -> tuple[dict[str, str], int]:
    assert folder.scan is not None
    return {each.relative_path: each.title for each in folder.documents}, folder.scan.read_files


async def test_second_process_reads_nothing_again(notes: Path, database: Path) -> None:
    first, read_first = await read(notes, database)
    second, read_second = await read(notes, database)
    assert (read_first, read_second) == (5, 0)
    assert first == second == {f"n{number}.md": f"Note {number}" for number in range(5)}


async def test_second_process_reads_what_changed(notes: Path, database: Path) -> None:
    await read(notes, database)
    write(notes / "n1.md", "# Other\ntext")
    (notes / "n2.md").unlink()
    write(notes / "new.md", "# New\ntext")
    held, read_files = await read(notes, database)
    assert read_files == 2
    assert held == {
        "n0.md": "Note 0",
        "n1.md": "Other",
        "n3.md": "Note 3",
        "n4.md": "Note 4",
        "new.md": "New",
    }
    assert await read(notes, database) == (held, 0)


async def test_first_notes_do_not_wait_until_they_are_saved_and_the_end_does(
    notes: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_over, saved = threading.Event(), []
    save, close = NoteCache.save, Catalog.close

    def slow(cache: NoteCache, root: Root, entries: Mapping[str, Entry | None]) -> None:
        assert handed_over.wait(60)
        save(cache, root, entries)
        saved.append(root)

    def end(catalog: Catalog) -> None:
        handed_over.set()
        close(catalog)

    monkeypatch.setattr(NoteCache, "save", slow)
    monkeypatch.setattr(Catalog, "close", end)
    assert (await read(notes, database))[1] == 5
    assert saved
    assert (await read(notes, database))[1] == 0


async def test_everything_of_a_note_comes_back(notes: Path, database: Path) -> None:
    head = "name: T\ndescription: D\ntype: Decision\nkeywords: [a, b]\nusage_scenarios:\n  - when asked\n"
    write(notes / "full.md", f"---\n{head}---\nThe parameter schema of the tool usage.\n" + "long " * 500)
    loop = asyncio.get_running_loop()
    documents = []
    for _ in range(2):
        catalog = Catalog(
            MemoryConfig(extra_user_roots=(str(notes),)),
            environment={},
            home=str(notes.parent),
            loop=loop,
            watcher=None,
            cache=NoteCache.open(database),
        )
        answer: asyncio.Future[Reading] = loop.create_future()
        catalog.read(None, frozenset(), answer.set_result)  # type: ignore[arg-type]
        reading = await answer
        documents.append([each for folder in reading.folders for each in folder.documents])
        catalog.close()
    assert sorted(documents[0], key=lambda each: each.path) == sorted(
        documents[1], key=lambda each: each.path
    )
    assert any(each.usage_text and each.keywords and each.truncated for each in documents[1])


async def test_damaged_cache_is_set_aside_and_begun_afresh(notes: Path, database: Path) -> None:
    await read(notes, database)
    database.write_bytes(b"no database " * 1_000)
    assert (await read(notes, database))[1] == 5
    assert database.with_name("notes.sqlite.set-aside").exists()
    assert (await read(notes, database))[1] == 0


async def test_damage_inside_is_survived(
    notes: Path, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(200):
        write(notes / f"many{number}.md", f"# Many {number}\n" + f"{number} " * 300)
    await read(notes, database)
    data = bytearray(database.read_bytes())
    data[4096 * 3 : 4096 * 40] = b"\xff" * (4096 * 37)
    database.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        assert len((await read(notes, database))[0]) == 205
    assert len((await read(notes, database))[0]) == 205


async def test_cache_of_another_version_is_set_aside(notes: Path, database: Path) -> None:
    await read(notes, database)
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version=1")
    connection.close()
    assert (await read(notes, database))[1] == 5
    assert (await read(notes, database))[1] == 0


async def test_unusable_directory_means_no_cache(
    notes: Path, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database.parent.mkdir(mode=0o777)
    database.parent.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        assert (await read(notes, database))[1] == 5
    assert "chmod 700" in caplog.text
    assert not database.exists()


async def test_full_disk_means_no_cache(
    notes: Path, database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = NoteCache.open(database)
    assert cache is not None
    assert cache._connection is not None
    cache._connection.execute("PRAGMA max_page_count=1")
    catalog = Catalog(
        MemoryConfig(extra_user_roots=(str(notes),)),
        environment={},
        home=str(tmp_path),
        loop=asyncio.get_running_loop(),
        watcher=None,
        cache=cache,
    )
    for number in range(20):
        write(notes / f"large-{number}.md", "# Large\n" + "x " * 1_000)
    answer: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
    with caplog.at_level(logging.WARNING):
        catalog.read(None, frozenset(), answer.set_result)  # type: ignore[arg-type]
        reading = await answer
        assert sum(len(folder) for folder in reading.folders) == 25
        catalog.close()
    assert "SQLITE_FULL" in caplog.text


def kept_in(folder: Path, count: int = 40) -> tuple[Path, Root, dict[str, Entry]]:
    """A cache in ``folder`` that was closed, and what it holds of one root."""
    database = folder / "cache" / "notes.sqlite"
    root = root_of(folder / "notes")
    entries = {
        path: Entry(
            (1, 2, 3, 4, number),
            note(path, body=f"{number} " * 100, relative_path=path, root=root.real_path),
        )
        for number, path in enumerate(f"n{number:02}.md" for number in range(count))
    }
    cache = NoteCache.open(database)
    assert cache is not None
    cache.save(root, entries)
    cache.close()
    return database, root, entries


def test_folder_is_saved_at_once_while_another_is_read(tmp_path: Path) -> None:
    database, root, entries = kept_in(tmp_path)
    cache = NoteCache.open(database)
    assert cache is not None
    assert cache._connection is not None
    cache._connection.execute("PRAGMA busy_timeout=40000")
    known = cache.load(root)
    assert known["n00.md"] == entries["n00.md"]
    began = time.monotonic()
    cache.save(root_of(tmp_path / "other"), entries)
    assert time.monotonic() - began < 20
    assert dict(known) == entries
    # Who saves next empties the log.
    cache.save(root, entries)
    assert database.with_name("notes.sqlite-wal").stat().st_size == 0
    cache.close()


@settings(STEADY, max_examples=60)
@given(chance=st.randoms(use_true_random=False))
def test_damage_anywhere_changes_no_note(chance):
    with tempfile.TemporaryDirectory() as folder:
        database, root, entries = kept_in(Path(folder))
        data = bytearray(database.read_bytes())
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(4096, len(data))] ^= 1 << chance.randrange(8)
        database.write_bytes(data)
        cache = NoteCache.open(database)
        if cache is not None:
            known = cache.load(root)
            found = {path: known.get(path) for path in entries}
            assert all(entry in (None, entries[path]) for path, entry in found.items())
            cache.close()


@pytest.mark.parametrize(
    "damage",
    ["note = 'text'", "note = 5", "note = x'00'", "note = x''", "path = x'00ff'", "note = substr(note, 2)"],
)
def test_value_of_another_type_is_no_note(tmp_path: Path, damage: str) -> None:
    database, root, entries = kept_in(tmp_path)
    with sqlite3.connect(database) as connection:
        connection.execute(f"UPDATE notes SET {damage} WHERE path = 'n07.md'")
    connection.close()
    cache = NoteCache.open(database)
    assert cache is not None
    known = cache.load(root)
    assert {path for path in entries if path not in known} == {"n07.md"}
    cache.close()


def test_note_of_another_path_is_no_note(tmp_path: Path) -> None:
    database, root, entries = kept_in(tmp_path)
    with sqlite3.connect(database) as connection:
        (other,) = connection.execute("SELECT note FROM notes WHERE path = 'n08.md'").fetchone()
        connection.execute("UPDATE notes SET note = ? WHERE path = 'n07.md'", (other,))
    connection.close()
    cache = NoteCache.open(database)
    assert cache is not None
    assert {path for path in entries if path not in cache.load(root)} == {"n07.md"}
    cache.close()


def test_cache_that_is_deleted_while_it_is_open_is_not_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database, root, entries = kept_in(tmp_path)
    cache = NoteCache.open(database)
    assert cache is not None
    for each in database.parent.iterdir():
        each.unlink()
    with caplog.at_level(logging.WARNING):
        assert not cache.load(root)
    assert "FileNotFoundError" in caplog.text
    assert not cache.usable
    cache.save(root, entries)
    assert list(database.parent.iterdir()) == []


def test_cache_whose_file_is_removed_keeps_nothing_in_it_and_leaves_nothing_behind(tmp_path: Path) -> None:
    database, root, entries = kept_in(tmp_path)
    cache = NoteCache.open(database)
    assert cache is not None
    cache.save(root, entries)
    database.unlink()
    cache.save(root, entries)
    assert not cache.usable
    assert list(database.parent.iterdir()) == []


def test_cache_that_is_replaced_while_it_is_open_is_left_alone(tmp_path: Path) -> None:
    database, root, entries = kept_in(tmp_path)
    cache = NoteCache.open(database)
    assert cache is not None
    another = tmp_path / "another"
    another.write_bytes(database.read_bytes())
    another.replace(database)
    assert not cache.load(root)
    assert not cache.usable
    assert not database.with_name("notes.sqlite.set-aside").exists()
    again = NoteCache.open(database)
    assert again is not None
    assert dict(again.load(root)) == entries
    again.close()


def test_damage_that_the_database_cannot_tell_of_is_survived(tmp_path: Path) -> None:
    database, root, _ = kept_in(tmp_path)
    cache = NoteCache.open(database)
    assert cache is not None
    cache.save(root, {})  # what is in the log would be read from there
    data = database.read_bytes()
    schema = data[:4096].replace(b"(folder, path)", b"(f\xeclder, path)")
    database.write_bytes(schema + data[4096:])
    assert not cache.load(root)
    assert not cache.usable
    assert database.with_name("notes.sqlite.set-aside").exists()


def test_damaged_index_is_set_aside(tmp_path: Path) -> None:
    database, root, _ = kept_in(tmp_path)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE folders SET day = 0")
    connection.close()
    data = database.read_bytes()
    index = next(
        page
        for page in range(4096, len(data), 4096)
        if data[page] == 10 and b"n07.md" in data[page : page + 4096]  # a leaf of an index
    )
    database.write_bytes(data[:index] + data[index:].replace(b"n07.md", b"n07.mx", 1))
    cache = NoteCache.open(database)
    assert cache is not None
    assert not cache.usable
    assert not cache.load(root)
    assert database.with_name("notes.sqlite.set-aside").exists()


PATHS = st.text(st.sampled_from("ab/-.é部😀"), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(kept=st.sets(PATHS, max_size=12), asked=st.lists(PATHS, max_size=12), chance=st.randoms())
def test_notes_are_known_whatever_order_they_are_asked_for_in(kept, asked, chance):
    with tempfile.TemporaryDirectory() as folder:
        root = root_of(Path(folder))
        cache = NoteCache.open(Path(folder, "notes.sqlite"))
        assert cache is not None
        entries = {
            path: Entry((1, 2, 3, 4, number), note(path, relative_path=path, root=root.real_path))
            for number, path in enumerate(kept)
        }
        cache.save(root, entries)
        known = cache.load(root)
        order = [*kept, *asked]
        chance.shuffle(order)
        assert [known.get(path) for path in order] == [entries.get(path) for path in order]
        assert dict(known) == entries
        assert len(cache.load(root)) == len(entries)
        cache.close()


def test_cache_is_for_its_owner_only(database: Path) -> None:
    before = os.umask(0)
    try:
        cache = NoteCache.open(database)
    finally:
        os.umask(before)
    assert cache is not None
    modes = {path.name: path.stat().st_mode & 0o777 for path in database.parent.iterdir()}
    cache.close()
    assert set(modes.values()) == {0o600}
    assert database.parent.stat().st_mode & 0o777 == 0o700
