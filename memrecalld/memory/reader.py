"""Opening and reading files that somebody else may be changing, or may have laid out as a trap.

What a name stands for can change between any two system calls, so every decision is made on an opened
descriptor: whether it is a regular file, where it really lies, whether it changed while it was read. What a
link leads to is first opened as a mere reference (``O_PATH``), which neither blocks on a pipe nor wakes a
device.
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EAGAIN, ESTALE
from typing import Final

import msgspec

from memrecalld.memory.skips import Reason

MAX_FILE_BYTES: Final = 256 * 1024
"""Bytes of a file that are read; 1,200 characters of it can ever be shown."""

GRACE_NS: Final = 1_000_000_000
"""For so long after its last change a file that is empty, or does not hold still, is taken for half-written.
"""

WRITER_GRACE_NS: Final = 5_000_000_000
"""For so long, if it is open for writing: a program may keep a file open for good."""

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_LIST: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK
_REFER: Final = os.O_PATH | os.O_CLOEXEC

Signature = tuple[int, int, int, int, int]
"""``(size, mtime_ns, ctime_ns, inode, device)``: a file is unchanged while all five are the same."""


class Refused(Exception):
    """A file that is not read, with the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Found:
    """A regular file that may be read. Valid until the walk or the ``with`` block that gave it goes on."""

    __slots__ = ("_directory", "_name", "relative_path", "status")

    def __init__(self, relative_path: str, status: os.stat_result, name: str, directory: int | None) -> None:
        self.relative_path = relative_path
        self.status = status
        """As found; the file may be another by the time it is opened."""
        self._name = name
        self._directory = directory

    def open(self) -> int:
        """A descriptor of the file for reading, never of what a link put in its place leads to.

        Raises:
            OSError: it cannot be opened.
        """
        if self._directory is None:
            return os.open(self._name, _READ)
        return os.open(self._name, _READ | os.O_NOFOLLOW, dir_fd=self._directory)


class Reading(msgspec.Struct, frozen=True):
    """What was read of a file."""

    data: bytes
    """At most ``MAX_FILE_BYTES``."""
    status: os.stat_result
    shortened: bool
    """The file goes on beyond ``data``."""
    steady: bool
    """The file did not change from the opening to the end of the reading."""
    written_to: bool
    """It is open for writing somewhere, and was written not long ago."""


def signature_of(status: os.stat_result) -> Signature:
    """What tells one state of a file from another."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


def is_inside(path: str, roots: Sequence[str]) -> bool:
    """Whether the real ``path`` is one of the real ``roots`` or lies in one, by whole components."""
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def real_path_of(descriptor: int) -> str:
    """Where an opened file lies, links resolved, whatever its name stands for by now."""
    return os.readlink(_by_descriptor(descriptor))  # noqa: PTH115 - the kernel's answer, as it is


def _by_descriptor(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


@contextmanager
def opened_root(real_path: str) -> Iterator[int]:
    """A descriptor of the memory folder at ``real_path``, a path without links.

    Raises:
        OSError: it is missing or cannot be listed; ``ESTALE`` if by now a link on the path leads elsewhere.
    """
    descriptor = os.open(real_path, _LIST)
    try:
        if real_path_of(descriptor) != real_path:
            raise OSError(ESTALE, os.strerror(ESTALE))
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(name: str, directory: int) -> int:
    """A descriptor of the folder ``name`` in ``directory``, not following a link.

    Raises:
        OSError: it is no folder any more, or cannot be listed.
    """
    return os.open(name, _LIST | os.O_NOFOLLOW, dir_fd=directory)


@contextmanager
def followed(root: int, relative_path: str, allowed: Sequence[str]) -> Iterator[tuple[int, os.stat_result]]:
    """A reference to what ``relative_path`` under ``root`` leads to through any links, and its status.

    Args:
        allowed: real paths of the folders that it may lie in.

    Raises:
        OSError: it leads to nothing, or in a circle.
        Refused: ``outside-roots``, where it lies outside of ``allowed``; ``vanished``, where it is deleted.
    """
    descriptor = os.open(relative_path, _REFER, dir_fd=root)
    try:
        status = os.fstat(descriptor)
        if status.st_nlink == 0:
            raise Refused("vanished")
        if not is_inside(real_path_of(descriptor), allowed):
            raise Refused("outside-roots")
        yield descriptor, status
    finally:
        os.close(descriptor)


def open_followed_folder(reference: int) -> int:
    """A descriptor for listing the folder that ``followed`` gave a reference to."""
    return os.open(_by_descriptor(reference), _LIST)


def followed_file(relative_path: str, reference: int, status: os.stat_result) -> Found:
    """The file that ``followed`` gave a reference to.

    Raises:
        Refused: ``not-a-regular-file``.
    """
    if not stat.S_ISREG(status.st_mode):
        raise Refused("not-a-regular-file")
    return Found(relative_path, status, _by_descriptor(reference), None)


def read(found: Found, now_ns: int) -> Reading:
    """Read a file, up to a bound. ``now_ns`` is the time, nanoseconds since the epoch.

    Raises:
        OSError: it cannot be opened or read.
        Refused: ``not-a-regular-file``, where another kind of file has taken its place.
    """
    descriptor = found.open()
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise Refused("not-a-regular-file")
        data = _read_up_to(descriptor, before.st_size)
        written_to = now_ns - before.st_mtime_ns < WRITER_GRACE_NS and _has_writer(descriptor)
        after = os.fstat(descriptor)  # after the look for a writer: one that left in between has left a trace
    finally:
        os.close(descriptor)
    shortened = len(data) > MAX_FILE_BYTES
    whole = shortened or len(data) == before.st_size
    return Reading(
        data=data[:MAX_FILE_BYTES],
        status=after,
        shortened=shortened,
        written_to=written_to,
        steady=whole and signature_of(before) == signature_of(after),
    )


def _has_writer(descriptor: int) -> bool:
    """Somebody has the file open for writing, as far as the file system knows.

    A read lease is granted only where nobody has (fcntl(2)), so asking for one tells; it is given back at
    once. Who opens the file in that moment waits for it, and we are told by a signal that nobody minds.
    """
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        # Other errors: not our file, or a file system without leases.
        return error.errno == EAGAIN
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _read_up_to(descriptor: int, size: int) -> bytes:
    """A file of ``size`` bytes, or its first ``MAX_FILE_BYTES`` and one more. One read does nearly always."""
    data = os.read(descriptor, min(size, MAX_FILE_BYTES) + 1)
    while len(data) != size and (more := os.read(descriptor, MAX_FILE_BYTES + 1 - len(data))):
        data += more
    return data
