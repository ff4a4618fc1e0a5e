"""The Unix socket: who may have it, and how it is bound and left.

A lock decides who serves a socket path, before anything is looked at; then a probe tells a live peer from a
dead socket; only then is a dead socket of ours replaced. Nothing else is ever removed. A socket that a
service manager made and passed on stays the manager's: it is served, and neither locked, removed nor bound
again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
from pathlib import Path
from typing import Final, Self

from memrecalld.errors import AlreadyServed, StartError
from memrecalld.paths import MAX_SOCKET_BYTES, TOO_LONG
from memrecalld.programs import shown

BACKLOG: Final = 512
"""Connections that may wait to be accepted; beyond, a client's attempt fails or waits."""
_PROBE_S: Final = 1.0


class Listener:
    """A listening socket that is ours alone until ``close``."""

    def __init__(self, sock: socket.socket, path: Path, lock: int | None) -> None:
        """Most callers want ``bind`` or ``adopt``; ``lock`` is ``None`` for a socket that others made."""
        self.socket = sock
        self.path = path
        self._lock = lock
        self._identity = _identity(path)

    @classmethod
    def bind(cls, path: Path) -> Self:
        """Take the socket path.

        Raises ``AlreadyServed`` when another program serves it, and ``StartError`` when the place is not
        private or cannot be had.
        """
        if len(os.fsencode(path)) > MAX_SOCKET_BYTES:
            raise StartError(TOO_LONG)
        _make_private(path.parent)
        lock = _lock(path)
        try:
            _remove_dead_socket(path)
            sock = _bind_private(path)
        except BaseException:
            os.close(lock)
            raise
        return cls(sock, path, lock)

    @classmethod
    def adopt(cls, sock: socket.socket) -> Self:
        """Serve a listening socket that a service manager made at a path.

        Raises ``StartError`` when others could have put it there or may reach it, and when it is not there
        any more.
        """
        path = Path(sock.getsockname())
        try:
            _check_private(path.parent)
            found = path.lstat()
        except OSError:
            found = None
        if found is None or not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
            raise StartError(
                f"the socket that was passed is not at {path} any more; "
                "make it anew: systemctl --user restart memrecalld.socket"
            )
        return cls(sock, path, None)

    @property
    def activated(self) -> bool:
        """A service manager listens on the path, and starts a daemon where none runs."""
        return self._lock is None

    def renew(self) -> None:
        """Listen at the path again, where it is free. The old socket is closed.

        Raises ``AlreadyServed`` and ``StartError`` as ``bind`` does, and for a socket that is not ours to
        bind; the old socket stays then.
        """
        if self._lock is None:
            raise StartError("the socket's path is gone, and it is the service manager's to make anew")
        _make_private(self.path.parent)
        lock = self._lock
        if _identity(_lock_path(self.path)) != _identity_of(os.fstat(lock)):
            # Whoever removed the socket removed the lock with it, and another daemon may have made a new one.
            lock = _lock(self.path)
        try:
            _remove_dead_socket(self.path)
            sock = _bind_private(self.path)
        except BaseException:
            if lock != self._lock:
                os.close(lock)
            raise
        if lock != self._lock:
            os.close(self._lock)
        self._lock = lock
        self.socket.close()
        self.socket = sock
        self._identity = _identity(self.path)

    def close(self) -> None:
        """Stop listening, and remove the socket if we made it and the path is still ours."""
        self.socket.close()
        if self._lock is None:
            return
        if self.owns_path():
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        os.close(self._lock)

    def owns_path(self) -> bool:
        """The path still leads to this socket: nobody removed or replaced it."""
        return self._identity is not None and _identity(self.path) == self._identity


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return _identity_of(found)


def _identity_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _make_private(directory: Path) -> None:
    """The socket's directory: made with 0700, or found to be ours, no link, and closed to others."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        _check_private(directory)
    except OSError as error:
        raise StartError(
            f"the socket's directory {directory} cannot be used ({error.strerror}); "
            "choose another socket with --socket or MEMRECALLD_SOCKET"
        ) from None


def _check_private(directory: Path) -> None:
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise StartError(f"{directory} is a link or no directory; remove it: rm {directory}")
    if found.st_uid != os.geteuid():
        raise StartError(
            f"{directory} belongs to user {found.st_uid}; "
            "choose another socket with --socket or MEMRECALLD_SOCKET"
        )
    if found.st_mode & 0o077:
        raise StartError(f"{directory} is open to other users; close it: chmod 700 {directory}")


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _lock(path: Path) -> int:
    lock_path = _lock_path(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lock = os.open(lock_path, flags, 0o600)
    except OSError as error:
        raise StartError(f"the lock {lock_path} cannot be opened ({error.strerror}); remove it") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise AlreadyServed(
            f"another memrecalld serves {path}; stop it first, or use it: {shown('memrecall status')}"
        ) from None
    return lock


def _remove_dead_socket(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise StartError(
            f"{path} exists and is no socket; move it away, or choose another socket with --socket"
        )
    if found.st_uid != os.geteuid():
        raise StartError(f"{path} belongs to user {found.st_uid}; choose another socket with --socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except OSError as error:
            if error.errno in {errno.ECONNREFUSED, errno.ENOENT}:
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
                return
    raise AlreadyServed(
        f"another program serves {path}; stop it first, or choose another socket with --socket"
    )


def _bind_private(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        # The mode of the socket's file comes from the descriptor's mode at bind (unix(7)), so there is no
        # moment in which it is wider, and the process's umask, which all threads share, is left alone.
        os.fchmod(sock.fileno(), 0o600)
        sock.bind(str(path))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise StartError(
            f"cannot listen on {path} ({error.strerror}); choose another socket with --socket"
        ) from None
    sock.setblocking(False)
    return sock
