"""The best and the newest documents of several indexes, put in order no further than they are asked for.

The documents are those of the first index in the order of their relative paths, then those of the second, and
so on. A document's *position* is its place in that row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memrecalld.memory.document import Document
from memrecalld.ranking.index import Index
from memrecalld.ranking.inverted import MAX_TIME_NS, InvertedIndex
from memrecalld.ranking.scorer import Ranked

Keep = Callable[[Document], bool]
"""Whether a document may be found at all."""

_MARGIN: Final = 256
"""So many more than wanted are put in order at first: a session may have been given as many of the best."""

_WIDENING: Final = 4


def search(
    indexes: Sequence[Index], tokens: Sequence[str], *, limit: int, now_ns: int, keep: Keep
) -> list[Ranked]:
    """The best ``limit`` documents that match and that ``keep`` accepts, exactly as ``scorer.rank`` has them.

    ``rank`` would be given the documents in the order of their positions. ``tokens`` are distinct, as
    ``text.query_tokens`` makes them.
    """
    points = [index.points(tokens) for index in indexes]
    return best(indexes, points, limit=limit, now_ns=now_ns, keep=keep)


def best(
    indexes: Sequence[InvertedIndex], points: Sequence[NDArray[Any]], *, limit: int, now_ns: int, keep: Keep
) -> list[Ranked]:
    """The first ``limit`` documents that have points and that ``keep`` accepts, best first.

    ``points`` are integers by ordinal, one array for each index. The order is by points, then newer first,
    then by position; a modification time after ``now_ns`` counts as ``now_ns``. ``keep`` is asked about one
    document after the other until enough are found, and never about the rest.
    """
    row = _Row(indexes)
    scores = row.of(points)
    positions = np.flatnonzero(scores != 0)
    scores = scores[positions]
    ages = row.ages(now_ns)[positions]
    ranked = (
        Ranked(row.document(position), score, position)
        for block in _rising(limit, -scores, ages)
        for position, score in zip(positions[block].tolist(), scores[block].tolist(), strict=True)
    )
    return list(islice((each for each in ranked if keep(each.document)), limit))


def recent(indexes: Sequence[InvertedIndex], *, limit: int, now_ns: int, keep: Keep) -> list[Document]:
    """The newest ``limit`` documents that ``keep`` accepts, as ``candidates.most_recent`` orders them."""
    row = _Row(indexes)
    blocks = _rising(limit, row.ages(now_ns))
    newest = (row.document(position) for block in blocks for position in block.tolist())
    return list(islice(filter(keep, newest), limit))


class _Row:
    """The documents of several indexes by position."""

    def __init__(self, indexes: Sequence[InvertedIndex]) -> None:
        self._indexes = indexes
        self._starts = [0, *accumulate(map(len, indexes))]
        self._ordinals = [index.ordinals for index in indexes]

    def document(self, position: int) -> Document:
        which = bisect_right(self._starts, position) - 1
        return self._indexes[which][position - self._starts[which]]

    def of(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """One array by position, made of one by ordinal for each index."""
        parts = [array[ordinals] for array, ordinals in zip(arrays, self._ordinals, strict=True)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def ages(self, now_ns: int) -> NDArray[np.int64]:
        """A number by position, the smaller the newer the document."""
        times: NDArray[np.int64] = self.of([index.times for index in self._indexes])
        return -np.minimum(times, min(now_ns, MAX_TIME_NS))


def _rising(limit: int, *keys: NDArray[Any]) -> Iterator[NDArray[np.intp]]:
    """All places in ``keys``, in blocks: by the first key, smallest first, the second, …, and by the place.

    Meant to be left a little after ``limit`` places, for each block costs more than the one before.
    """
    size, done = len(keys[0]), 0
    count = limit + _MARGIN
    while done < size:
        yield _smallest(min(count, size), keys)[done:]
        done, count = count, count * _WIDENING


def _smallest(count: int, keys: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """The first ``count`` places, at least one, in the order of ``_rising``."""
    chosen = []
    tied = np.arange(len(keys[0]))
    wanted = count
    for key in keys:
        values = key[tied]
        threshold = np.partition(values, wanted - 1)[wanted - 1]
        chosen.append(tied[values < threshold])
        tied = tied[values == threshold]
        wanted -= len(chosen[-1])
    chosen.append(tied[:wanted])
    places = np.concatenate(chosen)
    return places[np.lexsort((places, *(key[places] for key in reversed(keys))))]
