"""Faults of the daemon itself, shown by kind and place and never in their own words.

The text of an exception, and the arguments that a failed callback is shown with, can hold whatever was being
handled: a query, a note, a path.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from typing import Any, Final

_log = logging.getLogger("memrecalld.server")

_SYSLOG: Final = {
    logging.DEBUG: 7,
    logging.INFO: 6,
    logging.WARNING: 4,
    logging.ERROR: 3,
    logging.CRITICAL: 2,
}
"""Levels as syslog(3) numbers them."""


class Formatter(logging.Formatter):
    """A log line; of an exception logged with it, by whatever library, its kind and place."""

    def __init__(self, *, journal: bool = False, dated: bool = False) -> None:
        """For the ``journal``, a line begins with its level as a number in angle brackets (sd-daemon(3)).

        A ``dated`` line says when, in local time.
        """
        line = "%(levelname)s %(name)s: %(message)s"
        super().__init__(f"%(asctime)s {line}" if dated else line)
        self._journal = journal

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        return f"<{_SYSLOG[record.levelno]}>{line}" if self._journal and record.levelno in _SYSLOG else line

    def formatException(self, ei: Any) -> str:  # noqa: ANN401 - logging's signature
        return "" if ei[1] is None else _describe(ei[1])


def is_journal(descriptor: int, environ: Mapping[str, str]) -> bool:
    """What is written to a descriptor goes to systemd's journal.

    ``JOURNAL_STREAM`` (systemd.exec(5)) is inherited by whatever a service starts, a terminal's shells among
    them, so that the descriptor has to be the one that it names.
    """
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def report(error: BaseException) -> None:
    """Log an unexpected error."""
    _log.error("internal error: %s", _describe(error))


def report_everywhere(loop: asyncio.AbstractEventLoop) -> None:
    """Log in this way, too, what is raised in callbacks of ``loop`` and in threads."""
    loop.set_exception_handler(_in_the_loop)
    threading.excepthook = _in_a_thread


def _describe(error: BaseException) -> str:
    """The type of an error, and the functions and lines that it came through."""
    places = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"{code.co_qualname}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    return f"{type(error).__name__} at {' > '.join(places)}"


def _in_the_loop(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if error is not None:
        report(error)
    else:
        _log.error("internal error: the event loop reports %s", ", ".join(sorted(context)))


def _in_a_thread(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is not None:
        report(arguments.exc_value)
