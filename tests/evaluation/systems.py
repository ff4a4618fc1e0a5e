"""What is compared: the product's ranker, the scorer it departs from, and what anyone would try first.

A system gets the words of a query and answers with the notes it would hand over, best first. None of them
sees labels.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import bm25s

from memrecalld.memory.document import Document
from memrecalld.ranking import ranker, scorer
from memrecalld.ranking.keys import document_keys, query_terms
from memrecalld.ranking.text import _read, query_tokens, tokens
from tests.evaluation.dataset import NOW_NS, name

RANDOM_SEED: Final = 20_260_808

Search = Callable[[str], list[str]]


class System(NamedTuple):
    """A way to search, by the name under which tables show it."""

    name: str
    search: Search


RANDOM: Final = "random"
GREP: Final = "grep"
BEFORE: Final = "before"
BASELINE: Final = "baseline"
BM25: Final = "BM25"
BM25_KEYS: Final = "BM25, our keys"
PRODUCT: Final = "product"

DESCRIPTIONS: Final = {
    RANDOM: "the notes in an order that does not depend on the query (seeded)",
    GREP: "occurrences of the query's blank-separated words, without regard to case",
    BEFORE: "what the baseline replaced: ASCII words of three letters or more, and a point for any body",
    BASELINE: "`memrecalld.ranking.scorer`: substring tests, weighted by field",
    BM25: "`bm25s` (Lucene's variant, default constants) over the tokens of the baseline",
    BM25_KEYS: "the same over the keys of the product's ranker, each once for each field that holds it",
    PRODUCT: "`memrecalld.ranking.ranker`",
}


def all_systems(documents: Sequence[Document]) -> list[System]:
    """Every system, ready to search ``documents``; the product's last."""
    return [
        System(RANDOM, _random(documents)),
        System(GREP, _grep(documents)),
        System(BEFORE, _before(documents)),
        baseline(documents),
        System(BM25, _bm25(documents)),
        System(BM25_KEYS, _bm25_keys(documents)),
        product(documents),
    ]


def baseline(documents: Sequence[Document]) -> System:
    """The scorer that the product's ranker departs from."""
    texts = [scorer.search_text(document) for document in documents]

    def search(query: str) -> list[str]:
        return [name(each.document) for each in scorer.rank(documents, query_tokens(query), NOW_NS, texts)]

    return System(BASELINE, search)


def product(documents: Sequence[Document]) -> System:
    """The product's ranker as it is at this moment: an ablation patches it before."""
    keys = [document_keys(document) for document in documents]

    def search(query: str) -> list[str]:
        return [name(each.document) for each in ranker.rank(documents, query_terms(query), NOW_NS, keys)]

    return System(PRODUCT, search)


def _random(documents: Sequence[Document]) -> Search:
    names = [name(document) for document in documents]

    def search(query: str) -> list[str]:
        return random.Random(f"{RANDOM_SEED} {query}").sample(names, len(names))

    return search


def _grep(documents: Sequence[Document]) -> Search:
    texts = [f"{document.title}\n{document.description}\n{document.body}".lower() for document in documents]

    def search(query: str) -> list[str]:
        words = {word.strip(".,;:!?\"'()") for word in query.lower().split()} - {""}
        return _ranked(documents, [sum(text.count(word) for word in words) for text in texts])

    return search


def _before(documents: Sequence[Document]) -> Search:
    fields = [
        (document.title.lower(), document.description.lower(), document.body.lower())
        for document in documents
    ]
    by_type = sorted(range(len(documents)), key=lambda place: documents[place].type)

    def search(query: str) -> list[str]:
        words = list(dict.fromkeys(re.findall(r"[a-z0-9]{3,}", query.lower())))
        scores = [
            sum(
                scorer.TITLE_WEIGHT * (word in title)
                + scorer.DESCRIPTION_WEIGHT * (word in description)
                + scorer.BODY_WEIGHT * (word in body)
                for word in words
            )
            + len(scorer.TYPE_KEYWORDS[document.type].intersection(words))
            + bool(body)
            for document, (title, description, body) in zip(documents, fields, strict=True)
        ]
        # The type decided its ties, in the order of the alphabet.
        best_first = sorted(by_type, key=lambda place: -scores[place])
        return [name(documents[place]) for place in best_first if scores[place]]

    return search


def _bm25(documents: Sequence[Document]) -> Search:
    corpus = [_read(_whole(document)) for document in documents]  # with repetitions, which BM25 counts
    return _bm25_search(documents, corpus, lambda query: list(tokens(query)))


def _bm25_keys(documents: Sequence[Document]) -> Search:
    corpus = [
        [key for key, mask in document_keys(document).items() for _ in range(mask.bit_count())]
        for document in documents
    ]

    def asked(query: str) -> list[str]:
        return [key for term in query_terms(query).terms for _, keys in term.forms for key in keys]

    return _bm25_search(documents, corpus, asked)


def _bm25_search(
    documents: Sequence[Document], corpus: list[list[str]], asked: Callable[[str], list[str]]
) -> Search:
    model = bm25s.BM25()
    model.index(corpus, show_progress=False)
    known = {token for each in corpus for token in each}

    def search(query: str) -> list[str]:
        words = [word for word in asked(query) if word in known]
        if not words:
            return []
        return _ranked(documents, [round(float(score), 4) for score in model.get_scores(words)])

    return search


def _whole(document: Document) -> str:
    """All that is searched of a note, once: BM25 knows of no fields."""
    head = (document.title, document.description, *document.keywords, *document.usage_scenarios)
    return "\n".join((*head, document.body))


def _ranked(documents: Sequence[Document], scores: Sequence[float]) -> list[str]:
    """The notes with a score, best first; then newer first, then in their order."""
    places = sorted(
        (place for place, score in enumerate(scores) if score > 0),
        key=lambda place: (-scores[place], -documents[place].modified_ns, place),
    )
    return [name(documents[place]) for place in places]
