"""Tokens of a text, and the bounded tokens of a query."""

from __future__ import annotations

import random
import sys
import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from memrecalld.memory.document import normalize
from memrecalld.ranking import text as text_module
from memrecalld.ranking.text import MAX_QUERY_TOKENS, REACH_CHARS, STRETCH_CHARS, query_tokens, tokens
from tests.ranking.notes import GOLDEN, STEADY

ANY_TEXT = st.text(st.characters(exclude_categories=()))

# Fragments that are apt to change at a cut: sigma and what is transparent to its final form, marks, jamo and
# half-width kana that compose, ligatures that fall apart, runs of both kinds.
FRAGMENTS = (
    *"aBß1Σ.'’:^`´\u00ad\u200b\u0301\u0323\u0308\u3099\u309aか漢字カｶﾞ々ーー〱ᄀ각ᆨ한글ﷺﬁ㍿①½İ\u0130¨",
    *(
        "ΟΔΟΣ",
        "deploy",
        "Σ.",
        "token",
        "デプロイ",
        "ﾃﾞﾌﾟ",
        "e\u0301",
        "การ",
        "привет",
        "\ud800",
        "🚀",
        "x\u0323y",
    ),
)
SEPARATORS = (*" \n\t,-_/<=>()#\u3000。、「」\u2028\u00a0",)


def random_query(seed: int) -> str:
    """Up to 250 words of few or many different fragments: longer than drawing one by one allows."""
    source = random.Random(seed)
    vocabulary = source.sample(FRAGMENTS, source.randint(4, len(FRAGMENTS)))
    return "".join(
        "".join(source.choices(vocabulary, k=source.randint(0, 5))) + source.choice(SEPARATORS)
        for _ in range(source.randint(0, 250))
    )


QUERIES = st.lists(st.sampled_from(FRAGMENTS + SEPARATORS)).map("".join) | st.integers(0, 2**32).map(
    random_query
)


def naive_tokens(text: str) -> list[str]:
    """Every token with repetitions, character by character, as the definition says it."""
    cjk = regex.compile(
        r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|[[\p{scx=Kana}&&[\p{L}\p{M}]]--\p{scx=Latin}]", regex.V1
    )
    runs: list[tuple[str, str]] = []
    kind_before = ""
    for character in normalize(text):
        if cjk.fullmatch(character):
            kind = "cjk"
        elif regex.fullmatch(r"[\p{L}\p{N}]" if kind_before != "word" else r"[\p{L}\p{N}\p{M}]", character):
            kind = "word"
        else:
            kind = ""
        if kind and kind == kind_before:
            runs[-1] = (kind, runs[-1][1] + character)
        elif kind:
            runs.append((kind, character))
        kind_before = kind
    found = []
    for kind, run in runs:
        if kind == "cjk":
            found.extend(run[index : index + 2] for index in range(len(run) - 1))
        elif len(run) >= 3:
            found.append(run)
    return found


def naive_bound(found: list[str]) -> tuple[str, ...]:
    """First 32 distinct, then the last 32 of the others by last occurrence."""
    first = list(dict.fromkeys(found))[:32]
    last = [token for token in dict.fromkeys(reversed(found)) if token not in first][:32]
    return (*first, *reversed(last))


def naive_ends(text: str, chars: int) -> str:
    """First and last ``chars`` of ``text``, without the words at the cuts."""
    word = regex.compile(r"[\p{L}\p{M}\p{N}]")
    head, tail = text[:chars], text[-chars:]
    while head and word.fullmatch(head[-1]) and not text_module._RUN.fullmatch(head[-1] * 2):
        head = head[:-1]
    while tail and word.fullmatch(tail[0]) and not text_module._RUN.fullmatch(tail[0] * 2):
        tail = tail[1:]
    return head + " " + tail


@pytest.mark.parametrize("entry", GOLDEN["tokens"], ids=lambda entry: ascii(entry["input"]))
def test_tokens_of_measured_examples(entry):
    assert list(tokens(entry["input"])) == entry["tokens"]
    assert list(query_tokens(entry["input"])) == entry["tokens"]


CAPPED_QUERIES = {
    "100 CJK codepoints U+4E00.. then token000..token099": " ".join(
        ["".join(map(chr, range(0x4E00, 0x4E00 + 100))), *(f"token{number:03}" for number in range(100))]
    ),
    "token000..token099": " ".join(f"token{number:03}" for number in range(100)),
    "token000..063, token032, token064": " ".join(f"token{number:03}" for number in (*range(64), 32, 64)),
    "exactly 64": " ".join(f"token{number:03}" for number in range(64)),
    "65": " ".join(f"token{number:03}" for number in range(65)),
}


@pytest.mark.parametrize("entry", GOLDEN["tokenCap"], ids=lambda entry: entry["name"])
def test_bounded_tokens_of_measured_examples(entry):
    found = query_tokens(CAPPED_QUERIES[entry["name"]])
    assert list(found) == entry["tokens"]
    assert len(found) == entry["count"]


@STEADY
@given(ANY_TEXT)
@example("\ud800abc\udfff漢字")
def test_tokens_are_those_of_the_definition_for_any_text(text):
    assert list(tokens(text)) == list(dict.fromkeys(naive_tokens(text)))


@STEADY
@given(QUERIES)
def test_tokens_are_those_of_the_definition_in_mixed_scripts(text):
    assert list(tokens(text)) == list(dict.fromkeys(naive_tokens(text)))


def test_a_mark_shared_with_kana_does_not_cut_a_latin_word():
    assert tokens("x\u0323yz") == ("x\u0323yz",)


@STEADY
@given(QUERIES, st.integers(1, 40))
def test_reading_in_parts_equals_reading_all_at_once(query, more):
    longest = max(map(len, text_module._FIRST_SEPARATOR.split(query)))
    found = text_module._bounded(query, len(query), longest + more)
    assert found == naive_bound(naive_tokens(query))


@STEADY
@given(QUERIES, st.integers(1, 100).map(lambda half: 2 * half), st.integers(1, 800))
@example("abcdef", 6, 100)  # a stretch of exactly the length, read forward
@example("".join(map(chr, range(0x4E00, 0x4E40))), 64, 100)  # and read backward
def test_reading_in_parts_equals_the_definition_where_stretches_and_query_are_cut(query, stretch, reach):
    kept = query if len(query) <= 2 * reach else naive_ends(query, reach)
    found = []
    for part in text_module._FIRST_SEPARATOR.split(kept):
        found += naive_tokens(part if len(part) < stretch else naive_ends(part, stretch // 2))
    assert text_module._bounded(query, reach, stretch) == naive_bound(found)


@STEADY
@given(ANY_TEXT)
def test_query_tokens_are_distinct_and_bounded_for_any_text(query):
    found = query_tokens(query)
    assert len(found) == len(set(found)) <= MAX_QUERY_TOKENS
    assert set(found) <= set(tokens(query))


def test_cutting_at_a_separator_changes_no_token():
    marks = [
        character
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(character := chr(code))[0] == "M"
    ]
    letter = regex.compile(r"[\p{L}\p{M}\p{N}]")
    for separator in filter(text_module._FIRST_SEPARATOR.match, map(chr, range(sys.maxunicode + 1))):
        assert not letter.search(normalize(separator))
        assert normalize(f"ΑΣ{separator}Α")[1] == "ς", "ends the context of a sigma before it"
        assert normalize(f"Α{separator}Σ")[-1] == "σ", "begins the context of a sigma after it"
        for mark in marks:
            assert not letter.match(normalize(separator + mark)), "composes into no letter with what follows"
            assert normalize(f"a{mark}{separator}") == normalize(f"a{mark}") + normalize(separator)


@pytest.fixture
def normalized_lengths(monkeypatch):
    lengths = []

    def counting(text):
        lengths.append(len(text))
        return normalize(text)

    monkeypatch.setattr(text_module, "normalize", counting)
    return lengths


def test_the_middle_of_a_long_log_is_not_normalised(normalized_lengths):
    log = "".join(f"line {number:06} finished in {number % 977} ms, ok\n" for number in range(58_000))
    assert len(log) > 1_900_000
    found = query_tokens(log)
    assert found[:3] == ("line", "000000", "finished")
    assert found[-2:] == ("057999", "356")
    assert len(found) == MAX_QUERY_TOKENS
    assert sum(normalized_lengths) < 8_192


@pytest.mark.parametrize(
    "query",
    [
        "tick tock " * 200_000,
        "x" * 2_000_000,
        "漢" * 2_000_000,
        " " * 2_000_000,
        "哈哈，" * 700_000,
        ("a" + "\u0301\u0323" * 600 + " ") * 1_600,
        "ab." * 700_000,
    ],
    ids=["two words", "one word", "one character", "blanks", "pairs", "marks", "no separator"],
)
def test_work_is_bounded_for_a_long_query_that_gives_few_tokens(query, normalized_lengths):
    query_tokens(query)
    assert sum(normalized_lengths) <= 4 * REACH_CHARS
    assert max(normalized_lengths) <= STRETCH_CHARS + 1


def test_a_question_at_either_end_of_a_long_paste_is_kept():
    paste = "x" * 2_000_000
    assert query_tokens(f"why does this fail? {paste}") == ("why", "does", "this", "fail")
    assert query_tokens(f"{paste} 部署失败了") == ("部署", "署失", "失败", "败了")


def test_a_word_that_a_cut_goes_through_is_left_out():
    long_word = "a" * STRETCH_CHARS
    assert query_tokens(f"before {long_word} after") == ("before", "after")
    assert query_tokens("middle " * 20_000 + "end") == ("middle", "end")


def test_up_to_64_distinct_tokens_are_all_kept_whatever_is_repeated():
    words = [f"word{number}" for number in range(60)]
    assert set(query_tokens(" ".join(words + words[:40]))) == set(words)
