"""Which notes merely describe how a tool is used.

Such a note is noise while that very tool is in use. Whether its text names a tool is decided for each recall;
whether it is a note of this kind at all depends on the whole text, so it is decided once, when the note is
parsed.
"""

from __future__ import annotations

from typing import Final

USAGE_MARKERS: Final = (
    "api docs",
    "api documentation",
    "failed call",
    "failed tool call",
    "failed tool-call",
    "field mapping",
    "guessed call",
    "guessed tool",
    "mcp tool",
    "parameter schema",
    "tool schema",
    "tool usage",
    "usage reference",
)
"""Phrases of notes about calling a tool; the plurals contain them. Lower case."""

DURABLE_MARKERS: Final = (
    "credential",
    "escalation",
    "gotcha",
    "known issue",
    "owner",
    "warning",
    "workaround",
)
"""Words of lessons that stay worth knowing while the tool is in use; plurals contain them."""


def is_usage_note(text: str) -> bool:
    """Whether ``text`` holds a usage marker and no durable one.

    ``text`` is a note's title, description and whole body, in the form ``memory.document.normalize`` gives.
    """
    return _holds_any(USAGE_MARKERS, text) and not _holds_any(DURABLE_MARKERS, text)


def _holds_any(markers: tuple[str, ...], text: str) -> bool:
    # Every note comes through here; ``any`` over a generator takes twice as long.
    for marker in markers:  # noqa: SIM110
        if marker in text:
            return True
    return False
