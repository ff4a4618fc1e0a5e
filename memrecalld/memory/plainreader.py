"""Frontmatter that can be read in one way only, which is nearly all there is, read without a YAML parser.

One plain or plainly quoted value or a plain list a line, each key once, and at most one level of nesting.
Everything else is left to the other readers. What is read here is what YAML reads, at a tenth of the cost,
and the cost is what a cold start of ten thousand notes consists of.
"""

from __future__ import annotations

import re
from typing import Final

from memrecalld.memory.fields import LIST_KEYS, TEXT_KEYS, WORD_KEYS, Fields, listed
from memrecalld.memory.quoting import NULLS, present

# Tabs, control characters, and what YAML takes for a line end or refuses as not printable.
_UNUSUAL = re.compile(
    r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)

_LINE = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_-]*):(?: +(.*))?")
_ITEM_LINE = re.compile(r"( *)-(?: +(.*))?")

# Possessive, so that no arrangement of blanks makes it try one split of them after another.
_FLOW_ITEM = r"""(?:"[^"\\]*+"|[^\W_][\w ./+-]*+)"""
_FLOW_LIST = re.compile(rf"\[ *+(?:{_FLOW_ITEM} *+(?:, *+{_FLOW_ITEM} *+)*+)?\]")
_FLOW_ITEMS = re.compile(_FLOW_ITEM)

_INDICATORS: Final = frozenset("-?:,[]{}#&*!|>'\"%@`")
"""Characters at the start of a value that mean something to YAML (YAML 1.1, section 5.3)."""

_UNNESTED: Final = frozenset({*TEXT_KEYS, *WORD_KEYS})


class _Otherwise(Exception):
    """A line that can be read in more ways than one."""


def read_plain(text: str) -> Fields | None:
    """Fields of a frontmatter, or ``None`` where any line of it needs another reader."""
    if _UNUSUAL.search(text):
        return None
    try:
        return _fields(text.split("\n"))
    except _Otherwise:
        return None


def _fields(lines: list[str]) -> Fields:
    fields: Fields = {}
    seen: set[str] = set()
    parent = ""
    below: list[str] = []
    for line in lines:
        if not line.strip(" ") or line[0] == "#":
            continue
        if line[0] == " " or line[0] == "-":
            if not parent:
                raise _Otherwise
            below.append(line)
            continue
        if below:
            _add_nested(fields, parent, below)
            below = []
        match = _LINE.fullmatch(line)
        if match is None:
            raise _Otherwise
        key = match[2].lower()
        if key in seen:
            raise _Otherwise
        seen.add(key)
        written = (match[3] or "").strip(" ")
        parent = "" if written or key in _UNNESTED else key
        fields[key] = _value(written) if key in _UNNESTED else _value_or_list(key, written)
    if below:
        _add_nested(fields, parent, below)
    return fields


def _add_nested(fields: Fields, parent: str, lines: list[str]) -> None:
    """Take up the lines under a key without a value: items, or keys of one level."""
    pattern = _ITEM_LINE if lines[0].lstrip(" ").startswith("-") else _LINE
    items: list[str] = []
    nested: dict[str, str] = {}
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None or len(match[1]) != indent:
            raise _Otherwise
        value = _value((match[match.re.groups] or "").strip(" "))
        if pattern is _ITEM_LINE:
            items.append(value)
        elif parent in LIST_KEYS or (key := match[2].lower()) in nested:
            raise _Otherwise
        else:
            nested[key] = value
    if parent in LIST_KEYS:
        fields[parent] = present(items)
    elif parent == "metadata" and "type" in nested:
        fields["metadata.type"] = nested["type"]


def _value_or_list(key: str, written: str) -> str | tuple[str, ...]:
    if written[:1] == "[":
        return _flow_items(written)
    return listed(key, _value(written)) if key in LIST_KEYS else _value(written)


def _flow_items(written: str) -> tuple[str, ...]:
    if not _FLOW_LIST.fullmatch(written):
        raise _Otherwise
    items = (item.strip() for item in _FLOW_ITEMS.findall(written))
    return present(item[1:-1] if item[0] == '"' else "" if item in NULLS else item for item in items)


def _value(written: str) -> str:
    if written in NULLS:
        return ""
    first = written[0]
    if first in {'"', "'"}:
        inner = written[1:-1]
        if len(written) > 1 and written[-1] == first and first not in inner and "\\" not in inner:
            return inner
        raise _Otherwise
    if first in _INDICATORS or ": " in written or " #" in written or written[-1] == ":":
        raise _Otherwise
    return written
