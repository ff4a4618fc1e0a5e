"""Time as the engine sees it, so that a test can turn the hands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that has not happened yet."""

    def cancel(self) -> None:
        """Make sure that the call never happens; harmless when it already has."""


class Clock(Protocol):
    """Two readings of time and one way to be called later."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def now_ns(self) -> int:
        """Wall-clock time, nanoseconds since the epoch; may jump."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call ``callback`` once, ``seconds`` from now."""


class LoopClock:
    """The clock of a running event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return time.monotonic()

    def now_ns(self) -> int:
        return time.time_ns()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return self._loop.call_later(seconds, callback)
