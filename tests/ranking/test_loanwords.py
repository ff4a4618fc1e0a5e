"""English words of software, spelt by their sound."""

from __future__ import annotations

import pytest

from memrecalld.memory.document import nfkc
from memrecalld.ranking import loanwords
from memrecalld.ranking.loanwords import english_words
from memrecalld.ranking.stopwords import FUNCTION_WORDS


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("서버", ["server"]),
        ("サーバー", ["server"]),
        ("ログインページ", ["login", "page"]),
        ("카탈로그", ["catalog"]),
        ("블로그", []),
        ("サーバーレス", []),
        ("server", []),
        ("", []),
    ],
)
def test_a_word_is_english_when_all_of_it_is(word: str, expected: list[str]) -> None:
    assert english_words(word) == expected


def test_each_word_is_as_queries_are_read_and_can_be_found() -> None:
    for spelt, english in loanwords._ENGLISH.items():
        assert nfkc(spelt) == spelt and len(spelt) >= 2
        assert english.isascii() and english.isalpha() and english.islower()
        assert english not in FUNCTION_WORDS, english
