"""The labelled queries put to small stores, as most people's are: few notes say little about rarity.

Each query has a store of its own: notes that answer it, and others by chance. What no note of the corpus
answers nobody answers in a part of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from memrecalld.memory.document import Document
from tests.evaluation import dataset, measures
from tests.evaluation.dataset import LabelledQuery, Split
from tests.evaluation.measures import Outcome
from tests.evaluation.systems import System

SIZES: Final = (1, 3, 12)
"""Notes of a store."""

_SEED: Final = 20_260_813


def run(system: Callable[[Sequence[Document]], System], split: Split, size: int) -> list[Outcome]:
    """Ask each query of ``split`` of a store of ``size`` notes."""
    outcomes = []
    for query in dataset.queries(split):
        outcomes += measures.run(system(_store(query, dataset.documents(), size)), [query])
    return outcomes


def _store(query: LabelledQuery, documents: Sequence[Document], size: int) -> list[Document]:
    """Relevant notes first of all, in the order of ``documents``."""
    places = range(len(documents))
    relevant = [place for place in places if dataset.name(documents[place]) in query.relevant][:size]
    others = [place for place in places if dataset.name(documents[place]) not in query.relevant]
    chance = random.Random(f"{_SEED} {query.id}")
    return [documents[place] for place in sorted(relevant + chance.sample(others, size - len(relevant)))]
