"""Forms of a word that meet, and words that must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.ranking.inflection import fold, root, singular
from tests.ranking.notes import STEADY


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("bugs", "bug"),
        ("policies", "policy"),
        ("processes", "process"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("jwts", "jwt"),
        ("días", "dia"),
    ],
)
def test_plurals_meet_their_singular(plural: str, one: str) -> None:
    assert singular(plural) == singular(one) == one


@pytest.mark.parametrize("word", ["news", "process", "status", "redis", "analysis", "https", "bus", "go"])
def test_what_only_looks_like_a_plural_is_left_alone(word: str) -> None:
    assert singular(word) == root(word) == word


@pytest.mark.parametrize(
    "forms",
    [
        "serialize serializes serialized serializing serialization serialise serialisation",
        "deduplicate deduplicated deduplicating deduplication",
        "rotate rotates rotating rotated rotation",
        "partition partitions partitioned partitioning",
        "stop stops stopped stopping",
        "format formats formatted formatting",
        "evict evicted eviction evictions",
        "deploy deploys deployed deploying deployment deployments",
        "query queries queried querying",
        "cache caches cached caching",
        "licence license licences licensed",
        "colour color colours",
        "migration migrations migrate migrated",
        "freigabe freigaben",
        "réunion réunions",
        "обучение обучения обучению обучением",
        "контрольные контрольных контрольная",
        "модель модели моделей",
        "потеря потери потеряли",
        "εφαρμογή εφαρμογής εφαρμογές",
        "αντίγραφα αντιγράφων αντίγραφο",
    ],
)
def test_forms_of_a_word_meet(forms: str) -> None:
    assert len({root(word) for word in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("news", "new"),
        ("process", "proces"),
        ("universe", "university"),
        ("production", "product"),
        ("string", "str"),
        ("need", "ne"),
        ("bring", "br"),
        ("https", "http"),
        ("nats", "nat"),
        ("user", "use"),
        ("number", "numb"),
        ("token", "tok"),
        ("listen", "list"),
        ("точка", "то"),
    ],
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert root(one) != root(other)


def test_accents_and_final_sigma_are_folded() -> None:
    assert fold("éñüßς") == "enussσ"
    assert fold("naïve") == "naive"


@STEADY
@given(word=st.text(st.characters(categories=("Ll", "Lo", "Nd")), min_size=1, max_size=20))
def test_nothing_is_stripped_to_less_than_a_word(word: str) -> None:
    for folded in (singular(word), root(word)):
        assert len(folded) >= min(3, len(fold(word)))
        assert folded[0] == fold(word)[0]


@STEADY
@given(word=st.text("abcdeginorstuyz", min_size=1, max_size=12))
def test_a_singular_is_its_own_singular(word: str) -> None:
    assert singular(singular(word)) == singular(word) or singular(word).endswith("s")
