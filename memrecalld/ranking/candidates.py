"""Which notes a model selector may choose from: the best matches, and the newest beside them.

A note that shares no word with the query can still be the right one, and the newest are the likeliest; so the
choice is never filled by matches alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import chain, zip_longest
from typing import Final

from memrecalld.memory.document import Document
from memrecalld.ranking.scorer import Ranked

MAX_CANDIDATES: Final = 200

LEXICAL_CANDIDATES: Final = 180
"""Most of the candidates that are there for their match; at least 20 are there for being new."""

RECENT_FILL: Final = MAX_CANDIDATES
"""How many of the newest to look at: enough, whichever of them are lexical candidates already."""


def candidates(ranked: Sequence[Ranked], documents: Iterable[Document], now_ns: int) -> list[Document]:
    """At most ``MAX_CANDIDATES`` of ``documents``, of which ``ranked`` are those that match, best first."""
    lexical = [each.document for each in ranked[:LEXICAL_CANDIDATES]]
    return interleave(lexical, most_recent(documents, RECENT_FILL, now_ns))


def most_recent(documents: Iterable[Document], limit: int, now_ns: int) -> list[Document]:
    """The newest ``limit`` of ``documents``, newest first; the order of ``documents`` decides ties.

    A modification time after ``now_ns`` (nanoseconds since the epoch) counts as ``now_ns``.
    """
    return nlargest(limit, documents, key=lambda document: min(document.modified_ns, now_ns))


def interleave(lexical: Sequence[Document], recent: Iterable[Document]) -> list[Document]:
    """First match, newest other, second match, second newest other, …, and then whichever are left.

    At most ``LEXICAL_CANDIDATES`` of ``lexical``, filled up from ``recent`` to ``MAX_CANDIDATES``. They
    alternate so that a cut by size further on takes from both alike. No document comes twice.
    """
    matching = list(lexical[:LEXICAL_CANDIDATES])
    taken = {document.path for document in matching}
    others = [document for document in recent if document.path not in taken]
    pairs = zip_longest(matching, others[: MAX_CANDIDATES - len(matching)])
    return [document for document in chain.from_iterable(pairs) if document is not None]
