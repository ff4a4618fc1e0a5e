"""One memory folder as the daemon holds it: its notes, kept up to date at the cost of what changed.

Where events can be trusted, a refresh reads the files that were written since the last one, and nothing when
there were none. Else it compares the data of every file, in a thread of its own, so that a file system which
does not answer holds up nobody else. Everything but the reading happens on the event loop's thread.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

import msgspec

from memrecalld.errors import MemrecallError, ProjectMemoryError
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.document import Document
from memrecalld.memory.entry import Entry
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import BeingWritten, RootScan, Unfollowable, read_entry, scan_root
from memrecalld.memory.walk import Identity, identity_of
from memrecalld.memory.watcher import Changes, Watcher

_log = logging.getLogger("memrecalld.memory")

INLINE_FILES: Final = 16
"""Changed files that are read at once on the event loop's thread, 0.1 ms each; more go to the thread."""

_BATCH_S: Final = 0.005
"""How often a first reading passes on what it has."""

_SAVE_S: Final = 1.0
"""How long the end of the process waits until what a first reading found is saved."""


class CallSoon(Protocol):
    """``loop.call_soon_threadsafe``."""

    def __call__(self, callback: Callable[..., object], *args: object) -> object: ...


class Observer(Protocol):
    """Who wants to know of every change of the notes held, such as an index."""

    def changed(self, old: Document | None, new: Document | None) -> None:
        """A note came (``old`` is ``None``), went (``new`` is ``None``), or became another."""


class Folder:
    """The notes of one root.

    ``watcher`` is ``None`` where events are not to be used.
    """

    def __init__(
        self,
        root: Root,
        allowed: Sequence[str],
        *,
        call_soon: CallSoon,
        watcher: Watcher | None,
        cache: NoteCache | None = None,
    ) -> None:
        self.root = root
        self.error: MemrecallError | None = None
        """Why the notes could not be read the last time."""
        self.unwatched = False
        """Its events were wanted, and the system has no more of them to give."""
        self.observer: Observer | None = None
        self._allowed = allowed
        self._call_soon = call_soon
        self._watcher = watcher
        self._cache = cache
        self._unsaved: dict[str, Entry | None] = {}
        self._found: Mapping[str, Entry | None] = {}
        """What the first reading found that the cache does not have."""
        self._saver: threading.Thread | None = None
        self._changes = Changes()
        self._entries: dict[str, Entry] = {}
        self._scan: RootScan | None = None
        self._trusted = False
        self._reading = False
        self._waiting: list[Callable[[], None]] = []
        self._served: list[Callable[[], None]] | None = None
        """Whom the reading of everything that runs will serve; ``None`` if none runs."""
        self._before_it = False
        """Who comes now came before that reading began."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def documents(self) -> Iterable[Document]:
        """The notes."""
        return (entry.document for entry in self._entries.values())

    @property
    def scan(self) -> RootScan | None:
        """The last whole reading, if there was one."""
        return self._scan

    @property
    def missing(self) -> bool:
        """It did not exist when it was looked at last, and is not being looked at."""
        return not self._reading and self._scan is not None and self._scan.state == "missing"

    def get(self, relative_path: str) -> Document | None:
        """The note at a path, as held."""
        entry = self._entries.get(relative_path)
        return None if entry is None else entry.document

    def holds(self, document: Document) -> bool:
        """``document`` is one of its notes, or was."""
        return document.root == self.root.real_path and document.scope == self.root.scope

    # Keeping up ------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Have the next refresh compare everything, whatever events say."""
        self._changes.tree = True

    def use_events(self, watcher: Watcher | None) -> None:
        """From the next refresh on, learn of changes from a watcher, or from none."""
        if self._watcher is not None:
            self._watcher.keep_only(self._changes, set())
        self._watcher = watcher
        self.unwatched = False
        self._trusted = False

    def refresh(self, identity: Identity | None, done: Callable[[], None]) -> None:
        """Call ``done`` when every change completed before this call is held; at once if possible.

        ``identity`` is that of the root now, ``None`` if it does not exist. The caller has drained the
        watcher.
        """
        if self._before_it and self._served is not None:
            self._served.append(done)
        elif self._reading:
            self._waiting.append(lambda: self.refresh(identity, done))
        elif not self._trusted or self._changes.tree or self._scan is None or identity != self._scan.identity:
            self._served = [done]
            self._start(self._read_all, self._served)
        elif len(self._changes.files) > INLINE_FILES:
            self._start(self._read_changed, [lambda: self._conclude(identity, done)])
        else:
            if self._changes.files:
                self._apply(self._update(self._take_changed()))
            self._conclude(identity, done)

    def _conclude(self, identity: Identity | None, done: Callable[[], None]) -> None:
        """The changed files were read; some of what changed may only show in the whole."""
        if self._changes.tree:
            self.refresh(identity, done)
        else:
            done()

    def reread(self, relative_paths: Sequence[str], done: Callable[[], None]) -> None:
        """Call ``done`` when these notes are held as they are now; cheap where a whole refresh is not."""
        if self._trusted or (self._before_it and self._served is not None):
            self.refresh(_identity(self.root.real_path), done)
        elif self._reading:
            self._waiting.append(lambda: self.reread(relative_paths, done))
        else:
            self._start(lambda: partial(self._apply, self._update(relative_paths)), [done])

    def _start(self, work: Callable[[], Callable[[], None]], served: list[Callable[[], None]]) -> None:
        """Run ``work`` in a thread and what it returns on the loop's; then call those that it has ``served``.

        Who comes while it runs waits for another round, one for all: it may have passed the file that they
        mean already.
        """
        self._reading = True

        def finish(conclude: Callable[[], None]) -> None:
            self._reading, self._served = False, None
            conclude()
            waiting, self._waiting = self._waiting, []
            try:
                for done in served:
                    done()
            finally:
                self._serve(waiting)

        def run() -> None:
            try:
                conclude = work()
            except Exception as error:
                # Nothing but a fault of ours comes here. Whoever waits is told, and the next recall tries
                # again.
                _log.error("internal error: %s while a folder was read", type(error).__name__)
                conclude = partial(self._failed, MemrecallError("a memory folder could not be read"))
            self._call_soon(finish, conclude)
            # Not before: saving waits for the disk, and these notes may be those of a session's first prompt.
            found, self._found = self._found, {}
            if found and self._cache is not None:
                self._cache.save(self.root, found)

        threading.Thread(target=run, name="memrecalld-folder", daemon=True).start()

    def _serve(self, waiting: list[Callable[[], None]]) -> None:
        """Those who came while the last reading ran."""
        self._before_it = True
        try:
            for again in waiting:
                again()
        finally:
            self._before_it = False

    # The whole folder ------------------------------------------------------------------------------

    def _read_all(self) -> Callable[[], None]:
        """Compare every file with what is held, watching each folder from before it is listed."""
        changes, watcher = self._changes, self._watcher
        changes.clear()
        watches: set[int] = set()
        refused: OSError | None = None

        def entering(descriptor: int, prefix: str) -> None:
            nonlocal refused
            if watcher is not None and refused is None:
                try:
                    watches.add(watcher.add(descriptor, changes, prefix))
                except OSError as error:
                    refused = error

        cold = self._scan is None
        previous: Mapping[str, Entry] = self._entries
        if cold:
            previous = self._cache.load(self.root) if self._cache is not None else {}
        batch = _Batch(lambda read: self._call_soon(self._apply, read)) if cold else None
        try:
            scan = scan_root(
                self.root,
                allowed=self._allowed,
                previous=previous,
                entering=entering,
                publish=batch,
            )
        except ProjectMemoryError as error:
            return partial(self._failed, error)
        if cold:
            self._found, self._saver = scan.changed, threading.current_thread()
        return partial(self._read, scan, watcher, watches, refused)

    def save(self) -> None:
        """Keep what changed since the first reading, for the next process. Blocks."""
        if self._saver is not None:
            self._saver.join(_SAVE_S)
        if self._cache is not None and self._unsaved:
            self._cache.save(self.root, self._unsaved)
            self._unsaved = {}

    def _failed(self, error: MemrecallError) -> None:
        self.error = error
        self._trusted = False

    def _read(
        self, scan: RootScan, watcher: Watcher | None, watches: set[int], refused: OSError | None
    ) -> None:
        self.error = None
        self._apply(scan.changed if self._scan is not None else scan.entries)
        if self._scan is None:
            self._unsaved.clear()
        self._changes.files.update(scan.unfinished)
        self._scan = msgspec.structs.replace(scan, entries={}, changed={})
        # While the thread read, another configuration may have come into effect.
        current = watcher is self._watcher
        self._trusted = watcher is not None and current and refused is None and not scan.linked
        if watcher is not None:
            watcher.keep_only(self._changes, watches if self._trusted else set())
        if refused is not None and current:
            self.unwatched = True
            self._watcher = None  # a limit of the system: asking again at every recall changes nothing
            reason = errno.errorcode.get(refused.errno or 0, "unknown")
            _log.warning("no events of a memory folder (%s); its files are compared instead", reason)

    # Single files ----------------------------------------------------------------------------------

    def _read_changed(self) -> Callable[[], None]:
        return partial(self._apply, self._update(self._take_changed()))

    def _take_changed(self) -> list[str]:
        paths = sorted(self._changes.files)
        self._changes.files.clear()
        return paths

    def _update(self, paths: Iterable[str]) -> dict[str, Entry | None]:
        """Read the files at these paths."""
        read: dict[str, Entry | None] = {}
        for path in paths:
            old = self._entries.get(path)
            try:
                entry = read_entry(self.root, path, old, allowed=self._allowed)
            except BeingWritten:
                self._changes.files.add(path)
                continue
            except (Unfollowable, OSError):
                self._changes.tree = True
                continue
            if entry is not None and entry.provisional:
                self._changes.files.add(
                    path
                )  # its last good form stands in for a while; look again next time
            read[path] = entry
        return read

    def _apply(self, read: Mapping[str, Entry | None]) -> None:
        for path, entry in read.items():
            old = self._entries.get(path)
            if entry is old:
                continue
            if entry is None:
                del self._entries[path]
            else:
                self._entries[path] = entry
            self._unsaved[path] = entry
            before = None if old is None else old.document
            after = None if entry is None else entry.document
            if before is not after and self.observer is not None:
                self.observer.changed(before, after)


def _identity(path: str) -> Identity | None:
    try:
        return identity_of(os.stat(path))  # noqa: PTH116 - often, and a string already
    except OSError:
        return None


class _Batch:
    """Collects what is read, and passes it on a few milliseconds' worth at a time."""

    def __init__(self, pass_on: Callable[[dict[str, Entry]], object]) -> None:
        self._pass_on = pass_on
        self._read: dict[str, Entry] = {}
        self._due = time.monotonic() + _BATCH_S

    def __call__(self, path: str, entry: Entry) -> None:
        self._read[path] = entry
        now = time.monotonic()
        if now >= self._due:
            read, self._read = self._read, {}
            self._due = now + _BATCH_S
            self._pass_on(read)
