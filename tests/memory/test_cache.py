"""A new process reads again what changed, and does without the cache whatever is wrong with it."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.config import MemoryConfig
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.entry import Entry
from memrecalld.memory.folder import Folder
from tests.memory.trees import root_of
from tests.ranking.notes import note

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
    assert "SQLITE_FULL" in caplog.text
    catalog.close()


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
