"""A look at whether the record is still where others will look for it, and another one where it is not.

Both may wait for the disk, and for a file system that does not answer: they are for a thread.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Final

from memrecalld.database import Place
from memrecalld.recall.record import Record

_CLOSE_S: Final = 1.0
"""How long the end of the process waits for a look that is under way."""


class Look:
    """One look; it begins at once."""

    def __init__(self, place: Place | None, opened: Callable[[], Record | None]) -> None:
        """``place`` is that of the record in use, if there is one; ``opened`` opens another one there."""
        self.lost = False
        """There was no record in use, or it is not at its place any more."""
        self.found: Record | None = None
        """What was opened instead, if that was possible."""
        self._place = place
        self._opened = opened
        self._over = threading.Event()
        # ``Thread.start`` waits until the thread runs, and everybody with it: on a busy machine some ten
        # milliseconds.
        _thread.start_new_thread(self._run, ())

    @property
    def over(self) -> bool:
        """There is a result."""
        return self._over.is_set()

    def wait(self) -> bool:
        """Wait for the result, but not for ever; whether there is one."""
        return self._over.wait(_CLOSE_S)

    def _run(self) -> None:
        try:
            self._look()
        finally:
            self._over.set()

    def _look(self) -> None:
        if self._place is not None:
            if self._place.holds_it():
                return
            self._place.leave()
        self.lost = True
        self.found = self._opened()
