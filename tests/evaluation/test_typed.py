"""The queries that ask for notes of a type keep the promises that their README makes."""

from __future__ import annotations

import re
from collections import Counter

from memrecalld.ranking.scorer import TYPE_KEYWORDS
from tests.evaluation import dataset
from tests.evaluation.dataset import SPLITS, TYPED, LabelledQuery

TYPE_WORDS = frozenset().union(*TYPE_KEYWORDS.values())


def queries() -> list[LabelledQuery]:
    return sorted(
        (query for split in SPLITS for query in dataset.queries(split, TYPED)), key=lambda query: query.id
    )


def test_every_query_has_one_answer_and_a_word_for_a_type() -> None:
    names = {dataset.name(document) for document in dataset.documents(TYPED)}
    assert len(queries()) >= 30
    for query in queries():
        assert query.relevant == (query.best,), query.id
        assert query.best in names, query.id
        assert TYPE_WORDS & set(re.findall(r"\w+", query.text.lower())), query.id


def test_every_type_is_asked_for_and_every_third_query_is_held_out() -> None:
    types = {dataset.name(document): document.type for document in dataset.documents(TYPED)}
    asked = Counter(types[query.relevant[0]] for query in queries())
    assert set(asked) == {"user", "feedback", "project", "reference"}
    assert min(asked.values()) >= 5
    assert [query.split == "held-out" for query in queries()] == [n % 3 == 2 for n in range(len(queries()))]


def test_each_note_has_an_age_and_a_text() -> None:
    documents = dataset.documents(TYPED)
    assert len({document.modified_ns for document in documents}) == len(documents)
    assert all(document.body and document.description and document.problem is None for document in documents)
