"""Text for a terminal: nothing that drives it, and columns that stay straight in every script."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

# Control characters drive terminals, C1 ones too; line and paragraph separators break lines; bidirectional
# controls (Unicode Standard Annex 9) reorder what stands beside them.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+"
)

_GAP: Final = "  "


def printable(text: str) -> str:
    """``text`` on one line, with a blank for each run of characters that a terminal would obey."""
    return _UNPRINTABLE.sub(" ", text).strip()


def printable_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """``value`` as indented JSON in which every such character is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNPRINTABLE.sub(
        lambda run: "".join(each if each == "\n" else f"\\u{ord(each):04x}" for each in run[0]), text
    )


def width(text: str) -> int:
    """Columns that ``text`` takes: two for wide characters, none for combining ones (Standard Annex 11)."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of equally many cells as lines with straight columns; cells are made printable here."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    return [
        _GAP.join(
            cell + " " * (columns - width(cell)) for cell, columns in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]


def counted(number: int, noun: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
