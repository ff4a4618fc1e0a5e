"""Parsed notes on disk, so that a new process reads again only what changed since.

A cache and nothing more: an entry counts only while the signature of its file is the same, and whatever is
wrong with the database, the notes are read from their files.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import memrecalld
from memrecalld.database import Place, connect_again, is_damage, open_database, set_aside
from memrecalld.memory.entry import Entry
from memrecalld.memory.layouts import Root
from memrecalld.memory.packing import packed, unpacked

_log = logging.getLogger("memrecalld.memory")

KEPT_DAYS: Final = 90
"""Folders that were not read for longer are forgotten."""

_FORMAT: Final = 5
_VERSION: Final = zlib.crc32(f"{memrecalld.__version__}/{_FORMAT}".encode()) & 0x7FFFFFFF
"""Another version of the program may read notes otherwise."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS folders (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    path BLOB NOT NULL,
    day INTEGER NOT NULL,
    UNIQUE (scope, path)
);
CREATE TABLE IF NOT EXISTS notes (
    folder INTEGER NOT NULL,
    path TEXT NOT NULL,
    note BLOB NOT NULL,
    UNIQUE (folder, path)
);
"""

_DAY_S: Final = 86_400

_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError, OSError)
"""What a database raises that cannot be used: the second where its message quotes what is damaged, the third
where its file is gone."""


class NoteCache:
    """The entries of all folders. Its methods may be called on any thread, one at a time goes ahead."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """``connection`` is to the database in the file at ``path``."""
        self._path = path
        self._connection: sqlite3.Connection | None = connection
        self._place = Place(path)
        self._lock = threading.Lock()
        self._forget_unused()

    @classmethod
    def open(cls, path: Path) -> NoteCache | None:
        """The cache in a file; ``None`` where there can be none."""
        # Looking for damage would mean reading all of it at every start; it is met soon enough.
        connection = open_database(path, version=_VERSION, schema=_SCHEMA, check=False)
        return None if connection is None else cls(connection, path)

    @property
    def usable(self) -> bool:
        """It has not failed so far."""
        return self._connection is not None

    def load(self, root: Root) -> Mapping[str, Entry]:
        """What is known of a folder, by relative path. It is read and decoded as it is asked for, fastest in
        the order of the paths, and may be used on one thread at a time."""
        return _Stored(root, self._rows(root))

    def _rows(self, root: Root) -> Iterator[tuple[str, bytes]]:
        """Paths in their order, and the notes as they are kept."""
        if not self.usable:
            return
        try:
            self._check_place()
            # A connection of its own: others may write between any two rows.
            with contextlib.closing(connect_again(self._path)) as connection:
                yield from connection.execute(
                    "SELECT notes.path, note FROM notes JOIN folders ON folder = id"
                    " WHERE scope = ? AND folders.path = ?"
                    # Of damaged values any type may be found, whatever the schema says.
                    " AND typeof(notes.path) = 'text' AND typeof(note) = 'blob' ORDER BY notes.path",
                    _key(root),
                )
        except _ERRORS as error:
            with self._lock:
                self._give_up(error)

    def save(self, root: Root, entries: Mapping[str, Entry | None]) -> None:
        """Keep what has changed in a folder; ``None`` stands for a note that is gone."""
        day = int(time.time() // _DAY_S)
        kept = [(path, packed(path, entry)) for path, entry in entries.items() if entry is not None]
        gone = [path for path, entry in entries.items() if entry is None]
        with self._lock:
            if self._connection is None:
                return
            try:
                self._check_place()
                self._connection.execute("BEGIN")
                (folder,) = self._connection.execute(
                    "INSERT INTO folders (scope, path, day) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET day = excluded.day RETURNING id",
                    (*_key(root), day),
                ).fetchone()
                self._connection.executemany(
                    "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", [(folder, *each) for each in kept]
                )
                self._connection.executemany(
                    "DELETE FROM notes WHERE folder = ? AND path = ?", [(folder, path) for path in gone]
                )
                self._connection.execute("COMMIT")
                self._truncate_log(self._connection)
            except _ERRORS as error:
                self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _forget_unused(self) -> None:
        oldest = int(time.time() // _DAY_S) - KEPT_DAYS
        with self._lock:
            if self._connection is None:
                return
            try:
                self._connection.execute("DELETE FROM folders WHERE day < ?", (oldest,))
                self._connection.execute("DELETE FROM notes WHERE folder NOT IN (SELECT id FROM folders)")
            except _ERRORS as error:
                self._give_up(error)

    def _check_place(self) -> None:
        """Raises ``FileNotFoundError`` where the file was removed or replaced."""
        if not self._place.holds_it():
            self._place.leave()
            raise FileNotFoundError

    @staticmethod
    def _truncate_log(connection: sqlite3.Connection) -> None:
        """Else the log stays as long as the first reading of the largest folder has made it."""
        (busy_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
        # While another folder is read, it is left to who saves next: a recall may be waiting for this one.
        connection.execute("PRAGMA busy_timeout=0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute(f"PRAGMA busy_timeout={busy_ms:d}")

    def _give_up(self, error: sqlite3.Error | UnicodeDecodeError | OSError) -> None:
        """Go on without the cache: it only saves time."""
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        _log.warning("the cache of notes cannot be used (%s); going on without it", name)
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if is_damage(error):
            with contextlib.suppress(OSError):
                set_aside(self._path, "damaged")


class _Stored(Mapping[str, Entry]):
    """The entries of one folder. To read all of them before the first is used would take longer than a recall
    waits."""

    def __init__(self, root: Root, rows: Iterator[tuple[str, bytes]]) -> None:
        self._root = root
        self._rows = rows
        self._notes: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> Entry:
        if path not in self._notes:
            for found, note in self._rows:
                self._notes[found] = note
                if found >= path:
                    break
        entry = unpacked(self._root, path, self._notes[path])
        if entry is None:
            raise KeyError(path)
        return entry

    def __iter__(self) -> Iterator[str]:
        self._notes.update(self._rows)
        return iter(self._notes)

    def __len__(self) -> int:
        self._notes.update(self._rows)
        return len(self._notes)


def _key(root: Root) -> tuple[str, bytes]:
    """Scope and path. A repository's notes are apart: the same folder is read unscreened where the
    configuration names it."""
    scope = root.layout if root.layout == "team" else root.scope
    return scope, root.real_path.encode("utf-8", "surrogateescape")
