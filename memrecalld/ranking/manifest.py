"""What a model selector is shown: one line a candidate, in a bounded text that no note can forge.

A line is ``m7 project 2026-08-08 Title | description``. Its id says nothing of the file: without paths twice
the documents fit, and a description cannot name another note's file.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

import regex

from memrecalld.errors import SelectionError
from memrecalld.memory.document import Document
from memrecalld.memory.excerpt import cut

MAX_MANIFEST_BYTES: Final = 25_000
"""UTF-8 bytes of a manifest, newlines included."""

MAX_TITLE_CHARS: Final = 120
MAX_DESCRIPTION_CHARS: Final = 512

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DAY_NS: Final = 86_400_000_000_000

# All that a reader could take for the end of a line or for a blank: control characters (NEL and the ASCII
# separators among them), line and paragraph separators, spaces of any width.
_BLANK: Final = regex.compile(r"[\p{Cc}\p{Z}]+")

# What a person cannot see but a model reads: format characters, with the bidirectional controls and the
# invisible tags. The two joiners stay, for Persian and emoji need them. A lone surrogate is no character, and
# UTF-8 cannot hold it.
_INVISIBLE: Final = regex.compile(r"[[\p{Cf}\p{Cs}]--[\u200c\u200d]]", regex.V1)


class Manifest:
    """The lines for ``candidates`` that fit, in their order.

    Packed: a line that does not fit is left out, and later, shorter ones are still tried.
    """

    __slots__ = ("_documents", "text")

    text: str
    """Lines, each with its newline; empty without candidates."""

    def __init__(self, candidates: Iterable[Document]) -> None:
        self._documents: dict[str, Document] = {}
        lines: list[str] = []
        room = MAX_MANIFEST_BYTES
        for document in candidates:
            identifier = f"m{len(lines) + 1}"
            line = f"{identifier} {_describe(document)}\n"
            size = len(line.encode())
            if size <= room:
                room -= size
                lines.append(line)
                self._documents[identifier] = document
        self.text = "".join(lines)

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the lines, in their order."""
        return tuple(self._documents)

    def resolve(self, ids: Iterable[str]) -> list[Document]:
        """The documents of the lines with these ids, in the order of ``ids``.

        Raises ``SelectionError("unknown-id")`` if one is not in this manifest.
        """
        documents = [self._documents.get(each) for each in ids]
        found = [document for document in documents if document is not None]
        if len(found) < len(documents):
            raise SelectionError("unknown-id")
        return found


def _describe(document: Document) -> str:
    title = _one_line(document.title, MAX_TITLE_CHARS)
    description = _one_line(document.description, MAX_DESCRIPTION_CHARS)
    text = f"{title} | {description}" if description else title
    return f"{document.type} {_day(document.modified_ns)} {text}"


def _day(time_ns: int) -> str:
    """Day in UTC, ISO 8601; the nearest there is for a time that no calendar holds."""
    day = min(max(_EPOCH_DAY + time_ns // _DAY_NS, date.min.toordinal()), date.max.toordinal())
    return date.fromordinal(day).isoformat()


def _one_line(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text`` on one line, cut on a grapheme border.

    Folding blanks makes room for what follows them, so more than ``limit`` is looked at, but never all of an
    endless text.
    """
    visible = _INVISIBLE.sub("", cut(text, 4 * limit))
    return cut(_BLANK.sub(" ", visible).strip(), limit).rstrip()
