"""The LSP base protocol's framing: a header that tells the length of the body that follows.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
MAX_PASSED_OVER_BYTES: Final = 64 * 1024 * 1024
"""A message that is too large is refused and passed over; one beyond this is no message of any client."""
MAX_HEADER_BYTES: Final = 4 * 1024

BEGINNING_BYTES: Final = 1024
"""How much of a message that is too large is looked at: clients write the id before what is long."""

_END: Final = b"\r\n\r\n"

# A beginning of a header. What is none, such as JSON on a line of its own, would otherwise be waited on in
# silence until it is as long as a header may be.
_BEGINNING: Final = re.compile(rb"(?:[\w-]+[ \t]*:[^\r\n]*\r\n)*(?:[\w-]+[ \t]*(?::[^\r\n]*)?)?\r?")


class FramingError(Exception):
    """The stream cannot be followed any further."""


class Oversized(NamedTuple):
    """Stands for a body that is passed over since it is larger than a message may be."""

    size: int
    beginning: bytes


def frame(body: bytes) -> bytes:
    """Put the header before a body. The length is in bytes, not in characters."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Cuts a byte stream into bodies. Holds at most one message and one header."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._to_skip = 0

    def feed(self, data: bytes) -> None:
        """Take in what has arrived."""
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        self._buffer += data

    @property
    def inside(self) -> bool:
        """A message has begun to arrive and is not there as a whole."""
        return bool(self._buffer) or self._length is not None or self._to_skip > 0

    def frames(self) -> Iterator[bytes | Oversized]:
        """The bodies that are complete.

        Raises ``FramingError`` where the next header does not say how long its body is.
        """
        while True:
            if self._length is None:
                length = self._read_header()
                if length is None:
                    return
                self._length = length
            length = self._length
            oversized = length > MAX_MESSAGE_BYTES
            wanted = BEGINNING_BYTES if oversized else length
            if len(self._buffer) < wanted:
                return
            body = bytes(self._buffer[:wanted])
            self._length = None
            if oversized:
                self._skip(length)
                yield Oversized(length, body)
            else:
                del self._buffer[:length]
                yield body

    def _skip(self, length: int) -> None:
        """Drop a body without holding it."""
        held = min(length, len(self._buffer))
        del self._buffer[:held]
        self._to_skip = length - held

    def _read_header(self) -> int | None:
        end = self._buffer.find(_END, 0, MAX_HEADER_BYTES)
        if end < 0:
            if not _BEGINNING.fullmatch(self._buffer, 0, MAX_HEADER_BYTES):
                raise FramingError(
                    "a message begins with a header, such as Content-Length: 42, whose lines end with CR LF"
                )
            if len(self._buffer) >= MAX_HEADER_BYTES:
                raise FramingError(
                    f"a header is at most {MAX_HEADER_BYTES} bytes long and ends with an empty line"
                )
            return None
        header = bytes(self._buffer[:end])
        del self._buffer[: end + len(_END)]
        lengths = set()
        for line in header.split(b"\r\n"):
            name, colon, value = line.partition(b":")
            if not colon:
                raise FramingError("a header line is a name, a colon and a value")
            if name.strip().lower() == b"content-length":
                lengths.add(value.strip())
        if len(lengths) != 1:
            raise FramingError("a header names its Content-Length once")
        value = lengths.pop()
        # bytes.isdigit() is ASCII only.
        if not value.isdigit():
            raise FramingError("Content-Length is the number of bytes of the body")
        length = int(value)
        if length > MAX_PASSED_OVER_BYTES:
            raise FramingError(
                f"a Content-Length beyond {MAX_PASSED_OVER_BYTES}; at most {MAX_MESSAGE_BYTES} bytes are read"
            )
        return length
