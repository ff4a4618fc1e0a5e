"""The notes of some folders at one moment: those in their indexes, and those still on the way there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from memrecalld.memory.document import Document, normalize
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.keys import Query
from memrecalld.ranking.ranker import Explanation, Weights, explain
from memrecalld.ranking.retrieval import Retrieval
from memrecalld.ranking.scorer import Ranked
from memrecalld.ranking.search import Keep, recent
from memrecalld.recall.indexing import FolderIndex

UNFILED_S: Final = 0.015
"""How long notes that are not indexed yet may be looked at one by one; others wait meanwhile. Some 1,500
notes."""

_STEM_CHARS: Final = 3
_ENDING_CHARS: Final = 3
"""Letters at the end of a word in which its forms may differ."""


class Pool(Protocol):
    """The notes that may be recalled, as they are at one moment: project before user."""

    @property
    def size(self) -> int:
        """Number of notes."""

    @property
    def partial(self) -> bool:
        """Some notes could not be read in time and are missing."""

    def search(self, query: Query, *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
        """The best ``limit`` notes that the query asks for and that ``keep`` accepts, best first."""

    def recent(self, *, limit: int, now_ns: int, keep: Keep) -> list[Document]:
        """The newest ``limit`` notes that ``keep`` accepts, newest first."""

    def explain(self, document: Document, query: Query) -> Explanation:
        """What a note has of the query, recalled for it or not."""


class IndexedPool:
    """A pool for the engine. ``partial`` where not everything was read, or looked at, in time."""

    def __init__(self, folders: Sequence[FolderIndex], *, partial: bool) -> None:
        """``partial``: not all notes are in the folders yet."""
        self.partial = partial
        self._folders = folders
        for folder in folders:
            folder.catch_up()
        self._indexes = [folder.index for folder in folders if len(folder.index)]
        self._behind = any(folder.behind for folder in folders)
        self._weights: tuple[Query, Weights] | None = None

    @property
    def size(self) -> int:
        return sum(len(folder) for folder in self._folders)

    def search(self, query: Query, *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
        unfiled = list(self._unfiled()) if self._behind else []
        retrieval = Retrieval(self._indexes, query, unindexed=len(unfiled))
        self._weights = (query, retrieval.weights)
        if not self._behind:
            return retrieval.best(limit=limit, now_ns=now_ns, keep=keep)
        found = retrieval.best(limit=limit, now_ns=now_ns, keep=self._current(keep))
        found += [each for each in self._rank(unfiled, query, retrieval.weights) if keep(each.document)]
        order = self._order()
        found.sort(key=lambda each: (-each.score, *order(each.document, now_ns)))
        return found[:limit]

    def recent(self, *, limit: int, now_ns: int, keep: Keep) -> list[Document]:
        if not self._behind:
            return recent(self._indexes, limit=limit, now_ns=now_ns, keep=keep)
        filed = recent(self._indexes, limit=limit, now_ns=now_ns, keep=self._current(keep))
        order = self._order()
        both = [*filed, *most_recent(filter(keep, self._unfiled()), limit, now_ns)]
        both.sort(key=lambda document: order(document, now_ns))
        return both[:limit]

    def explain(self, document: Document, query: Query) -> Explanation:
        """What the document has of the query, as the last search of this pool weighed it."""
        known, weights = self._weights or (None, None)
        if weights is None or known is not query:
            weights = Retrieval(self._indexes, query).weights
        return explain(document, query, weights, self._keys(document, query))

    def _keys(self, document: Document, query: Query) -> dict[str, int] | None:
        """What the index says of ``document``, which saves taking it apart again."""
        asked = [key for term in query.terms for _, keys in term.forms for key in keys]
        held = (index.masks(document, asked) for index in self._indexes)
        return next((keys for keys in held if keys is not None), None)

    def _current(self, keep: Keep) -> Keep:
        """``keep`` for what an index gives: not the former self of a note that is on its way."""
        folders = {_place(folder): folder for folder in self._folders}
        return lambda document: folders[document.root, document.scope].is_current(document) and keep(document)

    def _order(self) -> Callable[[Document, int], tuple[int, int, str]]:
        """How equal scores are put in order: newer first, then by folder, then by path."""
        places = {_place(folder): number for number, folder in enumerate(self._folders)}
        return lambda document, now_ns: (
            -min(document.modified_ns, now_ns),
            places[document.root, document.scope],
            document.relative_path,
        )

    def _unfiled(self) -> Iterator[Document]:
        return (document for folder in self._folders for document in folder.unfiled)

    def _rank(self, documents: list[Document], query: Query, weights: Weights) -> Iterator[Ranked]:
        """The notes to recall among them, in no order; the newest are looked at first, as far as the time
        goes.

        The rarity of terms is that of the indexed notes. A note is taken apart only if it holds the beginning
        of some term as a plain text, which tells most others for a fraction of the cost.
        """
        needles = _needles(query)
        until = time.monotonic() + UNFILED_S
        documents.sort(key=lambda document: document.modified_ns, reverse=True)
        for document in documents:
            if time.monotonic() > until:
                self.partial = True
                return
            words = "\n".join((document.title, document.description, *document.keywords, document.body))
            text = normalize(words)
            if any(needle in text for needle in needles):
                explanation = explain(document, query, weights)
                if explanation.recalled:
                    yield Ranked(document, explanation.score, 0)


def _needles(query: Query) -> set[str]:
    """What every note that holds a term has in it, roughly: the beginning of the shortest of its forms."""
    carrying = (term for term in query.terms if term.carries)
    forms = ([key.lstrip("~^") for _, keys in term.forms for key in keys] for term in carrying)
    shortest = (normalize(min(each, key=len)) for each in forms)
    return {form[: max(_STEM_CHARS, len(form) - _ENDING_CHARS)] for form in shortest}


def _place(folder: FolderIndex) -> tuple[str, str]:
    return folder.root.real_path, folder.root.scope
