"""Linux file events, read without waiting and without a thread in between (inotify(7)).

The C library's three calls, through ctypes: the packages that wrap inotify bring a thread or an event loop,
and what the catalog needs is the opposite, a read that returns at once with everything that has happened so
far.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

IN_MODIFY: Final = 0x00000002
IN_ATTRIB: Final = 0x00000004
IN_CLOSE_WRITE: Final = 0x00000008
IN_MOVED_FROM: Final = 0x00000040
IN_MOVED_TO: Final = 0x00000080
IN_CREATE: Final = 0x00000100
IN_DELETE: Final = 0x00000200
IN_DELETE_SELF: Final = 0x00000400
IN_MOVE_SELF: Final = 0x00000800
IN_UNMOUNT: Final = 0x00002000
IN_Q_OVERFLOW: Final = 0x00004000
IN_IGNORED: Final = 0x00008000
IN_ONLYDIR: Final = 0x01000000
IN_MASK_ADD: Final = 0x20000000
IN_ISDIR: Final = 0x40000000
_IN_CLOEXEC: Final = os.O_CLOEXEC
_IN_NONBLOCK: Final = os.O_NONBLOCK

FOLDER_EVENTS: Final = (
    IN_MODIFY
    | IN_ATTRIB
    | IN_CLOSE_WRITE
    | IN_MOVED_FROM
    | IN_MOVED_TO
    | IN_CREATE
    | IN_DELETE
    | IN_DELETE_SELF
    | IN_MOVE_SELF
    | IN_ONLYDIR
)
"""All that can change which notes a folder holds, or what they say."""

_HEADER: Final = struct.Struct("iIII")
"""``struct inotify_event`` without its name: wd, mask, cookie, length of the name."""

_BUFFER_BYTES: Final = 32 * 1024
"""About a thousand events a read."""

_MAX_EVENT_BYTES: Final = _HEADER.size + 255 + 1

_libc: Final = ctypes.CDLL(None, use_errno=True)


class Event(NamedTuple):
    """One change."""

    watch: int
    mask: int
    name: str
    """Name in the watched folder; empty where the folder itself is meant."""


class Inotify:
    """One inotify instance."""

    def __init__(self) -> None:
        """Raises ``OSError`` when the system has no instance left, or no inotify at all."""
        self._descriptor = _call(_libc.inotify_init1, _IN_CLOEXEC | _IN_NONBLOCK)

    def add(self, folder: int) -> int:
        """Watch the folder of an open descriptor; returns the watch, the same one for the same folder.

        Raises ``OSError``; ``ENOSPC`` where the user has no watch left.
        """
        path = f"/proc/self/fd/{folder}".encode()
        return _call(_libc.inotify_add_watch, self._descriptor, path, FOLDER_EVENTS)

    def remove(self, watch: int) -> None:
        """Stop watching; harmless for a watch that is gone."""
        _libc.inotify_rm_watch(self._descriptor, watch)

    def read(self) -> Iterator[Event]:
        """Everything that has happened since the last reading; returns at once."""
        while True:
            try:
                data = os.read(self._descriptor, _BUFFER_BYTES)
            except BlockingIOError:
                return
            offset = 0
            while offset < len(data):
                watch, mask, _cookie, length = _HEADER.unpack_from(data, offset)
                offset += _HEADER.size
                name = os.fsdecode(data[offset : offset + length].rstrip(b"\0")) if length else ""
                offset += length
                yield Event(watch, mask, name)
            if len(data) <= _BUFFER_BYTES - _MAX_EVENT_BYTES:
                # There was room for one more event, so this was all of them.
                return

    def close(self) -> None:
        """Give the instance back."""
        os.close(self._descriptor)


def _call(function: ctypes._NamedFuncPointer, *arguments: object) -> int:
    result: int = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
