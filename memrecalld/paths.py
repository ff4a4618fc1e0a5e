"""The socket's place, for the daemon and for the clients that must find it.

A hook process starts, asks and ends within some 15 ms, and most of that would be imports: this module loads
nothing that the interpreter has not loaded already (``os``, and ``stat`` through it).
"""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:  # the name is enough for type checkers, and importing ``typing`` takes 5 ms
    from collections.abc import Mapping

_RUNTIME_ROOT = "/run/user"
"""Where systemd-logind keeps one private folder a user."""

_TEMPORARY_ROOT = "/tmp"  # noqa: S108 - whoever binds or connects checks the folder's owner


MAX_SOCKET_BYTES = 107
"""``sun_path`` holds 108 bytes with the closing NUL (unix(7))."""

TOO_LONG = (
    f"the path of the socket is longer than {MAX_SOCKET_BYTES} bytes, so that no socket can be there; "
    "choose a shorter one with --socket or MEMRECALLD_SOCKET"
)
"""What is wrong with a path of more than ``MAX_SOCKET_BYTES``, and the next step."""


def xdg_directory(environ: "Mapping[str, str]", name: str) -> str | None:
    """Return an XDG base directory, or None where it is unset, empty or relative.

    The XDG Base Directory Specification 0.8 wants relative values ignored.
    """
    value = environ.get(name, "")
    return value.rstrip("/") or "/" if value.startswith("/") else None


def socket_path(environ: "Mapping[str, str]") -> str:
    """Return the absolute path of the daemon's socket; nothing is created.

    The first that applies:

    1. ``MEMRECALLD_SOCKET``;
    2. ``$XDG_RUNTIME_DIR/memrecalld/memrecalld.sock``;
    3. the same under ``/run/user/<uid>``, if that is a folder of ours that nobody else may write to (cron and
       ``su`` sessions lack the variable, while the user's systemd has the folder and the socket);
    4. ``/tmp/memrecalld-<uid>/memrecalld.sock``. Anyone could have made that folder, so both sides use it
       only after checking that it is a real folder, ours, with mode 0700. ``TMPDIR`` has no say: shells with
       a temporary folder of their own would never find the daemon.

    Raises ``OSError`` for a relative ``MEMRECALLD_SOCKET``, which would mean another socket in every working
    directory. It is an ``OSError`` so that a hook may treat it as it treats a daemon that is not there.
    """
    override = environ.get("MEMRECALLD_SOCKET", "")
    if override:
        if not override.startswith("/"):
            raise OSError("MEMRECALLD_SOCKET must be an absolute path")
        return override
    runtime = xdg_directory(environ, "XDG_RUNTIME_DIR")
    if runtime is None:
        uid = os.getuid()
        runtime = f"{_RUNTIME_ROOT}/{uid}"
        if not _is_private(runtime, uid):
            return f"{_TEMPORARY_ROOT}/memrecalld-{uid}/memrecalld.sock"
    return f"{runtime}/memrecalld/memrecalld.sock"


def _is_private(folder: str, uid: int) -> bool:
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    writable_by_others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not writable_by_others
