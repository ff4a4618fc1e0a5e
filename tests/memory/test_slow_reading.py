"""Folders and the catalog where reading takes long: network file systems, and machines that are busy."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrecalld.config import MemoryConfig
from memrecalld.errors import MemrecallError, ProjectMemoryError
from memrecalld.memory import folder as folders
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.layouts import native_key
from tests.support.daemon import make_repository
from tests.support.notes import note

SHORT_S = 0.001


class Readings:
    """Every reading of a whole folder waits until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.count = 0
        self._let_go = threading.Semaphore(0)
        self._scan = folders.scan_root

    def scan_root(self, *arguments: Any, **options: Any) -> Any:
        self.count += 1
        self.begun.release()
        self._let_go.acquire()
        return self._scan(*arguments, **options)

    def let_go(self, number: int = 1) -> None:
        self._let_go.release(number)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Readings]:
    readings = Readings()
    monkeypatch.setattr(folders, "scan_root", readings.scan_root)
    yield readings
    readings.let_go(100)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The folder of a user's notes, with one of them."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "heron.md").write_text(note("Heron"))
    return folder


def make_catalog(home: Path, **config: Any) -> Catalog:
    """A catalog that compares."""
    loop = asyncio.get_running_loop()
    return Catalog(MemoryConfig(**config), environment={}, home=str(home), loop=loop, watcher=None)


def read(
    catalog: Catalog, project: Path | None = None, within_s: float | None = None
) -> asyncio.Future[Reading | MemrecallError]:
    answer = asyncio.get_running_loop().create_future()
    catalog.read(None if project is None else str(project), frozenset(), answer.set_result, within_s=within_s)
    return answer


def titles(reading: Reading | MemrecallError) -> set[str]:
    assert isinstance(reading, Reading) and not reading.partial
    return {document.title for folder in reading.folders for document in folder.documents}


async def test_all_who_came_during_a_reading_share_the_next(tmp_path, notes, readings):
    catalog = make_catalog(tmp_path, layouts=(), extra_user_roots=(str(notes),))
    first = read(catalog)
    await asyncio.to_thread(readings.begun.acquire)
    (notes / "ferry.md").write_text(note("Ferry"))
    later = [read(catalog) for _ in range(5)]
    readings.let_go()
    await first
    readings.let_go(100)
    for each in later:
        assert titles(await each) == {"Heron", "Ferry"}
    assert readings.count == 2


async def test_who_comes_during_the_shared_reading_waits_for_another(tmp_path, notes, readings):
    catalog = make_catalog(tmp_path, layouts=(), extra_user_roots=(str(notes),))
    first, second = read(catalog), read(catalog)
    readings.let_go()
    await first
    await asyncio.to_thread(readings.begun.acquire)
    await asyncio.to_thread(readings.begun.acquire)
    third = read(catalog)
    readings.let_go()
    await second
    await asyncio.to_thread(readings.begun.acquire)
    assert not third.done()
    readings.let_go()
    await third
    assert readings.count == 3


async def test_notes_that_cannot_be_read_are_an_error_however_long_it_takes_to_find_out(tmp_path, readings):
    project = tmp_path / "project"
    make_repository(project)
    folder = tmp_path / ".local/share/memrecalld/projects" / native_key(str(project))
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    catalog = make_catalog(tmp_path, layouts=("native",))
    found_out = read(catalog, project)
    readings.let_go(2)  # the project's notes and the user's
    assert isinstance(await found_out, ProjectMemoryError)
    assert isinstance(await read(catalog, project, within_s=SHORT_S), ProjectMemoryError)
    in_the_end = read(catalog, project)
    readings.let_go(100)
    await in_the_end  # no thread is left
