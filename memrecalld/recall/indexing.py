"""The index of one folder, filled in the background while the folder is already asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from memrecalld.memory.document import Document
from memrecalld.memory.folder import Folder
from memrecalld.ranking.retrieval import RankerIndex

SLICE_S: Final = 0.002
"""How long indexing holds the event loop before everybody else has a turn."""

ASKED_SLICE_S: Final = 0.010
"""The same after a search that had to look at notes one by one: it took longer, and the next one will not."""

INLINE_NOTES: Final = 16
"""Changed notes that a search files first, some 0.2 ms each, rather than scoring them beside the index."""


class CallLater(Protocol):
    """``loop.call_later``."""

    def __call__(self, delay: float, callback: Callable[[], object]) -> object: ...


class FolderIndex:
    """Follows a folder's changes. What is not filed yet is known, and scored without the index."""

    def __init__(self, folder: Folder, call_later: CallLater) -> None:
        self.root = folder.root
        self.index = RankerIndex()
        self._call_later = call_later
        self._unfiled: dict[str, Document | None] = {}
        """By relative path, the note as it is now (``None``: gone) where the index has another, or none."""
        self._filed: dict[str, Document] = {}
        self._scheduled = False
        self._slice_s = SLICE_S
        self._waiting: list[Callable[[], None]] = []
        folder.observer = self
        for document in folder.documents:
            self.changed(None, document)

    def __len__(self) -> int:
        """Notes, filed or not."""
        gone = sum(path in self._filed for path in self._unfiled)
        return len(self.index) - gone + sum(new is not None for new in self._unfiled.values())

    def changed(self, old: Document | None, new: Document | None) -> None:
        """Take note of a change; the index learns of it in the next slices."""
        document = new or old
        if document is None:
            return
        self._unfiled[document.relative_path] = new
        if not self._scheduled:
            self._scheduled = True
            self._call_later(0, self._slice)

    def catch_up(self) -> None:
        """File what is left if it is little."""
        if len(self._unfiled) <= INLINE_NOTES:
            self._file(float("inf"))
        else:
            self._slice_s = ASKED_SLICE_S

    @property
    def unfiled(self) -> Iterator[Document]:
        """The notes that are not in the index, or not as they are now."""
        return (document for document in self._unfiled.values() if document is not None)

    @property
    def behind(self) -> bool:
        """Something is not filed yet."""
        return bool(self._unfiled)

    def when_current(self, done: Callable[[], None]) -> None:
        """Call ``done`` when all that is known now is filed; at once if it is."""
        if self._unfiled:
            self._waiting.append(done)
        else:
            done()

    def is_current(self, document: Document) -> bool:
        """What the index says of ``document`` still holds."""
        return document.relative_path not in self._unfiled

    def _slice(self) -> None:
        self._file(time.monotonic() + self._slice_s)
        self._slice_s = SLICE_S
        self._scheduled = bool(self._unfiled)
        if self._scheduled:
            self._call_later(0, self._slice)
        else:
            waiting, self._waiting = self._waiting, []
            for done in waiting:
                done()

    def _file(self, until: float) -> None:
        while self._unfiled and time.monotonic() < until:
            path, new = self._unfiled.popitem()
            old = self._filed.pop(path, None)
            if new is not None:
                self._filed[path] = new
            match old, new:
                case None, None:
                    pass
                case None, Document():
                    self.index.insert(new)
                case Document(), None:
                    self.index.remove(old)
                case Document(), Document():
                    self.index.replace(old, new)
