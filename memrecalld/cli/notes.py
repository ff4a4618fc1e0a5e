"""How notes are shown to a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from memrecalld.cli.text import printable

if TYPE_CHECKING:
    from memrecalld.client.shapes import FoundDocument, Match

_INDENT: Final = "     "


def note_lines(document: FoundDocument, number: int) -> list[str]:
    """A note that was found: title, description, what it is, why it matched, and its file."""
    title, description = printable(document["title"]), printable(document["description"])
    kind = f"{document['scope']} note, {document['type']}, {document['age']}"
    if (score := document.get("score")) is not None:
        kind += f", score {score:g}"
    lines = [f"{number:3}  {title}"]
    if description and description != title:
        lines.append(_INDENT + description)
    lines.append(_INDENT + kind)
    if matched := document.get("matched"):
        lines.append(f"{_INDENT}matched {printable(why(matched))}")
    lines.append(_INDENT + printable(document["path"]))
    return lines


def why(matches: Iterable[Match]) -> str:
    """The terms that a note was found by, each with the fields that hold it: ``deploy (title, body)``."""
    fields: dict[str, list[str]] = {}
    for match in matches:
        fields.setdefault(match["term"], []).append(match["field"])
    return ", ".join(f"{term} ({', '.join(where)})" for term, where in fields.items())
