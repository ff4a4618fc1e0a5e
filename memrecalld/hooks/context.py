"""What a hook says to its agent, within the length that agents take."""

from __future__ import annotations

import json

MAX_CHARACTERS = 10_000
"""Claude Code and Qwen Code cut what a hook adds to the context at this length, or put it away in a file."""


def added_context(event: str, prompt: str) -> str:
    """The line that adds a delivery's ``prompt`` to the context at ``event``."""
    output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": prompt}}
    return json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def room(event: str) -> int:
    """The longest prompt, as ``maxPromptChars`` counts, whose whole line is below ``MAX_CHARACTERS``."""
    return MAX_CHARACTERS - 1 - len(added_context(event, ""))


def message(text: str) -> str:
    """The line that shows ``text`` to the user, and not to the model."""
    return json.dumps({"systemMessage": text})
