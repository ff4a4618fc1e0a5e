"""The known keys of a frontmatter that no YAML parser accepts, read line by line.

A key counts at column 0 only, so what looks like a key inside a wrapped value or a block is text of that
value. A line at column 0 that is no key belongs to the value above it.
"""

from __future__ import annotations

import re

from memrecalld.memory.fields import LIST_KEYS, OWN_KEYS, TEXT_KEYS, Fields, put
from memrecalld.memory.quoting import NULLS, present, split_list, unquote

_KNOWN = re.compile(
    rf"""(["']?)({"|".join(map(re.escape, sorted({*OWN_KEYS, "metadata"})))})\1[ \t]*:[ \t]*(.*)""",
    re.IGNORECASE,
)
_ANY_KEY = re.compile(r"""["']?[^\W\d][\w.-]*["']?[ \t]*:(?:[ \t]|$)""")
_BLOCK_HEADER = re.compile(r"[|>][-+1-9]*(?:[ \t]+#.*)?")
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$)")
_TRAILING_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_NESTED_TYPE = re.compile(r"""[ \t]+["']?type["']?[ \t]*:[ \t]*(.*)""", re.IGNORECASE)
_FLOW_TYPE = re.compile(r"""[{,][ \t]*["']?type["']?[ \t]*:[ \t]*([^,}]*)""", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*)|$)")


def looks_like_keys(text: str) -> bool:
    """Whether any line of ``text`` begins with a key: whether it was meant as frontmatter at all."""
    return any(_ANY_KEY.match(line) or _KNOWN.match(line) for line in text.split("\n"))


def read_lines(text: str) -> Fields:
    """Fields of a frontmatter; of a key that stands there twice the last one with a value wins."""
    fields: Fields = {}
    for key, first, rest in _entries(text):
        if key == "metadata":
            put(fields, "metadata.type", _nested_type(first, rest))
        elif key in LIST_KEYS:
            put(fields, key, _items(key, first, rest))
        elif key in TEXT_KEYS:
            put(fields, key, _text(first, rest))
        else:
            put(fields, key, _word(first))
    return fields


def _entries(text: str) -> list[tuple[str, str, list[str]]]:
    """Known keys in order, each with the text after its colon and the lines that belong to it."""
    entries: list[tuple[str, str, list[str]]] = []
    rest: list[str] | None = None
    for line in text.split("\n"):
        known = _KNOWN.match(line)
        if known is not None:
            rest = []
            entries.append((known[2].lower(), known[3].strip(), rest))
        elif _ANY_KEY.match(line):
            rest = None
        elif rest is not None and line.strip() and not line.startswith("#"):
            rest.append(line)
    return entries


def _text(first: str, rest: list[str]) -> str:
    if _BLOCK_HEADER.fullmatch(first):
        return "\n".join(rest)
    lines = [first, *(line.strip() for line in rest if not _COMMENT.match(line))]
    whole = "\n".join(lines).strip()
    return "" if whole in NULLS else unquote(whole)


def _word(first: str) -> str:
    """The value of ``type``: one word or a list of them, without a comment."""
    bare = _TRAILING_COMMENT.sub("", first).strip()
    return "" if bare in NULLS else ", ".join(split_list(bare))


def _nested_type(first: str, rest: list[str]) -> str:
    flow = _FLOW_TYPE.search(first)
    if flow is not None:
        return _word(flow[1])
    for line in rest:
        nested = _NESTED_TYPE.match(line)
        if nested is not None:
            return _word(nested[1])
    return ""


def _items(key: str, first: str, rest: list[str]) -> tuple[str, ...]:
    items = [match[1] or "" for line in rest if (match := _ITEM.match(line))]
    if items:
        return present(unquote(item.strip()) for item in items)
    whole = " ".join([first, *(line.strip() for line in rest)]).strip()
    if key == "keywords" or whole.startswith("["):
        return () if whole in NULLS else split_list(whole)
    return present([_text(first, rest)])
