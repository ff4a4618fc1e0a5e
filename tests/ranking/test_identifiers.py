"""Names and their parts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking import identifiers
from memrecalld.ranking.identifiers import runs, separate, take_apart
from tests.ranking.notes import STEADY


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("retryBackoffMs", ["retry", "Backoff", "Ms"]),
        ("retry_backoff_ms", ["retry", "backoff", "ms"]),
        ("retry-backoff-ms", ["retry", "backoff", "ms"]),
        ("RetryBackoffMS", ["Retry", "Backoff", "MS"]),
        ("HTTPServerV2", ["HTTP", "Server", "V2"]),
        ("SESSION_IDLE_TTL", ["SESSION", "IDLE", "TTL"]),
        ("spark.sql.shuffle", ["spark", "sql", "shuffle"]),
        ("std::vector", ["std", "vector"]),
        ("iOS", ["iOS"]),
        ("gRPC", ["gRPC"]),
        ("URLs", ["URL"]),
        ("k8s", ["k8s"]),
        ("PW5003", ["PW5003"]),
        ("ПараметрЗапуска", ["Параметр", "Запуска"]),
    ],
)
def test_parts_of_a_name(written: str, parts: list[str]) -> None:
    assert list(take_apart(written).parts) == parts


@pytest.mark.parametrize(
    "written", ["retryBackoffMs", "retry_backoff_ms", "retry-backoff-ms", "retry.backoff.ms"]
)
def test_all_styles_are_squashed_alike(written: str) -> None:
    assert take_apart(written).squashed == "retrybackoffms"


@pytest.mark.parametrize(
    ("written", "signed", "parts"),
    [
        ("C++", "c++", []),
        ("C#", "c#", []),
        ("F#", "f#", []),
        (".NET", ".net", ["NET"]),
        ("notepad++", "notepad++", ["notepad"]),
    ],
)
def test_signs_that_belong_to_a_name(written: str, signed: str, parts: list[str]) -> None:
    name = take_apart(written)
    assert (name.signed, list(name.parts)) == (signed, parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C#のLINQ", [("", "C#"), ("の", ""), ("", "LINQ")]),
        ("部署deploy失败", [("部署", ""), ("", "deploy"), ("失败", "")]),
        ("issue#12 a+b", [("", "issue"), ("", "12"), ("", "a"), ("", "b")]),
        ("end. Then ... so", [("", "end"), ("", "Then"), ("", "so")]),
        ("_DONE or trailing-", [("", "DONE"), ("", "or"), ("", "trailing")]),
        ("l'heure don't I'd d’accord 'C'", [("", each) for each in ("heure", "don", "accord", "C")]),
        ("ユーザー", [("ユーザー", "")]),
        ("𠮷野家", [("𠮷野家", "")]),
    ],
)
def test_runs(text: str, expected: list[tuple[str, str]]) -> None:
    assert runs(text) == expected


letters = st.one_of(
    st.sampled_from("aB9_-.:+#'’ C々あんアンー漢鿯鿰㐀䶵䶶가힣ᄀㅋ〆〡ﾃ。、「·\u0301\u3099éßЖΣก"),
    st.characters(),
)
normal_texts = st.text(letters, max_size=30).map(lambda text: unicodedata.normalize("NFKC", text))


@STEADY
@given(text=normal_texts)
def test_the_fast_ways_find_what_the_pattern_finds(text: str) -> None:
    found = identifiers._RUN.findall(text)
    assert runs(text) == found
    cjk, others = separate(text)
    assert cjk == [run for run, _ in found if run]
    assert [name for _, name in runs(others)] == [name for _, name in found if name]


def test_common_letters_are_letters_of_these_scripts() -> None:
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x30000)]))
    for letter in identifiers._COMMON_CJK.findall(everything):
        assert runs(letter) == identifiers._RUN.findall(letter) == [(letter, "")]


def test_whatever_is_a_letter_of_these_scripts_is_common_or_perhaps_one() -> None:
    for code in [*range(0xD800), *range(0xE000, 0x110000, 97)]:
        letter = chr(code)
        (*_, (run, _)) = identifiers._RUN.findall(letter) or [("", "")]
        if run:
            assert identifiers._COMMON_CJK.fullmatch(letter) or identifiers._PERHAPS_CJK.fullmatch(letter)
