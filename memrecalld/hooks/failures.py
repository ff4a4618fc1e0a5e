"""How often in a row the daemon failed the hooks of this user, and whether they were told.

Hook processes of several agents count at the same time, without locks: each failure appends one byte to a
file, and appending is atomic. The one whose byte is the first that says "told" tells.
"""

from __future__ import annotations

import os

from memrecalld.paths import xdg_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FAILURES_TOLD = 3
"""A daemon that restarts fails one or two calls, and nobody needs to know."""

_FAILED, _TOLD = b"f", b"t"
_READ_BYTES = 256
"""More than can be in the file: it grows no more once the user was told."""


def failures_file(environ: Mapping[str, str]) -> str | None:
    """Where failures are counted; None without a home."""
    state = xdg_directory(environ, "XDG_STATE_HOME")
    if state is None:
        home = xdg_directory(environ, "HOME")
        if home is None:
            return None
        state = f"{home}/.local/state"
    return f"{state}/memrecalld/hook-failures"


def clear(path: str) -> None:
    """The daemon answered. Never fails: what it answered matters more."""
    try:  # noqa: SIM105 - contextlib is not worth its import in a hook process
        os.unlink(path)  # noqa: PTH108 - nor is pathlib
    except OSError:
        pass


def count(path: str, *, may_tell: bool) -> bool:
    """The daemon failed: count that, and return whether to tell the user, now that it is shown to them.

    True for one process only until ``clear``. Raises ``OSError``.
    """
    descriptor = _open(path)
    try:
        seen = os.read(descriptor, _READ_BYTES)
        if _TOLD in seen:
            return False
        if len(seen) < FAILURES_TOLD:
            os.write(descriptor, _FAILED)
            seen = os.pread(descriptor, _READ_BYTES, 0)
        if len(seen) < FAILURES_TOLD or not may_tell:
            return False
        os.write(descriptor, _TOLD)
        # Of a file that is appended to, the position is the end of what this process wrote.
        written = os.lseek(descriptor, 0, os.SEEK_CUR)
        return os.pread(descriptor, _READ_BYTES, 0).index(_TOLD) == written - 1
    finally:
        os.close(descriptor)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
        return os.open(path, flags, 0o600)
