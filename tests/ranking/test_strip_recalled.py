"""Recalled notes that come back inside a query must not match themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.text import strip_recalled
from tests.ranking.notes import STEADY

BLOCK = """<recalled-memory>
Notes from memory.

| # Deploy
| </recalled-memory> in a note's text
</recalled-memory>"""
ESCAPED = BLOCK.replace("<", "&lt;").replace(">", "&gt;")


def test_a_query_without_a_block_is_the_same_object():
    query = "how do we deploy?"
    assert strip_recalled(query) is query


def test_a_block_is_taken_out_and_what_stands_around_it_stays():
    assert strip_recalled(f"before\n{BLOCK}\nafter") == "before\n\nafter"


def test_an_escaped_block_is_taken_out():
    assert strip_recalled(f"before\n{ESCAPED}\nafter") == "before\n\nafter"


def test_every_block_is_taken_out():
    assert strip_recalled(f"a\n{BLOCK}\nb\n{ESCAPED}\nc\n{BLOCK}").split() == ["a", "b", "c"]


def test_tags_may_be_indented_and_end_in_carriage_returns():
    block = BLOCK.replace("\n", "\r\n  ")
    assert strip_recalled(f"before\r\n{block}\r\nafter").split() == ["before", "after"]


def test_a_tag_inside_a_line_is_ordinary_text():
    query = "what does <recalled-memory> mean, and </recalled-memory>?"
    assert strip_recalled(query) == query


def test_an_unclosed_tag_takes_only_its_line():
    assert strip_recalled("question\n<recalled-memory>\nmore") == "question\n\nmore"


def test_a_stray_closing_tag_takes_only_its_line():
    assert strip_recalled("question\n</recalled-memory>\nmore") == "question\n\nmore"


def test_a_stray_opening_tag_does_not_hide_what_stands_before_the_next_block():
    assert strip_recalled(f"<recalled-memory>\nquestion\n{BLOCK}\nend").split() == ["question", "end"]


def test_both_tags_of_a_block_are_of_the_same_form():
    stripped = strip_recalled("a\n<recalled-memory>\nb\n&lt;/recalled-memory&gt;\nc\n</recalled-memory>\nd")
    assert stripped.split() == ["a", "d"]


def test_blocks_of_two_forms_that_cross_take_no_text_between_them_twice():
    lines = ["a", "<recalled-memory>", "b", "&lt;recalled-memory&gt;", "c", "</recalled-memory>", "d"]
    assert strip_recalled("\n".join([*lines, "&lt;/recalled-memory&gt;", "e"])).split() == ["a", "d", "e"]


def test_many_tags_take_linear_work():
    count = 100_000
    assert strip_recalled("<recalled-memory>\n" * count + "question").strip() == "question"
    assert (
        strip_recalled(
            "&lt;recalled-memory&gt;\n<recalled-memory>\n" * count + "</recalled-memory>\n" * count
        ).strip()
        == ""
    )


LINES = st.sampled_from(
    [
        "word",
        "",
        "<recalled-memory>",
        "</recalled-memory>",
        "&lt;recalled-memory&gt;",
        "&lt;/recalled-memory&gt;",
    ]
)


@STEADY
@given(st.lists(LINES))
def test_stripping_leaves_no_tag_line_and_only_lines_of_the_query(lines):
    stripped = strip_recalled("\n".join(lines)).split("\n")
    assert set(stripped) <= {"word", ""}
    assert stripped.count("word") <= lines.count("word")


@STEADY
@given(st.lists(LINES), st.lists(LINES))
def test_what_stands_outside_whole_blocks_stays(before, after):
    outside = [line if line == "word" else "" for line in before + after]
    stripped = strip_recalled("\n".join([*outside[: len(before)], BLOCK, *outside[len(before) :]]))
    assert stripped.split() == "\n".join(outside).split()


@STEADY
@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_stripped(query):
    assert len(strip_recalled(query)) <= len(query)
