"""Waiting for what another process does."""

from __future__ import annotations

import threading
from collections.abc import Callable

WAIT_S = 60.0


def poll(condition: Callable[[], bool], what: str) -> None:
    """Return when the condition holds; fail after ``WAIT_S``."""
    pause = threading.Event()
    for _ in range(int(WAIT_S / 0.02)):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError(f"never: {what}")
