"""The delivered sets of all sessions, where they outlive the process."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from memrecalld.database import is_damage, set_aside
from memrecalld.recall.backlog import Backlog
from memrecalld.recall.clock import Clock
from memrecalld.recall.look import Look
from memrecalld.recall.record import Record
from memrecalld.recall.session import Entry, Held, SessionKey

_log = logging.getLogger("memrecalld.recall")

_DAY_NS: Final = 86_400_000_000_000


class SQLiteStore:
    """A store in a database. While that cannot be written, what is new is kept in memory, and written once it
    can; both is said once. A damaged file is set aside, and one that was removed or replaced is left: what
    sessions in memory were given goes into the next."""

    def __init__(self, path: Path, clock: Clock, count: Callable[[str], None]) -> None:
        """The file at ``path`` need not be usable now. ``count`` is told of failures."""
        self._path = path
        self._clock = clock
        self._count = count
        self._day = 0
        # The time, in microseconds, is beyond all numbers that were given out before: a hand-over takes
        # longer. Only a clock that was set back needs the file for that, which may not be there.
        self._number = clock.now_ns() // 1_000
        self._held: Held = tuple
        self._backlog = Backlog()
        self._emptying = False
        self._failing = False
        """Nothing can be written; it is tried again when the store is looked after."""
        self._told = False
        """It was said that nothing can be written, and not yet that all was."""
        self._look: Look | None = None
        self._record: Record | None = None
        self._use(self._open())
        self.first_number = self._number  # a file that can be used only later may push the next ones up
        """Deliveries with smaller numbers are of earlier processes."""

    def keep(self, held: Held) -> None:
        """What is ``held`` belongs into whatever file is begun anew, whenever that is."""
        self._held = held

    def next_number(self) -> int:
        """The next number of a delivery."""
        number = self._number
        self._number += 1
        return number

    def load(self, key: SessionKey) -> Mapping[bytes, Entry]:
        """The session's delivered set by note identity, oldest first."""
        session = _digest(key)
        stored: Mapping[bytes, Entry] = {}
        if self._record is not None:
            try:
                stored = self._record.load(session)
            except sqlite3.Error as error:
                self._on_error(error)
        return self._backlog.over(session, stored)

    def put(self, key: SessionKey, entries: Mapping[bytes, Entry]) -> None:
        """Add or replace entries; returns when they are safe from a kill of the process."""
        if entries:
            session = self._changing(key)
            self._backlog.change(session, entries)
            self._write(session)

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        """Take entries out again."""
        session = self._changing(key)
        self._backlog.change(session, dict.fromkeys(identities))
        self._write(session)

    def clear(self, key: SessionKey) -> None:
        """Forget the session's whole set."""
        session = self._changing(key)
        self._backlog.clear(session)
        self._write(session)

    def look_after(self) -> None:
        """Begin anew where the file is not there any more, and try again what could not be done.

        To be called now and then, rather than at each hand-over: what goes into a file that was removed a
        moment ago is in memory too, and only a kill in the same moment costs it.
        """
        self._take_result()
        if self._look is None:
            self._begin_look()
        if self._failing and self._backlog and self._try(self._backlog.oldest()):
            self._empty()

    def close(self) -> None:
        """Close the file, with all in it that can be there."""
        self._finish_look()
        self._begin_look()  # what the last one saw may be gone by now
        if not self._finish_look():
            return  # the file system does not answer
        while self._backlog and self._try(self._backlog.oldest()):
            pass
        if self._record is not None:
            self._record.close()
            self._record = None

    # The file -------------------------------------------------------------------------------------

    def _open(self) -> Record | None:
        return Record.open(self._path, quiet=self._failing)

    def _use(self, record: Record | None) -> None:
        self._record = record
        if record is None:
            self._fail("unusable")
            return
        self._day = max(self._day, record.day)
        self._number = max(self._number, record.next_number)
        self._failing = False

    def _changing(self, key: SessionKey) -> bytes:
        self._take_result()
        return _digest(key)

    def _begin_look(self) -> None:
        self._look = Look(None if self._record is None else self._record.place, self._open)

    def _finish_look(self) -> bool:
        """Wait for a look that is under way; whether it came to an end in time."""
        over = self._look is None or self._look.wait()
        self._take_result()
        return over

    def _take_result(self) -> None:
        """Use what the last look has found, once it is over."""
        if self._look is not None and self._look.over:
            look, self._look = self._look, None
            if look.lost:
                self._begin_anew(look.found)

    def _begin_anew(self, record: Record | None) -> None:
        if self._record is not None:
            _log.warning(
                "%s was removed or replaced; a new one is begun with what the sessions in memory were given",
                self._path.name,
            )
            self._record.close()
        elif record is None:
            return
        self._use(record)
        for key, entries in self._held():
            session = _digest(key)
            self._backlog.clear(session)
            self._backlog.change(session, entries)
        self._tell_recovery()
        self._empty()

    def _empty(self) -> None:
        """Write what is waiting, a session at a time, between which everybody else has a turn."""
        if not self._emptying and self._backlog:
            self._emptying = True
            self._clock.call_later(0, self._empty_on)

    def _empty_on(self) -> None:
        self._emptying = False
        if self._backlog and self._try(self._backlog.oldest()):
            self._empty()

    def _write(self, session: bytes) -> None:
        if not self._failing:
            self._try(session)

    def _try(self, session: bytes) -> bool:
        """Write what is waiting of a session; whether that was possible."""
        if self._record is None:
            return False
        # A clock that was set back makes nothing older than what was written before.
        self._day = max(self._day, self._clock.now_ns() // _DAY_NS)
        try:
            self._record.write(self._backlog.statements(session, self._day))
        except sqlite3.Error as error:
            self._on_error(error)
            return False
        self._backlog.written(session)
        self._failing = False
        self._tell_recovery()
        return True

    def _on_error(self, error: sqlite3.Error) -> None:
        self._fail(getattr(error, "sqlite_errorname", type(error).__name__))
        if is_damage(error) and self._record is not None:
            self._record.close()
            self._record = None
            with contextlib.suppress(OSError):
                set_aside(self._path, "damaged")

    def _tell_recovery(self) -> None:
        if self._told and not self._failing and not self._backlog:
            self._told = False
            self._count("state.recovered")
            _log.warning("delivered notes are written to %s again", self._path.name)

    def _fail(self, reason: str) -> None:
        self._count(f"state.failed.{reason}")
        self._failing = True
        if not self._told:
            self._told = True
            _log.warning("delivered notes are remembered in memory until they can be written (%s)", reason)


def _digest(key: SessionKey) -> bytes:
    session_id, agent_id = (part.encode("utf-8", "surrogatepass") for part in key)
    # The length keeps two different pairs from being one text.
    return blake2b(b"%d:%b%b" % (len(session_id), session_id, agent_id), digest_size=16).digest()
