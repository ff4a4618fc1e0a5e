"""Text for a terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.cli.notes import why
from memrecalld.cli.text import counted, printable, printable_json, table, width

DRIVES_A_TERMINAL = {
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u2028\u2029\u202e\u2066\u200f\u061c",
}


@given(st.text())
def test_printable_text_holds_nothing_that_a_terminal_obeys(text):
    assert not DRIVES_A_TERMINAL & set(printable(text))


@given(st.text(st.characters(codec="utf-8")))
def test_printable_json_reads_back_and_holds_nothing_that_a_terminal_obeys(text):
    written = printable_json({"key": [text]})
    assert json.loads(written) == {"key": [text]}
    assert not (DRIVES_A_TERMINAL - {"\n"}) & set(written)


def test_an_escape_sequence_becomes_harmless_words():
    assert printable("\x1b]0;owned\x07title\r\n\x9b2Jtext") == "]0;owned title 2Jtext"


def test_joined_emoji_and_combining_marks_stay():
    assert printable("👩‍👩‍👧 café") == "👩‍👩‍👧 café"


def test_columns_are_straight_in_wide_scripts():
    lines = table([("数据库", "x"), ("abc", "y"), (unicodedata.normalize("NFD", "é"), "z")])
    assert [width(line[: line.index(each)]) for line, each in zip(lines, "xyz", strict=True)] == [8, 8, 8]


def test_a_line_has_no_trailing_blanks():
    assert table([("a", "bbb"), ("aaa", "")]) == ["a    bbb", "aaa"]


def test_nothing_makes_no_table():
    assert table([]) == []


def test_counts_agree_with_their_noun():
    assert (counted(0, "note"), counted(1, "note"), counted(2, "note")) == ("0 notes", "1 note", "2 notes")


def test_reasons_are_grouped_by_term():
    matches = [
        {"term": "deploy", "field": "title", "weight": 4.0},
        {"term": "deploy", "field": "body", "weight": 1.0},
        {"term": "shop", "field": "description", "weight": 3.0},
    ]
    assert why(matches) == "deploy (title, body), shop (description)"
