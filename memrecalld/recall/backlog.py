"""Changes of delivered sets that are not in the file yet."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Final

from memrecalld.recall.session import Entry

MAX_CHANGES: Final = 50_000
"""Changes kept while the file cannot be written, some 10 MB; beyond, the oldest sessions' are forgotten."""

_INSERT: Final = "INSERT OR REPLACE INTO delivered VALUES (?, ?, ?, ?, ?, ?)"

_ROWS: Final = 50
"""Entries written in one statement. A hand-over's are: one takes a good half of the time of several."""

Statement = tuple[str, tuple[object, ...]]


class _Changes:
    def __init__(self) -> None:
        self.cleared = False
        self.entries: dict[bytes, Entry | None] = {}


class Backlog:
    """What to change of each session's set in the file: entries to write or take out, or all to forget."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, _Changes] = {}
        self._size = 0

    def change(self, session: bytes, entries: Mapping[bytes, Entry | None]) -> None:
        """Entries to write, by note identity; those with ``None`` are taken out."""
        changes = self._of(session)
        self._size -= len(changes.entries)
        changes.entries.update(entries)
        self._size += len(changes.entries)
        while self._size > MAX_CHANGES and len(self._sessions) > 1:
            self._size -= len(self._sessions.pop(next(iter(self._sessions))).entries)

    def clear(self, session: bytes) -> None:
        """Forget the session's set, here and in the file."""
        changes = self._of(session)
        changes.cleared = True
        self._size -= len(changes.entries)
        changes.entries.clear()

    def over(self, session: bytes, stored: Mapping[bytes, Entry]) -> Mapping[bytes, Entry]:
        """A session's set, of which ``stored`` is in the file."""
        changes = self._sessions.get(session)
        if changes is None:
            return stored
        base: Mapping[bytes, Entry | None] = {} if changes.cleared else stored
        return {key: entry for key, entry in {**base, **changes.entries}.items() if entry is not None}

    def __bool__(self) -> bool:
        """Something is to be written."""
        return bool(self._sessions)

    def oldest(self) -> bytes:
        """The session that has waited for longest."""
        return next(iter(self._sessions))

    def statements(self, session: bytes, day: int) -> list[Statement]:
        """SQL that brings a session's set in the file up to date."""
        changes = self._sessions[session]
        statements: list[Statement] = []
        if changes.cleared:
            statements.append(("DELETE FROM delivered WHERE session = ?", (session,)))
        rows: list[tuple[object, ...]] = []
        for identity, entry in changes.entries.items():
            if entry is None:
                statements.append(
                    ("DELETE FROM delivered WHERE session = ? AND identity = ?", (session, identity))
                )
            else:
                rows.append((session, identity, entry.content, day, *entry.delivery))
        for first in range(0, len(rows), _ROWS):
            some = rows[first : first + _ROWS]
            statements.append((_INSERT + ", (?, ?, ?, ?, ?, ?)" * (len(some) - 1), tuple(chain(*some))))
        return statements

    def written(self, session: bytes) -> None:
        """The session's set in the file is up to date."""
        self._size -= len(self._sessions.pop(session).entries)

    def _of(self, session: bytes) -> _Changes:
        changes = self._sessions.pop(session, None) or _Changes()
        self._sessions[session] = changes
        return changes
