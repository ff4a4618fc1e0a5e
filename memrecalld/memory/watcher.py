"""What changed in the watched folders since the last look."""

from __future__ import annotations

import threading
from typing import Final

from memrecalld.memory.inotify import (
    IN_ATTRIB,
    IN_DELETE_SELF,
    IN_IGNORED,
    IN_ISDIR,
    IN_MOVE_SELF,
    IN_Q_OVERFLOW,
    IN_UNMOUNT,
    Inotify,
)
from memrecalld.memory.walk import is_topic_name

_SELF: Final = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED


class Changes:
    """What is known to have changed in one memory folder and has not been read yet."""

    __slots__ = ("files", "tree")

    def __init__(self) -> None:
        self.files: set[str] = set()
        """Relative paths of topics that were written, made, moved or removed."""
        self.tree = False
        """Something about the folders themselves changed, or events were lost: everything is to be compared.
        """

    def clear(self) -> None:
        """Everything is about to be read."""
        self.files.clear()
        self.tree = False


class Watcher:
    """The one inotify instance of the process, and which memory folder each watch is for.

    ``add`` may be called on any thread, ``drain`` only on one.
    """

    def __init__(self) -> None:
        """Raises ``OSError`` where there is no inotify to be had."""
        self._inotify = Inotify()
        self._lock = threading.Lock()
        self._watches: dict[int, dict[Changes, str]] = {}
        """For each watch, whose it is and the prefix of the relative paths in it."""

    def add(self, descriptor: int, changes: Changes, prefix: str) -> int:
        """Report what happens in an open folder to ``changes``; returns the watch.

        Whoever lists the folder after that misses nothing: what comes later is an event. Raises ``OSError``,
        with ``ENOSPC`` where the user has no watch left.
        """
        with self._lock:  # so that no event of the new watch is read before its owner is known
            watch = self._inotify.add(descriptor)
            self._watches.setdefault(watch, {})[changes] = prefix
        return watch

    def keep_only(self, changes: Changes, watches: set[int]) -> None:
        """Give up the watches of ``changes`` but these."""
        with self._lock:
            for watch, owners in list(self._watches.items()):
                if changes in owners and watch not in watches:
                    del owners[changes]
                    if not owners:
                        del self._watches[watch]
                        self._inotify.remove(watch)

    def drain(self) -> None:
        """Take note of everything that has happened up to now."""
        with self._lock:
            for watch, mask, name in self._inotify.read():
                if mask & IN_Q_OVERFLOW:
                    for owners in self._watches.values():
                        for changes in owners:
                            changes.tree = True
                    continue
                owners = self._watches.get(watch, {})
                if mask & (IN_ISDIR | _SELF) or not name:
                    # A folder was opened or closed to us, or came, went or moved. An attribute of the folder
                    # itself is reported once by its parent with a name and once by itself without.
                    if mask & IN_ATTRIB or mask & (IN_ISDIR | _SELF):
                        for changes in owners:
                            changes.tree = True
                    if mask & IN_IGNORED:
                        self._watches.pop(watch, None)
                elif is_topic_name(name):
                    for changes, prefix in owners.items():
                        changes.files.add(prefix + name)

    def close(self) -> None:
        """Give the instance back."""
        self._inotify.close()
