"""The labelled queries put to a store about one subject, as the memory of a real project is.

Whoever works on a product names it everywhere, so a word that all notes hold proves nothing. In a copy of the
corpus every note that is written out names one product: in turn, its description begins with the name, or its
body does. Queries keep their labels, since a name more changes no answer. Besides, the name is asked for
alone or among words that carry nothing. That is labelled by a rule: all notes answer it as well as any, so
nothing is to be recalled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import msgspec

from memrecalld.memory.document import BODY_WINDOW_CHARS, Document
from tests.evaluation import dataset, measures
from tests.evaluation.dataset import NAME_ALONE, LabelledQuery, Split
from tests.evaluation.measures import Outcome
from tests.evaluation.systems import System

NAME: Final = "Tarnwick"
"""Of the product. No note and no query of the corpus holds it."""

_ASKED: Final = (
    "{}",
    "{}?",
    "about {}",
    "what about {}?",
    "how about {} then",
    "what is {}",
    "tell me about {}",
    "and now {} please",
    "ok, {} it is",
    "can you help me with {}",
    "{} again",
    "{}是什么",
    "{} 呢？",
    "{}って何？",
    "{}は？",
    "{}가 뭐야?",
    "{}는요?",
    "а что с {}?",
    "τι είναι το {};",
    "was ist mit {}?",
    "et {} alors ?",
    "¿y {}?",
)


@cache
def documents() -> tuple[Document, ...]:
    """The notes of the corpus, each with the name of the product."""
    return tuple(_named(document, number) for number, document in enumerate(dataset.documents()))


def names_alone() -> list[LabelledQuery]:
    """The name alone, and among words that carry nothing."""
    return [
        LabelledQuery(f"name-{number:03}", NAME_ALONE, asked.format(name), (), None, "tune")
        for number, (asked, name) in enumerate(
            ((asked, name) for asked in _ASKED for name in (NAME, NAME.lower())), 1
        )
    ]


def run(system: Callable[[Sequence[Document]], System], split: Split) -> list[Outcome]:
    """Ask the queries of ``split``, and for the name alone."""
    return measures.run(system(documents()), [*dataset.queries(split), *names_alone()])


def _named(document: Document, number: int) -> Document:
    if document.unfilled:
        return document
    if number % 2 and document.description:
        return msgspec.structs.replace(document, description=f"{NAME}: {document.description}")
    return msgspec.structs.replace(document, body=f"{NAME}. {document.body}"[:BODY_WINDOW_CHARS])
