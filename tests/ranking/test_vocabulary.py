"""Vocabulary: every word that a token is part of, and no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.vocabulary import TRIGRAM_CHARS, Vocabulary
from tests.ranking.notes import STEADY

# Few words, so that they go as well as come: a word that is there is taken out.
LETTERS = st.sampled_from(["", "ab", "aba", "abab", "babab", "é𠮷é", "abé𠮷", "bé𠮷éab", "𠮷" * 7, "aaaaa"])
TOKENS = st.text("abé𠮷", min_size=TRIGRAM_CHARS, max_size=5)


@STEADY
@given(st.lists(LETTERS, max_size=40), st.lists(TOKENS, min_size=1, max_size=6))
def test_the_words_with_a_token_in_them_are_found_while_words_come_and_go(steps, tokens):
    vocabulary = Vocabulary()
    words = set()
    for word in steps:
        if word in words:
            words.remove(word)
            vocabulary.remove(word)
        else:
            words.add(word)
            vocabulary.add(word)
        for token in tokens:
            found = vocabulary.containing(token)
            assert len(found) == len(set(found))
            assert set(found) == {each for each in words if token in each}


def test_a_word_with_all_the_trigrams_of_a_token_but_in_another_order_is_not_found():
    vocabulary = Vocabulary()
    vocabulary.add("cabdxabcab")
    assert vocabulary.containing("abcabd") == []
    assert vocabulary.containing("xabca") == ["cabdxabcab"]


def test_a_word_without_a_trigram_is_no_trouble():
    vocabulary = Vocabulary()
    vocabulary.add("部署")
    vocabulary.remove("部署")
    assert vocabulary.containing("abc") == []
