"""The text of a note."""

from __future__ import annotations


def note(title: str, description: str = "", body: str = "", type: str = "project") -> str:
    """A note as an agent writes it."""
    return f"---\nname: {title}\ndescription: {description}\ntype: {type}\n---\n\n{body}\n"
