"""Which notes only describe how to call a tool."""

from __future__ import annotations

import pytest

from memrecalld.memory.usage import is_usage_note


@pytest.mark.parametrize(
    "marker",
    [
        "api docs",
        "api documentation",
        "failed call",
        "failed tool call",
        "failed tool-call",
        "field mapping",
        "field mappings",
        "guessed call",
        "guessed tool",
        "mcp tool",
        "parameter schema",
        "parameter schemas",
        "tool schema",
        "tool schemas",
        "tool usage",
        "usage reference",
    ],
)
def test_usage_marker_makes_a_usage_note(marker: str) -> None:
    assert is_usage_note(f"edit: {marker} of it")


@pytest.mark.parametrize(
    "marker",
    [
        "credential",
        "credentials",
        "escalation",
        "gotcha",
        "gotchas",
        "known issue",
        "known issues",
        "owner",
        "ownership",
        "homeowner",
        "warning",
        "warnings",
        "workaround",
        "workarounds",
    ],
)
def test_durable_marker_keeps_a_note(marker: str) -> None:
    assert not is_usage_note(f"tool usage, {marker}")


def test_note_about_anything_else_is_none() -> None:
    assert not is_usage_note("grep tips: use grep -r; usage of the tool")
    assert not is_usage_note("")
