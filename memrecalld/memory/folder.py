"""One memory folder as the daemon holds it: its notes, brought up to date by a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from memrecalld.errors import MemrecallError, ProjectMemoryError
from memrecalld.memory.document import Document
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import RootScan, scan_root


class CallSoon(Protocol):
    """``loop.call_soon_threadsafe``."""

    def __call__(self, callback: Callable[..., object], *args: object) -> object: ...


class Folder:
    """The notes of one root.

    A thread of its own reads it, so that a file system which does not answer holds up nobody else. Everything
    but the reading happens on the event loop's thread.
    """

    def __init__(self, root: Root, allowed: Sequence[str], call_soon: CallSoon) -> None:
        self.root = root
        self.error: MemrecallError | None = None
        """Why the notes could not be read the last time."""
        self._allowed = allowed
        self._call_soon = call_soon
        self._scan: RootScan | None = None
        self._documents: list[Document] = []
        self._waiting: list[Callable[[], None]] = []
        self._reading = False

    @property
    def documents(self) -> list[Document]:
        """The notes, in the order of the walk."""
        return self._documents

    @property
    def scan(self) -> RootScan | None:
        """The last reading, if there was one."""
        return self._scan

    def refresh(self, done: Callable[[], None]) -> None:
        """Call ``done`` when every change completed before this call is in ``documents``."""
        # A reading under way may have passed the changed file already, so these callers wait for the next
        # one.
        self._waiting.append(done)
        if not self._reading:
            self._read()

    def _read(self) -> None:
        self._reading = True
        served, self._waiting = self._waiting, []
        previous = self._scan.entries if self._scan is not None else {}

        def work() -> None:
            result: RootScan | MemrecallError
            try:
                result = scan_root(self.root, allowed=self._allowed, previous=previous)
            except ProjectMemoryError as error:
                result = error
            self._call_soon(self._finish, result, served)

        threading.Thread(target=work, name="memrecalld-folder", daemon=True).start()

    def _finish(self, result: RootScan | MemrecallError, served: list[Callable[[], None]]) -> None:
        self._reading = False
        if isinstance(result, MemrecallError):
            self.error = result
        else:
            self.error = None
            self._scan = result
            self._documents = result.documents
        for done in served:
            done()
        if self._waiting:
            self._read()
