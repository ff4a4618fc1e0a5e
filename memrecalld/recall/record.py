"""One file that holds delivered sets.

Sessions and notes are digests here: the file tells nobody what was asked, or what is noted where.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from memrecalld.database import open_database
from memrecalld.recall.backlog import Statement
from memrecalld.recall.maintenance import MAX_LOG_BYTES, Maintenance, prune
from memrecalld.recall.session import DeliveryId, Entry

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


class Record:
    """An open file. It may be opened on one thread and used on another."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Own a connection to the file at ``path``. Raises ``sqlite3.Error``."""
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        # By itself SQLite would now and then wait for the disk in the middle of a commit: to move the log
        # into the file, and when it begins the log anew. That is up to a second on a busy disk, between
        # the record and its hand-over. ``Maintenance`` waits instead, on a thread of its own.
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(f"PRAGMA journal_size_limit={MAX_LOG_BYTES:d}")
        day, number = connection.execute("SELECT max(day), max(number) FROM delivered").fetchone()
        self.day: Final[int] = day or 0
        """The last day, since the epoch, of what was there when it was opened."""
        self.next_number: Final[int] = (number or 0) + 1
        """Beyond the numbers of the deliveries that were there."""
        self._connection = connection
        self._maintenance = Maintenance(path)
        self.place: Final = self._maintenance.place
        prune(connection)

    @classmethod
    def open(cls, path: Path, *, quiet: bool) -> Self | None:
        """Open or create the file; ``None`` where that is impossible, which is logged unless ``quiet``."""
        connection = open_database(path, version=_VERSION, schema=_SCHEMA, quiet=quiet)
        if connection is None:
            return None
        try:
            return cls(connection, path)
        except sqlite3.Error:
            connection.close()
            return None

    def load(self, session: bytes) -> dict[bytes, Entry]:
        """A session's set by note identity, oldest first. Raises ``sqlite3.Error``."""
        return {
            identity: Entry(content, DeliveryId(series, number))
            for identity, content, series, number in self._connection.execute(
                "SELECT identity, content, series, number FROM delivered WHERE session = ?"
                " ORDER BY day, number",
                (session,),
            )
        }

    def write(self, statements: Sequence[Statement]) -> None:
        """Carry out all of them, safe from a kill of the process; or none, and raise ``sqlite3.Error``."""
        connection = self._connection
        if len(statements) == 1:
            changes = connection.execute(*statements[0]).rowcount
        else:
            try:
                connection.execute("BEGIN IMMEDIATE")
                changes = sum(connection.execute(*statement).rowcount for statement in statements)
                connection.execute("COMMIT")
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        self._maintenance.changed(changes, connection)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
