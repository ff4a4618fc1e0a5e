"""Waiting for what may never answer: a file system on the network, a server that sends a byte a minute."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What ``work`` returns, or raises, if it does so in time.

    Raises ``TimeoutError`` otherwise; the thread goes on, and does not keep the process from ending.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            # Raised where it belongs, in the caller.
            errors.append(error)

    thread = threading.Thread(target=run, name="memrecall-doctor", daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    raise errors[0] if errors else TimeoutError
