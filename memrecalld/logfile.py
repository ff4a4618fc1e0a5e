"""A log file of bounded size, for a daemon that nobody's terminal and no journal listens to."""

from __future__ import annotations

import logging
import os
import stat
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, Self

from memrecalld.database import make_private_directory
from memrecalld.programs import shown

_log = logging.getLogger("memrecalld.server")

NO_LOG: Final = "no log file"
"""How the line on standard error begins that says why there is none."""

MAX_BYTES: Final = 1024 * 1024
"""At this size the file becomes ``<name>.1``, in place of the one before. A quiet daemon writes a few lines a
month."""


class LogFile(RotatingFileHandler):
    """A logging handler on a private file, and on one former file beside it."""

    _has_streams = False

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """Append to a file that only this user may read; ``None`` where that cannot be had.

        A daemon does without a log rather than not serve.
        """
        try:
            make_private_directory(path.parent)
            return cls(path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            # What is no text of the system's is one of ours, with the next step.
            system = error.strerror
            reason = f"{system}: {shown('memrecall doctor')} names it" if system else str(error)
            print(f"memrecalld: {NO_LOG}: {path} cannot be used: {reason}", file=sys.stderr)
            return None

    def take_standard_streams(self) -> None:
        """From now on standard output and error are the file: what the interpreter says is there too."""
        self._has_streams = True
        if self.stream is not None:
            for number in (1, 2):
                os.dup2(self.stream.fileno(), number)

    def doRollover(self) -> None:
        super().doRollover()
        if self._has_streams:
            self.take_standard_streams()

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    # Without O_NONBLOCK, a pipe that nobody reads would hold the start up for ever.
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no regular file")
    os.set_blocking(descriptor, True)
    os.fchmod(descriptor, 0o600)
    return descriptor
