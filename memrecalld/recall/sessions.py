"""The sessions that the engine holds in memory; the delivered sets of all others are in the store alone."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from memrecalld.recall.clock import Clock
from memrecalld.recall.session import DeliveredStore, Session, SessionKey

HELD_SESSIONS: Final = 2_048
"""Sessions kept in memory. Beyond, the least recently used without an open turn is dropped; its delivered set
stays in the store."""

HELD_SESSION_S: Final = 3_600.0
"""A session that was not used for so long is dropped from memory, too."""


class Sessions:
    """By key, the least recently used first."""

    def __init__(self, store: DeliveredStore, clock: Clock, kept: Container[SessionKey]) -> None:
        """Those in ``kept`` are never dropped: they have an open turn."""
        self._store = store
        self._clock = clock
        self._kept = kept
        self._held: dict[SessionKey, Session] = {}
        store.keep(lambda: ((key, session.delivered.entries) for key, session in self._held.items()))

    def __len__(self) -> int:
        return len(self._held)

    def held(self, key: SessionKey) -> Session | None:
        """The session, if it is in memory."""
        return self._held.get(key)

    def peek(self, key: SessionKey) -> Session:
        """The session, for reading; one that is not held is as its last turn left it."""
        return self._held.get(key) or Session(key, self._store)

    def use(self, key: SessionKey) -> Session:
        """The session, which is the most recently used from now on. One that is new may displace others."""
        session = self._held.pop(key, None)
        if session is None:
            session = Session(key, self._store)
            self._drop_idle()
        session.used = self._clock.monotonic()
        self._held[key] = session
        return session

    def _drop_idle(self) -> None:
        surplus = len(self._held) - HELD_SESSIONS + 1
        oldest = self._clock.monotonic() - HELD_SESSION_S
        idle: list[SessionKey] = []
        for key, session in self._held.items():
            if len(idle) >= surplus and session.used > oldest:
                break
            if key not in self._kept:
                idle.append(key)
        for key in idle:
            del self._held[key]
