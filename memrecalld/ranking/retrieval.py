"""What the ranker finds, found in indexes: the same notes, scores and order, at a fraction of the cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memrecalld.ranking.inverted import NOTE_TYPES, InvertedIndex
from memrecalld.ranking.keys import Query, Term, document_keys
from memrecalld.ranking.occurrences import FIELD_BITS, Occurrences
from memrecalld.ranking.ranker import FIELD_EVIDENCE, FIELD_POINTS, PERCENT, SCALE, Weights, weigh
from memrecalld.ranking.scorer import Ranked
from memrecalld.ranking.search import Keep, Scores, best

_EVIDENCE: Final = 1 << 24
"""What a thousandth of evidence counts beside one of score, of which 64 terms give no more than 2**20."""


class RankerIndex(InvertedIndex):
    """The notes of one memory folder by the ranker's keys."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(document_keys)


class Retrieval:
    """One query put to several indexes: the rarity of its terms in all of them is looked up once."""

    def __init__(self, indexes: Sequence[RankerIndex], query: Query, *, unindexed: int = 0) -> None:
        """``unindexed`` notes are not in the indexes yet; their terms are taken to be as rare."""
        self._indexes = indexes
        self._query = query
        self._held = [[index.occurrences(_groups(term)) for term in query.terms] for index in indexes]
        counts = [sum(each.frequency for each in term) for term in zip(*self._held, strict=True)]
        notes = sum(map(len, indexes)) + unindexed
        self.weights: Weights = weigh(query, counts or [0] * len(query.terms), notes)

    def best(self, *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
        """The best ``limit`` notes that ``keep`` accepts, exactly as ``ranker.rank`` has them."""
        found = [self._recalled(index, held) for index, held in zip(self._indexes, self._held, strict=True)]
        return best(found, limit=limit, now_ns=now_ns, keep=keep)

    def _recalled(self, index: RankerIndex, held: Sequence[Occurrences]) -> Scores:
        """What is recalled from one index."""
        sums = np.zeros(index.capacity, np.int64)
        for term, weight, each in zip(self._query.terms, self.weights.terms, held, strict=True):
            each.add(_shares(term, weight), sums)
        recalled = np.flatnonzero(sums >= self.weights.needed * _EVIDENCE)
        boosts = np.array([self.weights.boosts[note_type] for note_type in NOTE_TYPES])
        return Scores(index, recalled, sums[recalled] % _EVIDENCE + boosts[index.types[recalled]])


def _groups(term: Term) -> list[tuple[str, ...]]:
    return [keys for _, keys in term.forms]


@lru_cache
def _strengths(qualities: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Points and evidence, in thousandths, by the masks of ``occurrences``: the best of a term's forms.

    ``qualities`` are those of the forms, in percent of an exact match.
    """
    masks = np.arange(1 << (FIELD_BITS * len(qualities)))
    points = np.zeros(len(masks), np.int64)
    evidence = np.zeros(len(masks), np.int64)
    for number, quality in enumerate(qualities):
        fields = (masks >> (number * FIELD_BITS)) % (1 << FIELD_BITS)
        points = np.maximum(points, quality * np.array(FIELD_POINTS)[fields] // PERCENT * (fields != 0))
        evidence = np.maximum(evidence, quality * np.array(FIELD_EVIDENCE)[fields] // PERCENT * (fields != 0))
    return points, evidence


def _shares(term: Term, weight: int) -> NDArray[np.int64]:
    """What a note gains by holding ``term``, by the masks of ``occurrences``: ``_EVIDENCE`` for each
    thousandth of evidence, and one for each of score."""
    points, proof = _strengths(tuple(quality for quality, _ in term.forms))
    evidence = weight * proof // SCALE if term.carries else 0
    return weight * points // SCALE + evidence * _EVIDENCE
