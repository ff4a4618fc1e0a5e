"""Memory folders for tests, and ways to look at them."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from memrecalld.memory.document import Scope
from memrecalld.memory.entry import Entry
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import RootScan, scan_root

_NOBODY = 65534

T = TypeVar("T")


def root_of(path: Path, scope: Scope = "project") -> Root:
    """The root at ``path``, resolved as ``places`` does."""
    return Root(
        scope=scope,
        layout="native",
        path=str(path),
        real_path=os.path.realpath(path),
        required=scope == "project",
    )


def later() -> int:
    """A time at which everything written so far has long been settled."""
    return time.time_ns() + 3_600_000_000_000


def scan(
    path: Path,
    *allowed: Path,
    scope: Scope = "project",
    previous: Mapping[str, Entry] | None = None,
    clock: Callable[[], int] = later,
) -> RootScan:
    """Scan ``path``, where links may lead into it and into ``allowed``."""
    root = root_of(path, scope)
    inside = [root.real_path, *(os.path.realpath(each) for each in allowed)]
    return scan_root(root, allowed=inside, previous=previous, clock=clock)


def titles(found: RootScan) -> dict[str, str]:
    """Path and title of each note found."""
    return {path: entry.document.title for path, entry in found.entries.items()}


def reasons(found: RootScan) -> dict[str, str]:
    """Path and reason of each thing skipped."""
    return {skip.relative_path: skip.reason for skip in found.skips}


def in_time(work: Callable[[], T], seconds: float = 20) -> T:
    """The result of ``work``; fails where a pipe or a circle holds it for longer than ``seconds``."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "still at work"
    if errors:
        raise errors[0]
    return results[0]


def as_ordinary_user(work: Callable[[], T]) -> T:
    """The result of ``work``, done in a thread for which permissions count even if the tests run as root."""
    if os.geteuid() != 0:
        return work()

    def unprivileged() -> T:
        # For this thread alone; the kernel takes away the right to override permissions along with it.
        ctypes.CDLL(None).setfsuid(_NOBODY)
        return work()

    return in_time(unprivileged)
