"""The delivered sets of all sessions, where they outlive the process.

Sessions and notes are digests here: the file tells nobody what was asked, or what is noted where.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from memrecalld.database import is_damage, open_database, set_aside
from memrecalld.recall.backlog import Backlog
from memrecalld.recall.clock import Clock
from memrecalld.recall.maintenance import MAX_LOG_BYTES, Maintenance, prune
from memrecalld.recall.session import DeliveryId, Entry, SessionKey

_log = logging.getLogger("memrecalld.recall")

RETRY_S: Final = 5.0
"""How often a file that cannot be written is tried again."""

_BUSY_MS: Final = 20
"""How long another process may hold the file: recalls wait meanwhile."""

_VERSION: Final = 2
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS delivered (
    session BLOB NOT NULL,
    identity BLOB NOT NULL,
    content BLOB NOT NULL,
    day INTEGER NOT NULL,
    series INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (session, identity)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS delivered_by_day ON delivered (day);
"""

_DAY_NS: Final = 86_400_000_000_000


class SQLiteStore:
    """A store in a database. While that cannot be written, what is new is kept in memory, and written once it
    can; both is said once. A damaged file is set aside."""

    def __init__(self, path: Path, clock: Clock, count: Callable[[str], None]) -> None:
        """The file at ``path`` need not be usable now. ``count`` is told of failures."""
        self._path = path
        self._clock = clock
        self._count = count
        self._day = 0
        # The time, in microseconds, is beyond all numbers that were given out before: a hand-over takes
        # longer. Only a clock that was set back needs the file for that, which may not be there.
        self._number = clock.now_ns() // 1_000
        self._maintenance = Maintenance(path)
        self._backlog = Backlog()
        self._failing = False
        self._tried = clock.monotonic()
        self._connection = self._open()
        if self._connection is None:
            self._fail("unusable")
        self.first_number = self._number  # a file that can be used only later may push the next ones up
        """Deliveries with smaller numbers are of earlier processes."""

    def next_number(self) -> int:
        """The next number of a delivery."""
        number = self._number
        self._number += 1
        return number

    def load(self, key: SessionKey) -> Mapping[bytes, Entry]:
        """The session's delivered set by note identity, oldest first."""
        session = _digest(key)
        stored: dict[bytes, Entry] = {}
        if self._connection is not None:
            try:
                stored = {
                    identity: Entry(content, DeliveryId(series, number))
                    for identity, content, series, number in self._connection.execute(
                        "SELECT identity, content, series, number FROM delivered WHERE session = ?"
                        " ORDER BY day, number",
                        (session,),
                    )
                }
            except sqlite3.Error as error:
                self._on_error(error)
        return self._backlog.over(session, stored)

    def put(self, key: SessionKey, entries: Mapping[bytes, Entry]) -> None:
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
            # the record and its hand-over. ``Maintenance`` waits instead, on a thread of its own.
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(f"PRAGMA journal_size_limit={MAX_LOG_BYTES:d}")
            day, number = connection.execute("SELECT max(day), max(number) FROM delivered").fetchone()
            self._day = max(self._day, day or 0)
            self._number = max(self._number, (number or 0) + 1)
            prune(connection)
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
        self._maintenance.changed(len(statements), connection)

    def _on_error(self, error: sqlite3.Error) -> None:
        self._fail(getattr(error, "sqlite_errorname", type(error).__name__))
        if is_damage(error):
            self.close()
            with contextlib.suppress(OSError):
                set_aside(self._path, "damaged")

    def _fail(self, reason: str) -> None:
        self._count(f"state.failed.{reason}")
        if not self._failing:
            self._failing = True
            self._tried = self._clock.monotonic()
            _log.warning("delivered notes are remembered in memory until they can be written (%s)", reason)


def _digest(key: SessionKey) -> bytes:
    session_id, agent_id = (part.encode("utf-8", "surrogatepass") for part in key)
    # The length keeps two different pairs from being one text.
    return blake2b(b"%d:%b%b" % (len(session_id), session_id, agent_id), digest_size=16).digest()
