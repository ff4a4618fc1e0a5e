"""Short forms of a note's text: one line of it, and a cut that breaks no visible character."""

from __future__ import annotations

import re
from typing import Final

import regex

# Control characters and line separators would break the line; embedding, override and isolate marks would
# reorder what stands after them; lone surrogates cannot be written as UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")

_LOOK_BACK: Final = 64
"""Characters before the limit in which a certain border is looked for."""

# A border between two characters of these sorts is a grapheme border whatever stands around them (UAX #29:
# none of them extends, prepends or joins). A carriage return is left out, since it joins with a line feed.
_SIMPLE_PAIR = re.compile(
    r"[\n\x20-\x7e\u3001-\u3029\u3041-\u3096\u30a1-\u30fc\u3400-\u9fff]"
    r"(?=[\n\x20-\x7e\u3001-\u3029\u3041-\u3096\u30a1-\u30fc\u3400-\u9fff])"
)
_CLUSTER = regex.compile(r"\X")


def one_line(text: str, limit: int) -> str:
    """``text`` on one line without control characters, blanks collapsed, at most ``limit`` code points."""
    if not text.isprintable():
        text = _UNFIT.sub(" ", text)
    return cut(" ".join(text.split()), limit)


def cut(text: str, limit: int) -> str:
    """The longest start of ``text`` that ends on a grapheme border and has at most ``limit`` code points.

    Looks at a bounded number of characters, however long ``text`` is. Where one cluster alone is longer than
    ``limit`` there is no such start but the empty one, and the cut falls between its code points.
    """
    if len(text) <= limit:
        return text
    floor = max(limit - _LOOK_BACK, 0)
    position = 0
    for before in range(limit - 1, floor - 1, -1):
        if _SIMPLE_PAIR.match(text, before):
            position = before + 1
            break
    # Whether a border lies at ``limit`` is decided by what stands before it and one code point after it.
    for cluster in _CLUSTER.finditer(text, position, limit + 1):
        if cluster.end() > limit:
            break
        position = cluster.end()
    return text[: position or limit]
