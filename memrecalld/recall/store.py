"""The delivered sets of all sessions, where they outlive the process.

Sessions and notes are digests here: the file tells nobody what was asked, or what is noted where.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from memrecalld.database import open_database, set_aside
from memrecalld.recall.backlog import Backlog
from memrecalld.recall.clock import Clock
from memrecalld.recall.session import SessionKey

_log = logging.getLogger("memrecalld.recall")

KEPT_DAYS: Final = 90
"""A session untouched on so many later days of use is forgotten: no host keeps a context that long.

Days of use and not of the calendar, so that a clock that jumps, either way, makes nobody's session old.
"""

KEPT_ENTRIES: Final = 200_000
"""Deliveries kept in all, some 20 MB; beyond, the sessions untouched for longest are forgotten."""

RETRY_S: Final = 5.0
"""How often a file that cannot be written is tried again."""

_PRUNE_EVERY: Final = 10_000
"""Changes between two looks at what is too old or too much, 0.1 s each."""

_CHECKPOINT_EVERY: Final = 500
"""Changes that the write-ahead log gathers, some 4 MB, before they are moved into the file."""

_MAX_LOG_BYTES: Final = 16 * 1024 * 1024
"""Size of the write-ahead log above which the thread that moves it is taken not to keep up."""

_BUSY_MS: Final = 20
"""How long another process may hold the file: recalls wait meanwhile."""

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS delivered (
    session BLOB NOT NULL,
    identity BLOB NOT NULL,
    content BLOB NOT NULL,
    day INTEGER NOT NULL,
    PRIMARY KEY (session, identity)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS delivered_by_day ON delivered (day);
"""

_DAY_NS: Final = 86_400_000_000_000
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class SQLiteStore:
    """A store in a database. While that cannot be written, what is new is kept in memory, and written once it
    can; both is said once. A damaged file is set aside."""

    def __init__(self, path: Path, clock: Clock, count: Callable[[str], None]) -> None:
        """The file at ``path`` need not be usable now. ``count`` is told of failures."""
        self._path = path
        self._clock = clock
        self._count = count
        self._day = 0
        self._until_prune = _PRUNE_EVERY
        self._until_checkpoint = _CHECKPOINT_EVERY
        self._backlog = Backlog()
        self._failing = False
        self._tried = clock.monotonic()
        self._connection = self._open()
        if self._connection is None:
            self._fail("unusable")

    def load(self, key: SessionKey) -> Mapping[bytes, bytes]:
        """The session's delivered set, oldest first: note identity to content hash."""
        session = _digest(key)
        stored: dict[bytes, bytes] = {}
        if self._connection is not None:
            try:
                stored = dict(
                    self._connection.execute(
                        "SELECT identity, content FROM delivered WHERE session = ? ORDER BY day", (session,)
                    )
                )
            except sqlite3.Error as error:
                self._on_error(error)
        return self._backlog.over(session, stored)

    def put(self, key: SessionKey, entries: Mapping[bytes, bytes]) -> None:
        """Add or replace entries; returns when they are safe from a kill of the process."""
        if entries:
            self._backlog.change(_digest(key), entries)
            self._write()

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        """Take entries out again."""
        self._backlog.change(_digest(key), dict.fromkeys(identities))
        self._write()

    def clear(self, key: SessionKey) -> None:
        """Forget the session's whole set."""
        self._backlog.clear(_digest(key))
        self._write()

    @property
    def log_bytes(self) -> int:
        """Size of the write-ahead log; 0 if there is none."""
        try:
            return self._path.with_name(self._path.name + "-wal").stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # The file -------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection | None:
        connection = open_database(self._path, version=_VERSION, schema=_SCHEMA, quiet=self._failing)
        if connection is None:
            return None
        try:
            connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            # By itself SQLite would now and then wait for the disk in the middle of a commit: to move the log
            # into the file, and when it begins the log anew. That is up to a second on a busy disk, between
            # the record and its hand-over. ``_checkpoint`` waits instead, on a thread of its own.
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(f"PRAGMA journal_size_limit={_MAX_LOG_BYTES:d}")
            (day,) = connection.execute("SELECT max(day) FROM delivered").fetchone()
            self._day = max(self._day, day or 0)
            self._prune(connection)
        except sqlite3.Error:
            connection.close()
            return None
        return connection

    def _write(self) -> None:
        """Write what is waiting, which is one change unless there were failures."""
        if self._failing:
            now = self._clock.monotonic()
            if now - self._tried < RETRY_S:
                return
            self._tried = now
        if self._connection is None:
            self._connection = self._open()
            if self._connection is None:
                self._fail("unusable")
                return
        try:
            self._write_backlog(self._connection)
        except sqlite3.Error as error:
            self._on_error(error)
            return
        if self._failing:
            self._failing = False
            self._count("state.recovered")
            _log.warning("delivered notes are written to %s again", self._path.name)

    def _write_backlog(self, connection: sqlite3.Connection) -> None:
        # A clock that was set back makes nothing older than what was written before.
        self._day = max(self._day, self._clock.now_ns() // _DAY_NS)
        statements = self._backlog.statements(self._day)
        if len(statements) == 1:
            connection.execute(*statements[0])
        else:
            try:
                connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        self._backlog = Backlog()
        self._until_checkpoint -= len(statements)
        if self._until_checkpoint <= 0:
            self._until_checkpoint = _CHECKPOINT_EVERY
            self._empty_log(connection)
        self._until_prune -= len(statements)
        if self._until_prune <= 0:
            self._until_prune = _PRUNE_EVERY
            self._prune(connection)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """Move the log into the file, so that the next change begins it anew.

        That takes a moment in which all of it is moved, and there is none while changes come faster than the
        disk takes them: the log would grow for as long as that lasts. Then it is moved here, by a connection
        that does not wait for the disk, between two changes. Until the disk has it all the same, a power cut
        may damage the file.
        """
        if self.log_bytes > _MAX_LOG_BYTES:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        else:
            threading.Thread(
                target=_checkpoint, args=(self._path,), name="memrecalld-store", daemon=True
            ).start()

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Bounded by age and by count, whole sessions at a time: a half-forgotten one would repeat itself."""
        oldest = connection.execute(
            "SELECT DISTINCT day FROM delivered ORDER BY day DESC LIMIT 1 OFFSET ?", (KEPT_DAYS,)
        ).fetchone()
        if oldest is not None:
            connection.execute(
                "DELETE FROM delivered WHERE session IN "
                "(SELECT session FROM delivered GROUP BY session HAVING max(day) <= ?)",
                oldest,
            )
        (surplus,) = connection.execute("SELECT count(*) - ? FROM delivered", (KEPT_ENTRIES,)).fetchone()
        if surplus <= 0:
            return
        sessions = connection.execute(
            "SELECT session, count(*) FROM delivered GROUP BY session ORDER BY max(day)"
        ).fetchall()
        for session, entries in sessions:
            connection.execute("DELETE FROM delivered WHERE session = ?", (session,))
            surplus -= entries
            if surplus <= 0:
                return

    def _on_error(self, error: sqlite3.Error) -> None:
        self._fail(getattr(error, "sqlite_errorname", type(error).__name__))
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            self.close()
            with contextlib.suppress(OSError):
                set_aside(self._path, "damaged")

    def _fail(self, reason: str) -> None:
        self._count(f"state.failed.{reason}")
        if not self._failing:
            self._failing = True
            self._tried = self._clock.monotonic()
            _log.warning("delivered notes are remembered in memory until they can be written (%s)", reason)


def _checkpoint(path: Path) -> None:
    """Move the log into the file, on a connection of this thread's own, which holds up no writer."""
    # The next one does what this one could not.
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()


def _digest(key: SessionKey) -> bytes:
    session_id, agent_id = (part.encode("utf-8", "surrogatepass") for part in key)
    # The length keeps two different pairs from being one text.
    return blake2b(b"%d:%b%b" % (len(session_id), session_id, agent_id), digest_size=16).digest()
