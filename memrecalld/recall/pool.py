"""The notes of some folders at one moment: those in their indexes, and those still on the way there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.scorer import Ranked, rank
from memrecalld.ranking.search import Keep, recent, search
from memrecalld.recall.indexing import FolderIndex

UNFILED_S: Final = 0.015
"""How long notes that are not indexed yet may be scored one by one; others wait meanwhile. Some 2,000 notes.
"""

_CHUNK: Final = 100
"""Notes scored between two looks at the clock."""


class IndexedPool:
    """A pool for the engine. ``partial`` where not everything was read, or scored, in time."""

    def __init__(self, folders: Sequence[FolderIndex], *, partial: bool) -> None:
        self.partial = partial
        self._folders = folders
        for folder in folders:
            folder.catch_up()
        self._indexes = [folder.index for folder in folders if len(folder.index)]
        self._behind = any(folder.behind for folder in folders)

    @property
    def size(self) -> int:
        return sum(len(folder) for folder in self._folders)

    def search(self, tokens: Sequence[str], *, limit: int, now_ns: int, keep: Keep) -> list[Ranked]:
        if not self._behind:
            return search(self._indexes, tokens, limit=limit, now_ns=now_ns, keep=keep)
        filed = search(self._indexes, tokens, limit=limit, now_ns=now_ns, keep=self._current(keep))
        unfiled = (each for each in self._rank_unfiled(tokens, now_ns) if keep(each.document))
        order = self._order()
        both = [*filed, *islice(unfiled, limit)]
        both.sort(key=lambda each: (-each.score, *order(each.document, now_ns)))
        return both[:limit]

    def recent(self, *, limit: int, now_ns: int, keep: Keep) -> list[Document]:
        if not self._behind:
            return recent(self._indexes, limit=limit, now_ns=now_ns, keep=keep)
        filed = recent(self._indexes, limit=limit, now_ns=now_ns, keep=self._current(keep))
        order = self._order()
        both = [*filed, *most_recent(filter(keep, self._unfiled()), limit, now_ns)]
        both.sort(key=lambda document: order(document, now_ns))
        return both[:limit]

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

    def _rank_unfiled(self, tokens: Sequence[str], now_ns: int) -> list[Ranked]:
        """The matches among them, best first; the newest are looked at first, as far as the time goes."""
        waiting = sorted(self._unfiled(), key=lambda document: document.modified_ns, reverse=True)
        until = time.monotonic() + UNFILED_S
        found: list[Ranked] = []
        for start in range(0, len(waiting), _CHUNK):
            if time.monotonic() > until:
                self.partial = True
                break
            found += rank(waiting[start : start + _CHUNK], tokens, now_ns)
        found.sort(key=lambda each: (-each.score, -min(each.document.modified_ns, now_ns)))
        return found


def _place(folder: FolderIndex) -> tuple[str, str]:
    return folder.root.real_path, folder.root.scope
