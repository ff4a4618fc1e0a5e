"""An inverted index over the notes of one memory folder: from keys to the notes and fields that hold them.

It changes note by note and is never rebuilt, so whoever fills it can stop between any two notes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from memrecalld.memory.document import Document
from memrecalld.ranking.occurrences import FIELD_BITS, Occurrences, Sparse, united
from memrecalld.ranking.postings import Postings
from memrecalld.ranking.scorer import TYPE_KEYWORDS
from memrecalld.ranking.slots import FIRST_CAPACITY, Slots, doubled

DocumentKeys = Callable[[Document], Mapping[str, int]]
"""The keys under which a document is filed, each with a mask of the fields that hold it: 1 to 7."""

NOTE_TYPES: Final = tuple(TYPE_KEYWORDS)
"""The types in the order of their codes."""

_TYPE_CODES: Final = {note_type: code for code, note_type in enumerate(NOTE_TYPES)}

MAX_TIME_NS: Final = 2**63 - 1
"""What 64 bits hold: times until the year 2262, and back to 1677. Those beyond count as the last within."""


class InvertedIndex:
    """The documents of one memory folder by their keys; a sequence in the order of their relative paths.

    Inside, a document goes by its *ordinal*, a number that stays the same for as long as there is a document
    of that path. What is asked about every document lies in arrays by ordinal. Not thread-safe.
    """

    __slots__ = (
        "_document_keys",
        "_documents",
        "_ordinals",
        "_places",
        "_postings",
        "_times",
        "_types",
    )

    def __init__(self, document_keys: DocumentKeys) -> None:
        """``document_keys`` must give the same for equal documents, always."""
        self._document_keys = document_keys
        self._documents: Slots[Document] = Slots()
        self._ordinals = array("I")
        self._times: NDArray[np.int64] = np.empty(FIRST_CAPACITY, np.int64)
        self._types: NDArray[np.uint8] = np.empty(FIRST_CAPACITY, np.uint8)
        self._places: NDArray[np.intp] | None = None
        """``None``: not counted since the last insertion or removal."""
        self._postings = Postings()

    def __len__(self) -> int:
        return len(self._ordinals)

    def __getitem__(self, place: int) -> Document:
        """The document at a place in the order of relative paths. Raises ``IndexError`` beyond the last."""
        return self._documents[self._ordinals[place]]

    def insert(self, document: Document) -> None:
        """Add ``document``. Raises ``ValueError`` if there is one of its relative path."""
        place = self._place(document)
        if self._is_at(place, document):
            raise ValueError("the index holds a document of this path")
        ordinal = self._documents.add(document)
        self._ordinals.insert(place, ordinal)
        self._places = None
        if ordinal == len(self._times):
            self._times = doubled(self._times)
            self._types = doubled(self._types)
        self._describe(ordinal, document)
        highest = ordinal == self.capacity - 1
        self._postings.add(self._document_keys(document).items(), ordinal << FIELD_BITS, highest=highest)

    def replace(self, old: Document, new: Document) -> None:
        """Put ``new`` in the place of ``old``; the work is in the keys that they do not share.

        Raises ``ValueError`` if there is no document of the relative path of ``old``, or already another one
        of that of ``new``.
        """
        place = self._found(old)
        if new.relative_path != old.relative_path:
            self.insert(new)
            self.remove(old)
            return
        ordinal = self._ordinals[place]
        held = self._documents[ordinal]
        if msgspec.structs.replace(held, modified_ns=new.modified_ns) != new:
            self._file(ordinal, self._document_keys(held), self._document_keys(new))
        self._documents[ordinal] = new
        self._describe(ordinal, new)

    def remove(self, document: Document) -> None:
        """Take out the document of this relative path. Raises ``ValueError`` if there is none."""
        ordinal = self._ordinals.pop(self._found(document))
        self._places = None
        self._file(ordinal, self._document_keys(self._documents[ordinal]), {})
        self._documents.remove(ordinal)

    def occurrences(self, groups: Sequence[Collection[str]]) -> Occurrences:
        """The documents that hold any of the keys of at most five ``groups``."""
        parts = [
            Sparse(postings, FIELD_BITS, number)
            for number, keys in enumerate(groups)
            for postings in map(self._postings.get, keys)
            if postings is not None
        ]
        return united(parts, self.capacity)

    def masks(self, document: Document, keys: Iterable[str]) -> dict[str, int] | None:
        """Those of ``keys`` that ``document`` is filed under, with the fields that hold them.

        ``None`` if the index holds no such document, or another version of it.
        """
        place = self._place(document)
        if not self._is_at(place, document) or self[place] != document:
            return None
        first = self._ordinals[place] << FIELD_BITS
        found = self._postings.find(keys, first, first + (1 << FIELD_BITS))
        return {key: number - first for key, number in found.items()}

    @property
    def capacity(self) -> int:
        """All ordinals are below."""
        return self._documents.count

    def document(self, ordinal: int) -> Document:
        """The document of this ordinal, which must be in use."""
        return self._documents[ordinal]

    @property
    def ordinals(self) -> NDArray[np.intp]:
        """The ordinals of the documents, in the order of their relative paths."""
        return np.array(self._ordinals, np.intp)

    @property
    def places(self) -> NDArray[np.intp]:
        """The places of the documents in the order of their relative paths, by ordinal."""
        if self._places is None:
            self._places = np.zeros(self.capacity, np.intp)
            self._places[self.ordinals] = np.arange(len(self))
        return self._places

    @property
    def times(self) -> NDArray[np.int64]:
        """Modification times by ordinal, nanoseconds since the epoch; at most ``MAX_TIME_NS`` either way."""
        return self._times

    @property
    def types(self) -> NDArray[np.uint8]:
        """Types by ordinal, as places in ``NOTE_TYPES``."""
        return self._types

    def _place(self, document: Document) -> int:
        path = document.relative_path
        return bisect_left(self._ordinals, path, key=lambda ordinal: self._documents[ordinal].relative_path)

    def _is_at(self, place: int, document: Document) -> bool:
        return place < len(self) and self[place].relative_path == document.relative_path

    def _found(self, document: Document) -> int:
        place = self._place(document)
        if not self._is_at(place, document):
            raise ValueError("the index holds no document of this path")
        return place

    def _describe(self, ordinal: int, document: Document) -> None:
        self._times[ordinal] = min(max(document.modified_ns, -MAX_TIME_NS), MAX_TIME_NS)
        self._types[ordinal] = _TYPE_CODES[document.type]

    def _file(self, ordinal: int, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """Exchange the keys ``before`` of a document for those ``after``."""
        base = ordinal << FIELD_BITS
        self._postings.remove(before.items() - after.items(), base)
        self._postings.add(after.items() - before.items(), base)
