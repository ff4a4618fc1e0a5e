"""Notes about the usage of an active tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.memory.document import normalize
from memrecalld.ranking.noise import is_tool_noise, tool_aliases
from tests.ranking.notes import GOLDEN, STEADY, note


@pytest.mark.parametrize("entry", GOLDEN["toolNames"], ids=lambda entry: repr(entry["tool"]))
def test_aliases_of_measured_examples(entry):
    assert tool_aliases([entry["tool"]]) == set(entry["aliases"])


@pytest.mark.parametrize("entry", GOLDEN["toolNoise"], ids=lambda entry: entry["name"])
def test_noise_of_measured_examples(entry):
    document = note(**entry["doc"])
    assert is_tool_noise(document, tool_aliases(entry["recentTools"])) is entry["filteredOut"]


def test_aliases_of_several_tools_are_united():
    assert tool_aliases(["Edit", "mcp__wiki__page::read"]) == {
        "edit",
        "mcp__wiki__page::read",
        "page::read",
        "read",
    }


def test_a_full_width_tool_name_is_found():
    assert is_tool_noise(note("grep tool usage"), tool_aliases(["ＧＲＥＰ"]))


def test_a_note_about_another_tool_is_kept():
    assert not is_tool_noise(note("grep tool usage"), tool_aliases(["edit"]))


def test_without_active_tools_nothing_is_noise():
    assert not is_tool_noise(note("grep tool usage"), tool_aliases([]))


@STEADY
@given(st.lists(st.text(st.characters(exclude_categories=())) | st.text("mcp_:ab ")))
def test_aliases_are_normalised_non_blank_parts_of_the_names(names):
    for alias in tool_aliases(names):
        assert alias
        assert alias == alias.strip()
        assert any(alias in normalize(name) for name in names)


@STEADY
@given(st.lists(st.text("mcp_:ab ")))
def test_the_empty_usage_text_of_an_ordinary_note_is_never_noise(names):
    assert not is_tool_noise(note("grep"), tool_aliases(names))
