"""What the ranker finds, found in indexes: the same notes, scores and order, at a fraction of the cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memrecalld.ranking.inverted import NOTE_TYPES, InvertedIndex
from memrecalld.ranking.keys import Query, Term, document_keys
from memrecalld.ranking.ranker import FIELD_EVIDENCE, FIELD_POINTS, PERCENT, SCALE, Weights, weigh
from memrecalld.ranking.scorer import Ranked
from memrecalld.ranking.search import Keep, best

_POINTS: Final = np.array(FIELD_POINTS, np.int64)
_EVIDENCE: Final = np.array(FIELD_EVIDENCE, np.int64)


class RankerIndex(InvertedIndex):
    """The notes of one memory folder by the ranker's keys."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(document_keys)


class _Holders(NamedTuple):
    """The notes of one index that hold a term, each once; points and evidence in thousandths."""

    ordinals: NDArray[np.intp]
    points: NDArray[np.int64]
    evidence: NDArray[np.int64]


class Retrieval:
    """One query put to several indexes: the rarity of its terms in all of them is looked up once."""

    def __init__(self, indexes: Sequence[RankerIndex], query: Query, *, unindexed: int = 0) -> None:
        """``unindexed`` notes are not in the indexes yet; their terms are taken to be as rare."""
        self._indexes = indexes
        self._query = query
        self._holders = [[_holders(index, term) for term in query.terms] for index in indexes]
        counts = [sum(len(each.ordinals) for each in term) for term in zip(*self._holders, strict=True)]
        notes = sum(map(len, indexes)) + unindexed
        self.weights: Weights = weigh(query, counts or [0] * len(query.terms), notes)

    def best(self, *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
        """The best ``limit`` notes that ``keep`` accepts, exactly as ``ranker.rank`` has them."""
        scores = [
            self._scores(index, holders) for index, holders in zip(self._indexes, self._holders, strict=True)
        ]
        return best(self._indexes, scores, limit=limit, now_ns=now_ns, keep=keep)

    def _scores(self, index: RankerIndex, holders: Iterable[_Holders]) -> NDArray[np.int64]:
        """Scores by ordinal, 0 for what is not recalled."""
        scores = np.zeros(index.capacity, np.int64)
        evidence = np.zeros(index.capacity, np.int64)
        for term, weight, held in zip(self._query.terms, self.weights.terms, holders, strict=True):
            scores[held.ordinals] += weight * held.points // SCALE
            if term.carries:
                evidence[held.ordinals] += weight * held.evidence // SCALE
        recalled = np.flatnonzero(evidence >= self.weights.needed)
        boosts = np.array([self.weights.boosts[note_type] for note_type in NOTE_TYPES], np.int64)
        found = np.zeros(index.capacity, np.int64)
        found[recalled] = scores[recalled] + boosts.take(index.types[recalled])
        return found


def _holders(index: RankerIndex, term: Term) -> _Holders:
    (quality, forms), *others = term.forms
    ordinals, masks = index.occurrences(forms)
    points = quality * _POINTS.take(masks) // PERCENT
    evidence = quality * _EVIDENCE.take(masks) // PERCENT
    if not others:
        return _Holders(ordinals, points, evidence)
    # What is held in several forms counts as the best of them.
    all_points = np.zeros(index.capacity, np.int64)
    all_evidence = np.zeros(index.capacity, np.int64)
    all_points[ordinals] = points
    all_evidence[ordinals] = evidence
    for quality, forms in others:
        ordinals, masks = index.occurrences(forms)
        points = quality * _POINTS.take(masks) // PERCENT
        evidence = quality * _EVIDENCE.take(masks) // PERCENT
        all_points[ordinals] = np.maximum(all_points[ordinals], points)
        all_evidence[ordinals] = np.maximum(all_evidence[ordinals], evidence)
    ordinals = np.flatnonzero(all_points != 0)
    return _Holders(ordinals, all_points[ordinals], all_evidence[ordinals])
