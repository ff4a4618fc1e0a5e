"""The upkeep of the record: over a connection of its own, and to no file but the record's."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from memrecalld.database import open_database
from memrecalld.recall import maintenance
from memrecalld.recall.maintenance import Maintenance


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.sqlite"


@pytest.fixture
def connection(path: Path):
    opened = open_database(path, version=1, schema="CREATE TABLE IF NOT EXISTS delivered (day INTEGER);")
    assert opened is not None
    opened.execute("PRAGMA wal_autocheckpoint=0")
    yield opened
    opened.close()


def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is connected to from now on."""
    made: list[str] = []
    connect = sqlite3.connect

    def counted(database, **options):
        made.append(database)
        return connect(database, **options)

    monkeypatch.setattr(sqlite3, "connect", counted)
    return made


def change(maintained: Maintenance, connection: sqlite3.Connection) -> None:
    """One change more than the log gathers."""
    connection.execute("INSERT INTO delivered VALUES (1)")
    maintained.changed(maintenance._CHECKPOINT_EVERY + 1, connection)
    if maintained._thread is not None:
        maintained._thread.join()


def test_changes_are_moved_over_another_connection(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = connections(monkeypatch)
    before = path.stat().st_size
    change(Maintenance(path), connection)
    assert len(made) == 1
    assert path.stat().st_size > before


@pytest.mark.parametrize("replaced", [True, False])
def test_file_that_is_not_the_records_any_more_is_left_alone(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    maintained = Maintenance(path)
    maintained.changed(1, connection)
    moved = path.with_name("moved")
    path.rename(moved)
    if replaced:
        shutil.copy(moved, path)
    made = connections(monkeypatch)
    before = moved.stat().st_size
    change(maintained, connection)
    assert made == []
    assert moved.stat().st_size > before  # its log is emptied all the same
    assert path.exists() == replaced
