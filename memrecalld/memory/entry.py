"""A note together with the state of the file it was read from, so that an unchanged file is not read
again."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from memrecalld.memory.document import Document
from memrecalld.memory.layouts import Root
from memrecalld.memory.parse import content_hash, parse
from memrecalld.memory.reader import GRACE_NS, Found, Reading, Refused, Signature, read, signature_of
from memrecalld.memory.skips import Reason

Screen = Callable[[str, bytes], Reason | None]
"""Why a file is not to become a note, going by its path under the root and its bytes; ``None``: it may."""

_READ_ATTEMPTS: Final = 3

_TICK_NS: Final = 100_000_000
_COARSE_TICK_NS: Final = 2_000_000_000
_SECOND_NS: Final = 1_000_000_000

_UNSETTLED: Final = -1


class Entry(NamedTuple):
    """One note of a memory folder."""

    signature: Signature
    """Equal to that of a file which need not be read again. Its size is -1, equal to none, where the file may
    still change without its status showing it."""
    document: Document
    provisional: bool = False
    """The file is being written: ``document`` is its last good form, and it is to be read again soon."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the file."""
        return (self.signature[4], self.signature[3])


class EntryReader:
    """Makes entries of the files of one memory folder."""

    def __init__(self, root: Root, clock: Callable[[], int], screen: Screen | None = None) -> None:
        """``clock`` gives nanoseconds since the epoch. ``screen`` sees the bytes of each file before they
        become a note."""
        self._root = root
        self._clock = clock
        self._screen = screen

    def entry(self, found: Found, old: Document | None) -> Entry:
        """The note in ``found``; ``old`` is what the same path held before.

        Raises:
            OSError: it cannot be opened or read.
            Refused: it is no regular file any more; ``being-written``, where there is no good form of it yet;
                or whatever reason ``screen`` gives.
        """
        now = self._clock()
        reading = _read_steadily(found, now)
        if _is_being_written(reading, old, now):
            if old is None:
                raise Refused("being-written")
            return Entry(_signature(reading.status, settled=False), old, provisional=True)
        settled = reading.steady and now - reading.status.st_ctime_ns > _tick(reading.status)
        return Entry(_signature(reading.status, settled=settled), self._document(found, reading, old))

    def _document(self, found: Found, reading: Reading, old: Document | None) -> Document:
        modified_ns = reading.status.st_mtime_ns
        if old is not None and old.content_hash == content_hash(reading.data):
            if old.modified_ns == modified_ns:
                return old
            return msgspec.structs.replace(old, modified_ns=modified_ns)
        if self._screen is not None and (reason := self._screen(found.relative_path, reading.data)):
            raise Refused(reason)
        return parse(
            reading.data,
            scope=self._root.scope,
            root=self._root.real_path,
            relative_path=found.relative_path,
            modified_ns=modified_ns,
            shortened=reading.shortened,
        )


def _read_steadily(found: Found, now_ns: int) -> Reading:
    """Read until the file holds still, a few times at most."""
    reading = read(found, now_ns)
    for _ in range(_READ_ATTEMPTS - 1):
        if reading.steady or reading.written_to:
            break
        reading = read(found, now_ns)
    return reading


def _is_being_written(reading: Reading, old: Document | None, now: int) -> bool:
    """Whether a file is in the middle of a change: it does not hold still, or had text and reads empty.

    Some programs empty a file and then fill it, or write it piece by piece. For a moment its last good form
    stands in.
    """
    if reading.written_to:
        return True
    if now - reading.status.st_mtime_ns >= GRACE_NS:
        return False
    had_text = old is not None and bool(old.body or old.description)
    return not reading.steady or (had_text and not reading.data.strip())


def _signature(status: os.stat_result, *, settled: bool) -> Signature:
    signature = signature_of(status)
    return signature if settled else (_UNSETTLED, *signature[1:])


def _tick(status: os.stat_result) -> int:
    """Nanoseconds within which a file can change twice and keep its times.

    The kernel stamps files by a clock that ticks every 1 to 10 ms; some file systems keep whole seconds only.
    """
    return _COARSE_TICK_NS if status.st_ctime_ns % _SECOND_NS == 0 else _TICK_NS
