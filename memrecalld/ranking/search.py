"""The best and the newest documents of several indexes, put in order no further than they are asked for.

The documents are those of the first index in the order of their relative paths, then those of the second, and
so on. A document's *position* is its place in that row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memrecalld.memory.document import Document
from memrecalld.ranking.inverted import MAX_TIME_NS, InvertedIndex
from memrecalld.ranking.scorer import Ranked

Keep = Callable[[Document], bool]
"""Whether a document may be found at all."""

_MARGIN: Final = 256
"""So many more than wanted are put in order at first: a session may have been given as many of the best."""

_WIDENING: Final = 4


class Scores(NamedTuple):
    """Some documents of one index, each with what it scores."""

    holder: InvertedIndex
    ordinals: NDArray[np.intp]
    scores: NDArray[np.int64]


def best(found: Sequence[Scores], *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
    """The first ``limit`` documents that ``keep`` accepts, best first.

    The order is by score, then newer first, then by position; a modification time after ``now_ns`` counts as
    ``now_ns``. ``keep`` is asked about one document after the other until enough are found, and never about
    the rest.
    """
    row = _Row([(each.holder, each.ordinals) for each in found])
    scores = _joined([each.scores for each in found])
    ranked = (
        Ranked(row.document(at), int(scores[at]), int(row.positions[at]))
        for block in _rising(limit, -scores, row.ages(now_ns), row.positions)
        for at in block.tolist()
    )
    return list(islice((each for each in ranked if keep(each.document)), limit))


def recent(indexes: Sequence[InvertedIndex], *, limit: int, now_ns: int, keep: Keep) -> list[Document]:
    """The newest ``limit`` documents that ``keep`` accepts, as ``candidates.most_recent`` orders them."""
    row = _Row([(index, index.ordinals) for index in indexes])
    newest = (
        row.document(at) for block in _rising(limit, row.ages(now_ns), row.positions) for at in block.tolist()
    )
    return list(islice(filter(keep, newest), limit))


class _Row:
    """Some documents of several indexes, one after the other."""

    def __init__(self, parts: Sequence[tuple[InvertedIndex, NDArray[np.intp]]]) -> None:
        self._parts = parts
        self._starts = [0, *accumulate(len(ordinals) for _, ordinals in parts)]
        firsts = [0, *accumulate(len(index) for index, _ in parts)]
        self.positions: NDArray[np.intp] = _joined(
            [first + index.places[ordinals] for first, (index, ordinals) in zip(firsts, parts, strict=False)]
        )

    def document(self, at: int) -> Document:
        which = bisect_right(self._starts, at) - 1
        index, ordinals = self._parts[which]
        return index.document(ordinals[at - self._starts[which]])

    def ages(self, now_ns: int) -> NDArray[np.int64]:
        """A number for each, the smaller the newer the document."""
        times: NDArray[np.int64] = _joined([index.times[ordinals] for index, ordinals in self._parts])
        return -np.minimum(times, min(now_ns, MAX_TIME_NS))


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)


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
