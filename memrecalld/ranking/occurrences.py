"""Where a term occurs, as an index finds it: documents by their ordinals, and the fields that hold the term.

A term has several groups of keys (see ``keys.Term.forms``). For each document a *mask* tells the fields that
hold any key of the first group in its lowest ``FIELD_BITS``, of the second group in the next, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

FIELD_BITS: Final = 3
"""Bits of a posting that hold the fields; those above hold the document's ordinal, below 2**29."""

_SPARSE: Final = 16
"""Where a term has so many times fewer postings than there are documents, sorting them is less work than
looking at a mark of every document."""


class Sparse(NamedTuple):
    """Documents that hold a term, packed as an index files them.

    A long query has many terms, and must find all of them before it knows what any is worth; so they are kept
    small, and taken apart one after the other.
    """

    packed: NDArray[np.integer[Any]]
    """Ordinals, each once, above ``bits`` bits for the fields."""
    bits: int
    group: int
    """The group whose fields the lowest ``FIELD_BITS`` hold. No key of those before it occurs."""

    @property
    def frequency(self) -> int:
        """The document frequency."""
        return len(self.packed)

    @property
    def ordinals(self) -> NDArray[np.integer[Any]]:
        """The ordinals of the documents."""
        return self.packed >> self.bits

    @property
    def masks(self) -> NDArray[np.integer[Any]]:
        """The masks of the documents."""
        return (self.packed & (1 << self.bits) - 1) << self.group * FIELD_BITS

    def add(self, shares: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
        """Add to ``sums``, which are by ordinal, what ``shares`` has for the masks of the documents."""
        np.add.at(sums, self.ordinals, shares[self.masks])


class Dense(NamedTuple):
    """Documents that hold a term, where they are a good part of all."""

    masks: NDArray[np.uint16]
    """By ordinal; 0 for a document that does not hold the term."""
    frequency: int
    """The document frequency."""

    def add(self, shares: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
        """Add to ``sums``, which are by ordinal, what ``shares`` has for the masks: none for 0."""
        sums += shares[self.masks]


Occurrences = Sparse | Dense

NOWHERE: Final = Sparse(np.empty(0, np.uint32), FIELD_BITS, 0)


def united(parts: Sequence[Sparse], capacity: int) -> Occurrences:
    """The documents that are in any of ``parts``, with the fields that are in any; ordinals are below
    ``capacity``. At most five groups fit the masks."""
    if len(parts) < 2:
        return parts[0] if parts else NOWHERE
    if sum(part.frequency for part in parts) * _SPARSE < capacity:
        ordinals, places = np.unique(np.concatenate([part.ordinals for part in parts]), return_inverse=True)
        masks = np.zeros(len(ordinals), np.int64)
        np.bitwise_or.at(masks, places, np.concatenate([part.masks for part in parts]))
        bits = (max(part.group for part in parts) + 1) * FIELD_BITS
        return Sparse(ordinals.astype(np.int64) << bits | masks, bits, 0)
    marks = np.zeros(capacity, np.uint16)
    for part in parts:
        marks[part.ordinals] |= part.masks.astype(np.uint16)
    return Dense(marks, int(np.count_nonzero(marks)))
