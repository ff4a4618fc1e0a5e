"""The head of a note: what stands between two fences at its start.

Three readers, each for what the one before it does not take: ``plainreader`` for the ``key: value`` lines
that nearly every note has, ``yamlreader`` for the YAML that needs a parser, ``linereader`` for what no parser
accepts.

``name`` goes before ``title``, as the agents that write these notes read them; a top-level ``type`` goes
before ``metadata.type`` unless it is empty; of a key that stands there twice the last one with a value wins.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from memrecalld.memory.document import Problem
from memrecalld.memory.excerpt import one_line
from memrecalld.memory.fields import Fields
from memrecalld.memory.linereader import looks_like_keys, read_lines
from memrecalld.memory.plainreader import read_plain
from memrecalld.memory.quoting import present
from memrecalld.memory.yamlnode import Refused, compose
from memrecalld.memory.yamlreader import read_yaml

MAX_FRONTMATTER_CHARS: Final = 64 * 1024
"""Characters after the opening fence in which a closing one is looked for."""

MAX_TITLE_CHARS: Final = 200
MAX_DESCRIPTION_CHARS: Final = 2_000
MAX_LABEL_CHARS: Final = 100
MAX_ITEMS: Final = 64

_OPENING = re.compile(r"(?:[ \t]*\n)*+---[ \t]*\n")
_FENCE_END = re.compile(r"[ \t]*(?:\n|\Z)")


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The known fields, each on one line and bounded; empty where the note has none."""

    title: str = ""
    description: str = ""
    type_label: str = ""
    """As written; of a list its items, divided by commas."""
    keywords: tuple[str, ...] = ()
    usage_scenarios: tuple[str, ...] = ()


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A note's text, taken apart."""

    head: Head
    body: str
    """What follows the frontmatter, line ends as ``\\n``; the whole text where there is none."""
    problem: Problem | None = None


def take_apart(text: str) -> Parts:
    """Head and body of a note. Never raises: a note is not lost for its frontmatter."""
    text = _normal_lines(text)
    front, body = split(text)
    if front is None:
        return Parts(head=Head(), body=text, problem="frontmatter-unclosed" if _is_unclosed(text) else None)
    fields = read_plain(front)
    if fields is not None:
        return Parts(head=_head(fields), body=body)
    try:
        root = compose(front)
    except Refused:
        pass
    else:
        if root is None or root.kind == "mapping":
            fields, problem = read_yaml(front, root)
            return Parts(head=_head(fields), body=body, problem=problem)
    if looks_like_keys(front):
        return Parts(head=_head(read_lines(front)), body=body, problem="frontmatter-yaml")
    # Two thematic breaks with text between them: Markdown, and the note's own.
    return Parts(head=Head(), body=text)


def split(text: str) -> tuple[str | None, str]:
    """``(frontmatter, body)`` of a text with ``\\n`` line ends; ``(None, text)`` where it begins with none.

    Blank lines may stand before the opening fence and blanks after either one; only a fence at column 0
    closes.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None, text
    start = opening.end()
    fence = start - 1  # the line end before it, so that a closing fence may follow the opening one at once
    while (fence := text.find("\n---", fence, start + MAX_FRONTMATTER_CHARS)) >= 0:
        end = _FENCE_END.match(text, fence + 4)
        if end is not None:
            return text[start:fence], text[end.end() :]
        fence += 1
    return None, text


def _normal_lines(text: str) -> str:
    """``text`` without one byte-order mark and with ``\\n`` for every line end."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _is_unclosed(text: str) -> bool:
    """Whether a key follows an opening fence, in a text without a closing one."""
    opening = _OPENING.match(text)
    if opening is None:
        return False
    line_end = text.find("\n", opening.end())
    return looks_like_keys(text[opening.end() : line_end] if line_end >= 0 else text[opening.end() :])


def _head(fields: Fields) -> Head:
    return Head(
        title=_line(fields, ("name", "title"), MAX_TITLE_CHARS),
        description=_line(fields, ("description",), MAX_DESCRIPTION_CHARS),
        type_label=_line(fields, ("type", "metadata.type"), MAX_LABEL_CHARS),
        keywords=_lines(fields, "keywords"),
        usage_scenarios=_lines(fields, "usage_scenarios"),
    )


def _line(fields: Fields, keys: tuple[str, ...], limit: int) -> str:
    for key in keys:
        value = fields.get(key, "")
        if isinstance(value, str) and value and (line := one_line(value, limit)):
            return line
    return ""


def _lines(fields: Fields, key: str) -> tuple[str, ...]:
    items = fields.get(key, ())
    if isinstance(items, str):
        return ()
    return present(one_line(item, MAX_TITLE_CHARS) for item in items[:MAX_ITEMS])
