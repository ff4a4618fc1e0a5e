"""What keeps the database of delivered sets small: changes leave the log, and old sessions are forgotten.

That takes longer than a recall may wait, so it is done on a thread, over a connection of its own.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from pathlib import Path
from typing import Final

from memrecalld.database import Place, connect_again

KEPT_DAYS: Final = 90
"""A session untouched on so many later days of use is forgotten: no host keeps a context that long.

Days of use and not of the calendar, so that a clock that jumps, either way, makes nobody's session old.
"""

KEPT_ENTRIES: Final = 200_000
"""Deliveries kept in all, some 20 MB; beyond, the sessions untouched for longest are forgotten."""

MAX_LOG_BYTES: Final = 16 * 1024 * 1024
"""Size of the write-ahead log above which the thread that empties it is taken not to keep up."""

_CHECKPOINT_EVERY: Final = 500
"""Changes that the log gathers, some 4 MB, before they are moved into the file."""

_PRUNE_EVERY: Final = 10_000
"""Changes between two looks at what is too old or too much, 0.1 s each."""

_PAUSE_S: Final = 0.001
"""Between two sessions that are forgotten: who waits to write comes in, however many they are."""


class Maintenance:
    """The upkeep of one database, as it is changed."""

    def __init__(self, path: Path) -> None:
        """``path`` is where the database was opened right before."""
        self.place: Final = Place(path)
        self._path = path
        self._until_checkpoint = _CHECKPOINT_EVERY
        self._until_prune = _PRUNE_EVERY
        self._thread: threading.Thread | None = None

    @property
    def log_bytes(self) -> int:
        """Size of the write-ahead log; 0 if there is none."""
        try:
            return self._path.with_name(self._path.name + "-wal").stat().st_size
        except OSError:
            return 0

    def changed(self, changes: int, connection: sqlite3.Connection) -> None:
        """So many ``changes`` were made over ``connection``. Raises ``sqlite3.Error``."""
        self._until_checkpoint -= changes
        self._until_prune -= changes
        if self._until_checkpoint > 0:
            return
        self._until_checkpoint = _CHECKPOINT_EVERY
        if self.log_bytes > MAX_LOG_BYTES or not self.place.holds_it():
            # SQLite begins the log anew once all of it is moved. While changes come faster than the disk
            # takes them, that never is so for the thread, and the log would grow for as long as they do. A
            # connection that does not wait for the disk has it so, between two changes. Until the disk has
            # them all the same, a power cut may damage the file.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        elif self._thread is None or not self._thread.is_alive():
            pruning = self._until_prune <= 0
            if pruning:
                self._until_prune = _PRUNE_EVERY
            self._thread = threading.Thread(
                target=maintain, args=(self._path, pruning), name="memrecalld-store", daemon=True
            )
            self._thread.start()


def maintain(path: Path, pruning: bool) -> None:
    """Move the log of the database at ``path`` into its file and, if ``pruning``, forget what is too much."""
    # The next one does what this one could not.
    with contextlib.suppress(sqlite3.Error), contextlib.closing(connect_again(path)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        if pruning:
            prune(connection, pause_s=_PAUSE_S)
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def prune(connection: sqlite3.Connection, *, pause_s: float = 0.0) -> None:
    """Forget what is too old or too much, whole sessions at a time: a half-forgotten one would repeat itself.

    Sessions that are changed meanwhile are kept. Raises ``sqlite3.Error``.
    """
    oldest = connection.execute(
        "SELECT DISTINCT day FROM delivered ORDER BY day DESC LIMIT 1 OFFSET ?", (KEPT_DAYS,)
    ).fetchone()
    (entries,) = connection.execute("SELECT count(*) FROM delivered").fetchone()
    if oldest is None and entries <= KEPT_ENTRIES:
        return
    sessions = connection.execute(
        "SELECT session, max(day), count(*) FROM delivered GROUP BY session ORDER BY max(day)"
    ).fetchall()
    for session, day, count in sessions:
        if entries <= KEPT_ENTRIES and (oldest is None or day > oldest[0]):
            return
        connection.execute(
            "DELETE FROM delivered WHERE session = ?1"
            " AND (SELECT max(day), count(*) FROM delivered WHERE session = ?1) = (?2, ?3)",
            (session, day, count),
        )
        entries -= count
        time.sleep(pause_s)
