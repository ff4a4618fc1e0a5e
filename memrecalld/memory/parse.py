"""From the bytes of a file to a ``Document``."""

from __future__ import annotations

import codecs
import re
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Final

from memrecalld.memory.document import (
    BODY_WINDOW_CHARS,
    PLACEHOLDER_BODY,
    Document,
    NoteType,
    Scope,
    normalize,
)
from memrecalld.memory.excerpt import cut, one_line
from memrecalld.memory.frontmatter import MAX_TITLE_CHARS, take_apart
from memrecalld.memory.usage import is_usage_note

DEFAULT_DESCRIPTION_CHARS: Final = 200
"""Length of a description that is taken from the body."""

_DEFAULT_DESCRIPTION_LINES: Final = 50
"""Lines of the body in which a line of prose is looked for."""

_NOTE_TYPES: Final[dict[str, NoteType]] = {
    "user": "user",
    "feedback": "feedback",
    "project": "project",
    "reference": "reference",
}
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")

# Lines that are no prose: headings, rules and fences of any sort, comments, table borders.
_NO_PROSE = re.compile(r"#{1,6}(?:[ \t]|$)|[-*_=~`|:+ \t]+$|```|~~~|<!--")


def content_hash(data: bytes) -> bytes:
    """The content part of a note's identity: BLAKE2b-128 of the bytes read."""
    return blake2b(data, digest_size=16).digest()


def parse(
    data: bytes,
    *,
    scope: Scope,
    root: str,
    relative_path: str,
    modified_ns: int,
    shortened: bool = False,
) -> Document:
    """The note in ``data``, whatever it holds. Never raises.

    Args:
        data: the bytes read: UTF-8, or UTF-16 with a byte-order mark. What cannot be decoded is replaced.
        root: real absolute path of the memory folder.
        relative_path: path of the file under it, with ``/``.
        modified_ns: modification time, nanoseconds since the epoch.
        shortened: the file goes on beyond ``data``.

    A missing title is the heading that the body begins with, else the name of the file; a missing description
    is the first line of prose in the body.
    """
    parts = take_apart(decode(data))
    head = parts.head
    body = parts.body.strip()
    unfilled = body == PLACEHOLDER_BODY
    if unfilled:
        body = ""
    title = head.title or _heading(body) or one_line(PurePosixPath(relative_path).stem, MAX_TITLE_CHARS)
    description = head.description
    if not description and parts.problem != "frontmatter-unclosed":  # else the body begins with its keys
        description = _first_prose(body)
    whole = normalize(f"{title}\n{description}\n{body}")
    window = cut(body, BODY_WINDOW_CHARS)
    return Document(
        scope=scope,
        root=root,
        relative_path=relative_path,
        type=_NOTE_TYPES.get(head.type_label.casefold(), "note"),
        type_label=head.type_label,
        title=title,
        description=description,
        body=window,
        truncated=shortened or len(window) < len(body),
        modified_ns=modified_ns,
        content_hash=content_hash(data),
        usage_text=whole if is_usage_note(whole) else "",
        keywords=head.keywords,
        usage_scenarios=head.usage_scenarios,
        unfilled=unfilled,
        problem=parts.problem,
    )


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 with a byte-order mark. What cannot be decoded is replaced."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace")


def _heading(body: str) -> str:
    """The heading in the first line of ``body``, or nothing."""
    match = _HEADING.match(body)
    if match is None:
        return ""
    text = match[1].rstrip()
    unmarked = text.rstrip("#")
    # A closing run of # stands apart from the text; the one of ``C#`` does not.
    if not unmarked or unmarked.rstrip() != unmarked:
        text = unmarked
    return one_line(text, MAX_TITLE_CHARS)


def _first_prose(body: str) -> str:
    for line in body.split("\n", _DEFAULT_DESCRIPTION_LINES)[:_DEFAULT_DESCRIPTION_LINES]:
        if line and not _NO_PROSE.match(line):
            return one_line(line, DEFAULT_DESCRIPTION_CHARS)
    return ""
