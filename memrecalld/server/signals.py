"""What signals ask of the daemon, from before there is an event loop that could take them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

_TERMINAL: Final = "/dev/tty"
"""The controlling terminal of whoever opens it (tty(4))."""


class Signals:
    """SIGTERM and SIGINT stop; SIGHUP reads the configuration again.

    They are not blocked until there is a loop, since a library's thread that was started earlier would take
    them then. Where the daemon was started in a terminal's foreground, the SIGHUP that says that the terminal
    is gone stops it, as it stops every program there that was not started with ``nohup``.
    """

    _STOP: Final = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self._came: set[int] = set()
        self._bound_to_terminal = signal.getsignal(signal.SIGHUP) == signal.SIG_DFL and _has_terminal()
        for number in (*self._STOP, signal.SIGHUP):
            signal.signal(number, self._take)

    def hand_over(
        self, loop: asyncio.AbstractEventLoop, *, stop: Callable[[], None], reload: Callable[[], None]
    ) -> None:
        """From now on ``loop`` calls these; at once for a signal that came before."""

        def hang_up() -> None:
            if self._bound_to_terminal and not _has_terminal():
                stop()
            else:
                reload()

        for number in self._STOP:
            loop.add_signal_handler(number, stop)
        loop.add_signal_handler(signal.SIGHUP, hang_up)
        if self._came.intersection(self._STOP):
            stop()
        elif self._came:
            hang_up()

    def _take(self, number: int, _frame: object) -> None:
        self._came.add(number)


def _has_terminal() -> bool:
    try:
        os.close(os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
