"""The way to the daemon: which socket, whose it is, and who answers on it.

Notes are private, and so is what a user asks: none of it goes to a socket that others could have put there.
"""

from __future__ import annotations

import os
import socket
import stat
import struct

from memrecalld.client.errors import DaemonUnavailable
from memrecalld.paths import MAX_SOCKET_BYTES, TOO_LONG, socket_path
from memrecalld.programs import shown

RETRY_S = 0.01
"""Pause before trying again to connect to a daemon whose queue of new connections is full."""

_ROOT = 0
_UCRED = struct.Struct("iII")
"""``struct ucred`` of SO_PEERCRED: pid, uid, gid (unix(7))."""


def find_socket(path: str | None) -> str:
    """The path given, or the daemon's usual one. Raises ``DaemonUnavailable`` where that cannot be said."""
    if path is not None:
        return path
    try:
        return socket_path(os.environ)
    except OSError as error:
        raise DaemonUnavailable(str(error)) from None


def make_socket(path: str) -> socket.socket:
    """A non-blocking socket for ``try_connect``.

    Raises ``DaemonUnavailable`` unless the socket's folder and the socket are this user's, and nobody else
    may put something into the folder.
    """
    folder = os.path.dirname(path) or "."  # noqa: PTH120 - pathlib takes longer to import than the whole call
    try:
        if len(os.fsencode(path)) > MAX_SOCKET_BYTES:
            raise DaemonUnavailable(TOO_LONG)
        place, found = os.lstat(folder), os.lstat(path)
    except FileNotFoundError:
        raise _nobody_serves(path) from None
    except (OSError, ValueError) as error:
        raise DaemonUnavailable(f"{path} cannot be reached: {error}") from None
    user = os.geteuid()
    if not stat.S_ISDIR(place.st_mode) or place.st_uid != user:
        raise DaemonUnavailable(f"refused {path}: {folder} is not a folder of user {user}")
    if place.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DaemonUnavailable(f"refused {path}: others may write to its folder; chmod 700 {folder}")
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != user:
        raise DaemonUnavailable(f"refused {path}: it is not a socket of user {user}")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.setblocking(False)
    return sock


def try_connect(sock: socket.socket, path: str) -> bool:
    """Connect, or return False while the daemon's queue is full.

    Raises ``DaemonUnavailable`` when nobody listens, or when who listens is neither this user nor root.
    """
    try:
        sock.connect(path)
    except BlockingIOError:
        # connect(2): on a Unix socket EAGAIN means a full queue, and nothing is under way.
        return False
    except (ConnectionRefusedError, FileNotFoundError):
        raise _nobody_serves(path) from None
    except OSError as error:
        raise DaemonUnavailable(f"{path} cannot be reached: {error}") from None
    _, uid, _ = _UCRED.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    if uid not in {os.geteuid(), _ROOT}:
        raise DaemonUnavailable(f"refused {path}: user {uid} listens there")
    return True


def _nobody_serves(path: str) -> DaemonUnavailable:
    return DaemonUnavailable(
        f"no memrecalld serves {path}; start it: {shown('memrecalld')}, "
        f"or have systemd do it: {shown('memrecall service install')}"
    )
