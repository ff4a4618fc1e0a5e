"""Why a note is recalled for a query, or why it is not, as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memrecalld.cli.text import printable, table
from memrecalld.programs import shown

if TYPE_CHECKING:
    from memrecalld.client.shapes import Verdict

_REASONS: Final = {
    "same_text": "Not delivered: a better match holds the same text.",
    "already_delivered": "Not delivered: the session has it already.",
    "tool_in_use": "Not delivered: it is about the use of a tool that is in use.",
    "beyond_window": "Not recalled: what the query asks for stands beyond the text that is ever shown of it.",
    "too_little": "Not recalled: it answers to too little of the query.",
    "no_match": "Not recalled: it holds nothing of what the query asks for.",
    "nothing_asked": "Not recalled: no word of the query says what it is about.",
    "unfilled": "Not recalled: the note is announced, and not written yet.",
    "untrusted": "Not read: a repository's own notes are read only where memory.trusted_projects names it.",
    "no_note": f"No note is at this path; {shown('memrecall list --json')} shows the paths of all.",
}

_SCALE: Final = 1_000
"""The daemon's numbers are thousandths."""


def verdict_lines(verdict: Verdict) -> list[str]:
    """The note, the reason, and the words behind it."""
    lines = [_reason(verdict)]
    if (document := verdict.get("document")) is not None:
        lines = [printable(document["title"]), printable(document["path"]), "", *lines]
    if "needed" in verdict:
        evidence, needed = verdict.get("evidence", 0), verdict["needed"]
        lines.append(f"Evidence {_number(evidence)}; needed {_number(needed)}.")
    rows: list[Sequence[str]] = [
        ("matched", match["term"], match["field"], f"+{_number(match['weight'])}")
        for match in verdict.get("matched", ())
    ]
    rows += [
        ("missed", missed["term"], "", _number(missed["weight"])) for missed in verdict.get("missed", ())
    ]
    return [*lines, "", *table(rows)] if rows else lines


def _reason(verdict: Verdict) -> str:
    reason = verdict["reason"]
    if reason == "skipped":
        return f"No note: its file is left out ({printable(verdict['skipReason'])})."
    if reason == "recalled":
        place = verdict.get("place")
        where = f"number {place} of the matches" if place is not None else "far behind other matches"
        return f"Recalled, {where}."
    return _REASONS[reason]


def _number(thousandths: float) -> str:
    return f"{thousandths / _SCALE:.2f}"
