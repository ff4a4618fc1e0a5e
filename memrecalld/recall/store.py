"""The delivered sets of all sessions, where they outlive the process.

Sessions and notes are digests here: the file tells nobody what was asked, or what is noted where.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

from memrecalld.database import open_database
from memrecalld.recall.clock import Clock
from memrecalld.recall.session import DeliveredStore, MemoryStore, SessionKey

_log = logging.getLogger("memrecalld.recall")

KEPT_DAYS: Final = 90
"""Sessions untouched for longer are forgotten: no host keeps a conversation's context that long."""

KEPT_ENTRIES: Final = 200_000
"""Deliveries kept in all, some 20 MB; beyond, the oldest sessions are forgotten."""

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


def open_store(path: Path, clock: Clock) -> DeliveredStore:
    """The store in a file, or one in memory where there can be no file."""
    connection = open_database(path, version=_VERSION, schema=_SCHEMA)
    return MemoryStore() if connection is None else SQLiteStore(connection, clock)


class SQLiteStore:
    """A store in a database; once that fails, what is new is kept in memory only, and said once."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._failed: MemoryStore | None = None
        self._prune()

    def load(self, key: SessionKey) -> Mapping[bytes, bytes]:
        try:
            stored = dict(
                self._connection.execute(
                    "SELECT identity, content FROM delivered WHERE session = ?", (_digest(key),)
                )
            )
        except sqlite3.Error as error:
            self._fail(error)
            stored = {}
        return stored if self._failed is None else {**stored, **self._failed.load(key)}

    def put(self, key: SessionKey, entries: Mapping[bytes, bytes]) -> None:
        session, day = _digest(key), self._clock.now_ns() // _DAY_NS
        rows = [(session, identity, content, day) for identity, content in entries.items()]
        self._write("INSERT OR REPLACE INTO delivered VALUES (?, ?, ?, ?)", rows)
        if self._failed is not None:
            self._failed.put(key, entries)

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        session = _digest(key)
        gone = list(identities)
        self._write(
            "DELETE FROM delivered WHERE session = ? AND identity = ?", [(session, each) for each in gone]
        )
        if self._failed is not None:
            self._failed.delete(key, gone)

    def clear(self, key: SessionKey) -> None:
        self._write("DELETE FROM delivered WHERE session = ?", [(_digest(key),)])
        if self._failed is not None:
            self._failed.clear(key)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        try:
            if len(rows) == 1:
                self._connection.execute(statement, rows[0])
            else:
                self._connection.execute("BEGIN")
                self._connection.executemany(statement, rows)
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._fail(error)

    def _prune(self) -> None:
        """Bounded by age and by count, whole sessions at a time: a half-forgotten one would repeat itself."""
        oldest = self._clock.now_ns() // _DAY_NS - KEPT_DAYS
        self._write(
            "DELETE FROM delivered WHERE session IN "
            "(SELECT session FROM delivered GROUP BY session HAVING max(day) < ?)",
            [(oldest,)],
        )
        try:
            (count,) = self._connection.execute("SELECT count(*) FROM delivered").fetchone()
            sessions = (
                self._connection.execute(
                    "SELECT session, count(*) FROM delivered GROUP BY session ORDER BY max(day)"
                ).fetchall()
                if count > KEPT_ENTRIES
                else []
            )
        except sqlite3.Error as error:
            self._fail(error)
            return
        surplus = []
        for session, entries in sessions:
            if count <= KEPT_ENTRIES:
                break
            surplus.append((session,))
            count -= entries
        if surplus:
            self._write("DELETE FROM delivered WHERE session = ?", surplus)

    def _fail(self, error: sqlite3.Error) -> None:
        if self._failed is None:
            self._failed = MemoryStore()
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            _log.warning("delivered notes are remembered in memory only from now on (%s)", name)


def _digest(key: SessionKey) -> bytes:
    session_id, agent_id = (part.encode("utf-8", "surrogatepass") for part in key)
    # The length keeps two different pairs from being one text.
    return blake2b(b"%d:%b%b" % (len(session_id), session_id, agent_id), digest_size=16).digest()
