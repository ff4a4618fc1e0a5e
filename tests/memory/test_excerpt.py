"""A cut never goes through a character that a person sees, and costs the same for a text of any length."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.memory.excerpt import cut, one_line

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAG = "🇩🇪"
PIECES = st.sampled_from(
    [
        *"ab ~漢字かナー한글é\nक्षิกำ",
        "e\u0301",
        FAMILY,
        FLAG,
        "👍🏽",
        "1\ufe0f\u20e3",
        "\u0600",
        "ᄀ",
        "ᅡ",
        "ᆨ",
        "\u200d",
        "\u0301",
    ]
)


def by_definition(text: str, limit: int) -> str:
    """The longest run of whole clusters, segmented from the start of the text."""
    end = 0
    for cluster in regex.finditer(r"\X", text):
        if cluster.end() > limit:
            break
        end = cluster.end()
    return text[: end or limit]


@given(st.lists(PIECES, max_size=150).map("".join), st.integers(1, 120))
@settings(max_examples=400, deadline=None)
def test_cut_is_the_longest_start_of_whole_clusters(text: str, limit: int) -> None:
    assert cut(text, limit) == (text if len(text) <= limit else by_definition(text, limit))


@pytest.mark.parametrize("filler", ["a", "漢", "\u0e01", "😀", "\u0915\u094d"])
@pytest.mark.parametrize("shift", range(8))
def test_family_at_the_limit_is_in_or_out_as_a_whole(filler: str, shift: int) -> None:
    text = (filler * 1_200)[: 1_200 - shift] + FAMILY + "after"

    short = cut(text, 1_200)

    assert short == by_definition(text, 1_200)
    assert (FAMILY in short) == (shift == 7)
    assert len(short) <= 1_200


def test_flags_are_not_paired_anew() -> None:
    text = "x" + FLAG * 700

    assert cut(text, 1_200) == "x" + FLAG * 599


def test_cluster_longer_than_the_limit_is_cut_between_code_points() -> None:
    assert cut("e" + "\u0301" * 5_000, 1_200) == "e" + "\u0301" * 1_199


@pytest.mark.parametrize("text", ["a" * 10_000_000, "😀" * 1_000_000, "\u0301" * 1_000_000])
def test_cut_of_a_long_text_looks_at_its_start_only(text: str) -> None:
    started = time.process_time()
    for _ in range(20):
        cut(text, 1_200)
    assert time.process_time() - started < 0.5


def test_one_line_is_without_controls_and_reordering_marks() -> None:
    assert one_line("a\nb\tc\x00d\x1b[31m\u2028e\u202ef\ufeff\x85 g", 99) == "a b c d [31m e f g"
    assert one_line(f"  {FAMILY} मन\u200cमानी ", 99) == f"{FAMILY} मन\u200cमानी"


@given(st.text(max_size=80), st.integers(1, 40))
@settings(deadline=None)
def test_one_line_can_be_written_and_is_short(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    line.encode()
