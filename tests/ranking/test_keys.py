"""Under which keys notes are filed and queries look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.keys import (
    BODY,
    DESCRIPTION,
    MAX_KEY_CHARS,
    MAX_QUERY_TERMS,
    REACH_CHARS,
    TITLE,
    document_keys,
    query_terms,
)
from tests.ranking.notes import STEADY, note


def keys(text: str) -> set[str]:
    return set(document_keys(note(body=text)))


def terms(query: str) -> list[str]:
    return [term.text for term in query_terms(query).terms]


def test_a_mask_tells_the_fields() -> None:
    document = note("heron", "heron stork", "heron crane", keywords=("ibis",))
    masks = document_keys(document)
    assert masks["heron"] == TITLE | DESCRIPTION | BODY
    assert masks["stork"] == DESCRIPTION
    assert masks["crane"] == BODY
    assert masks["ibis"] == DESCRIPTION


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heron", {"heron"}),
        ("Herons", {"herons", "~heron", "^heron"}),
        ("Nesting", {"nesting", "^nest"}),
        ("the and of", set()),
        ("go on", {"go"}),
        ("rev B", {"rev", "b"}),
        ("rev b", {"rev"}),
        ("C++ and C#", {"c++", "c#"}),
        ("notepad++", {"notepad++", "notepad"}),
        (".NET", {".net", "net"}),
        ("the end .And then", {"end"}),
        ("the US and us", {"US"}),
        ("rm -rf", {"rm", "rf"}),
        ("retry_max", {"retry_max", "retrymax", "retry", "^retri", "max"}),
        ("retryMax", {"retryMax", "retrymax", "retry", "^retri", "max"}),
        ("PW-5003", {"PW-5003", "pw5003", "pw", "5003"}),
        ("sont-elles", set()),
        ("部署的流程", {"部署", "流程"}),
        ("abc漢字def", {"abc", "漢字", "def"}),
    ],
)
def test_keys_of_a_text(text: str, expected: set[str]) -> None:
    assert keys(text) == expected


def test_full_width_and_ligatures_are_plain_letters() -> None:
    assert keys("ＰＷ－４０２１ ﬂaky ﾃﾞﾌﾟﾛｲ") == keys("PW-4021 flaky デプロイ")


def test_encoded_data_is_not_filed() -> None:
    assert keys("QUJD" * 50 + "h") == set()
    assert all(len(key) <= MAX_KEY_CHARS for key in keys("a-" * 100 + "b"))


def test_a_lone_surrogate_is_no_obstacle() -> None:
    assert keys("heron \ud800 nest") == {"heron", "nest"}


def test_an_unknown_identifier_is_asked_for_by_its_parts_only() -> None:
    whole, *parts = query_terms("parseUserConfig").terms
    assert (whole.text, whole.unknown) == ("parseUserConfig", 0)
    assert [part.text for part in parts] == ["parse", "user", "config"]
    assert all(part.share < whole.share for part in parts)


def test_a_word_counts_in_full_where_it_stands_alone_too() -> None:
    shares = {term.text: term.share for term in query_terms("user_config for every user").terms}
    assert shares["user"] > shares["config"]


def test_what_is_shouted_has_no_abbreviations() -> None:
    assert terms("GIVE IT TO US") == []
    assert terms("give it to the US") == ["US"]
    assert terms("US") == ["US"]


@pytest.mark.parametrize(
    "query",
    [
        "wer wertet den Feldtest aus",
        "quelles mesures après la panne",
        "где отметить перезапуск",
        "πότε αλλάζει η βάρδια",
    ],
)
def test_a_missing_word_counts_less_in_a_language_that_inflects(query: str) -> None:
    (english,) = {term.unknown for term in query_terms("who evaluates the field test").terms}
    assert all(0 < term.unknown < english for term in query_terms(query).terms)


def test_a_word_of_another_language_that_is_a_term_in_english_counts_in_english_only() -> None:
    assert terms("comment every line") == ["comment", "line"]
    assert terms("comment ça marche") == ["marche"]
    assert terms("which git tag") == ["git", "tag"]
    assert terms("guten Tag") == []


def test_light_words_do_not_carry() -> None:
    assert [(term.text, term.carries) for term in query_terms("go build").terms] == [
        ("go", False),
        ("build", True),
    ]


def test_a_long_query_keeps_both_ends() -> None:
    words = [f"word{number}" for number in range(200)]
    half = MAX_QUERY_TERMS // 2
    assert terms(" ".join(words)) == words[:half] + words[-half:]


def test_the_last_terms_count_by_their_last_occurrence() -> None:
    words = [f"word{number}" for number in range(100)]
    assert terms(" ".join([*words, "word40"]))[-2:] == ["word99", "word40"]


def test_up_to_64_terms_are_all_kept() -> None:
    words = [f"word{number}" for number in range(MAX_QUERY_TERMS)]
    assert terms(" ".join(words)) == words


def test_the_middle_of_a_huge_query_is_not_read() -> None:
    head, tail = "first words " * 200, " last words" * 200
    assert len(head) > REACH_CHARS < len(tail)
    found = terms(f"{head}{'middle ' * 300_000}{tail}")
    assert {"words", "last"} <= set(found)
    assert "middle" not in found


words = st.text(st.characters(categories=("Lu", "Ll", "Lo", "Nd", "Mn")), min_size=2, max_size=12)


@STEADY
@given(word=words)
def test_a_note_is_filed_where_its_own_words_look(word: str) -> None:
    filed = document_keys(note(body=word))
    for term in query_terms(word).terms:
        if term.carries and term.unknown:
            assert any(key in filed for _, forms in term.forms for key in forms) or len(term.text) == 1


@STEADY
@given(text=st.text(max_size=200))
def test_any_text_gives_keys_of_bounded_length_and_bounded_terms(text: str) -> None:
    assert all(0 < len(key) <= MAX_KEY_CHARS + 1 for key in document_keys(note(text, text, text)))
    found = query_terms(text * 20).terms
    assert len(found) <= MAX_QUERY_TERMS
    assert len({term.text for term in found}) == len(found)
    assert all(0 < term.share <= 150 for term in found)
