"""What a daemon looks after now and then, whoever is connected."""

from __future__ import annotations

from typing import Final, Protocol

from memrecalld.recall.clock import Clock
from memrecalld.server.notify import ServiceManager

CHECK_S: Final = 2.0
"""How soon a lost socket or record is noticed, and how old the status line gets."""

IDLE_S: Final = 24 * 60 * 60.0
"""A daemon that a service manager starts on demand leaves when nobody was connected, and no turn open, for so
long. A start takes a second or two, for which no agent's hook waits, so that the first prompt after it has no
notes: who works with it every day never meets that. Nothing is being read any more by then, since reading is
begun by those who connect."""


class Kept(Protocol):
    """The daemon, as far as it is looked after."""

    @property
    def status_line(self) -> str:
        """Counts, for people."""

    @property
    def busy(self) -> bool:
        """Somebody is connected, or a turn is open."""

    @property
    def last_used(self) -> float:
        """When somebody connected last, by the clock."""

    @property
    def reachable(self) -> bool:
        """The socket's path is still the daemon's."""

    def look_after_record(self) -> None:
        """See to it that what sessions were given is in the file that a restart will read."""

    def restore(self) -> None:
        """The path is not: bind it again, or stop."""

    def stop(self) -> None:
        """Drain and end."""


class Upkeep:
    """The round of checks, from ``start`` to ``close``."""

    def __init__(
        self, kept: Kept, *, clock: Clock, manager: ServiceManager, idle_s: float | None = None
    ) -> None:
        """``idle_s``: stop after so many unused seconds; ``None``: never."""
        self._kept = kept
        self._clock = clock
        self._manager = manager
        self._idle_s = idle_s
        # Twice within the manager's patience, so that one late round is no death.
        patience = manager.watchdog_s
        self._every = CHECK_S if patience is None else min(CHECK_S, patience / 2)
        self._told = ""
        self._busy_at = clock.monotonic()
        self._timer = clock.call_later(0, self._round)

    def close(self) -> None:
        """No more rounds."""
        self._timer.cancel()

    def _round(self) -> None:
        self._timer = self._clock.call_later(self._every, self._round)
        self._manager.alive()
        if (line := self._kept.status_line) != self._told:
            self._told = line
            self._manager.status(line)
        if not self._kept.reachable:
            self._kept.restore()
        self._kept.look_after_record()
        if self._idle_s is not None:
            self._leave_if_idle(self._idle_s)

    def _leave_if_idle(self, idle_s: float) -> None:
        now = self._clock.monotonic()
        if self._kept.busy:
            self._busy_at = now
        elif now - max(self._busy_at, self._kept.last_used) >= idle_s:
            self._kept.stop()
