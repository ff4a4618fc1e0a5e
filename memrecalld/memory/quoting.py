"""What the writer of a frontmatter value meant by quotes, backslashes and commas.

Agents write values by hand, half in YAML and half in prose. Between double quotes only ``\\"``, ``\\\\``,
``\\/`` and ``\\uXXXX`` are escapes here; every other backslash stands for itself, because what stands between
quotes is as likely a Windows path or a regular expression as it is YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
"""Unquoted values that mean no value (YAML 1.1, type ``null``)."""

_ESCAPE = re.compile(r'\\(?:(["\\/])|u([0-9A-Fa-f]{4})|\n[ \t]*)')
_SURROGATE = re.compile("[\ud800-\udfff]")

# The value ends at the quote, and a comment follows.
_DOUBLE_THEN_COMMENT = re.compile(r'"((?:[^"\\]|\\.)*+)"[ \t]+#[ \t].*', re.DOTALL)
_SINGLE_THEN_COMMENT = re.compile(r"'((?:[^']|'')*+)'[ \t]+#[ \t].*")

# A quote inside that closes something, since it follows text and a blank follows it, as in ``"a" and "b"``.
_CLOSES_EARLY: Final = {'"': re.compile(r'[^"]*[^"\\\s]"\s'), "'": re.compile(r"[^']*[^'\s]'\s")}

_COMMA = re.compile(r"[,，、]")


def unescape(text: str) -> str:
    """The meaning of what stands between double quotes."""
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_replacement, text)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _replacement(match: re.Match[str]) -> str:
    character, code = match.groups()
    if code:
        return chr(int(code, 16))
    return character or ""  # an escaped line end joins the lines


def unquote(text: str) -> str:
    """``text``, stripped already, without the quotes around it where they are around all of it.

    Quotes inside need no escaping: ``"say "hi" now"`` is ``say "hi" now``. But ``"a" and "b"`` is prose that
    happens to begin and end with a quote, and stays as it is.
    """
    quote = text[:1]
    if quote not in _CLOSES_EARLY:
        return text
    commented = (_DOUBLE_THEN_COMMENT if quote == '"' else _SINGLE_THEN_COMMENT).fullmatch(text)
    if commented is not None:
        inner = commented[1]
    elif len(text) > 1 and text.endswith(quote):
        inner = text[1:-1]
        if _CLOSES_EARLY[quote].match(inner):
            return text
    else:
        return text
    return unescape(inner) if quote == '"' else inner.replace("''", "'")


def split_list(text: str) -> tuple[str, ...]:
    """Items of a list, in or out of brackets, divided by ASCII, full-width or ideographic commas."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return present(unquote(item.strip()) for item in _COMMA.split(text))


def present(items: Iterable[str]) -> tuple[str, ...]:
    """The items that hold anything."""
    return tuple(item for item in items if item.strip())
