"""What a hook says to its agent, within the length that agents take."""

from __future__ import annotations

import json

MAX_CHARACTERS = 10_000
"""Claude Code and Qwen Code cut what a hook adds to the context at this length, or put it away in a file."""

_ESCAPED_BRACKET = len("&lt;")
"""Qwen Code writes angle brackets so before it counts."""


def added_context(event: str, prompt: str) -> str:
    """The line that adds a delivery's ``prompt`` to the context at ``event``; empty where nothing fits.

    A prompt that is too long loses whole notes, the last ones first unless only another is too long.
    """
    line = _line(event, prompt)
    if _length(line) < MAX_CHARACTERS:
        return line
    # A note's own lines begin with a bar, so these are the heads of its blocks; a blank line precedes each.
    lines = prompt.split("\n")
    starts = [number - 1 for number, each in enumerate(lines) if each.startswith("[")]
    if not starts:
        return ""
    opening, closing = lines[: starts[0]], lines[-1:]
    kept: list[str] = []
    line = ""
    for start, end in zip(starts, [*starts[1:], len(lines) - 1], strict=True):
        longer = _line(event, "\n".join([*opening, *kept, *lines[start:end], *closing]))
        if _length(longer) < MAX_CHARACTERS:
            kept += lines[start:end]
            line = longer
    return line


def message(text: str) -> str:
    """The line that shows ``text`` to the user, and not to the model."""
    return json.dumps({"systemMessage": text})


def _line(event: str, context: str) -> str:
    output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def _length(line: str) -> int:
    """Characters as JavaScript counts them, UTF-16 code units."""
    brackets = line.count("<") + line.count(">")
    return len(line.encode("utf-16-le", "replace")) // 2 + brackets * (_ESCAPED_BRACKET - 1)
