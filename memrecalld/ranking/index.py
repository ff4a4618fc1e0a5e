"""The baseline scorer's matches and scores from an index, without reading the notes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memrecalld.ranking.inverted import NOTE_TYPES, InvertedIndex
from memrecalld.ranking.scorer import (
    BODY_WEIGHT,
    DESCRIPTION_WEIGHT,
    MAX_TYPE_BOOST,
    TITLE_WEIGHT,
    TYPE_KEYWORDS,
)
from memrecalld.ranking.terms import BODY, DESCRIPTION, TITLE, document_terms
from memrecalld.ranking.vocabulary import TRIGRAM_CHARS, Vocabulary

_WEIGHTS: Final = np.array(
    [
        TITLE_WEIGHT * bool(mask & TITLE)
        + DESCRIPTION_WEIGHT * bool(mask & DESCRIPTION)
        + BODY_WEIGHT * bool(mask & BODY)
        for mask in range((TITLE | DESCRIPTION | BODY) + 1)
    ],
    np.int32,
)
"""What a token is worth to a document, by the mask of the fields in which it occurs."""


class Index(InvertedIndex):
    """The documents of one memory folder by their terms, and the terms by the tokens that occur in them."""

    __slots__ = ("_vocabulary",)

    def __init__(self) -> None:
        super().__init__(document_terms)
        self._vocabulary = Vocabulary()

    def terms_containing(self, token: str) -> list[str]:
        """The terms in which a token of a query occurs; a bigram occurs in itself only."""
        return self._vocabulary.containing(token) if len(token) >= TRIGRAM_CHARS else [token]

    def points(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """The scores of all documents by ordinal, 0 for no match."""
        points = np.zeros(self.capacity, np.int32)
        for token in tokens:
            ordinals, masks = self.occurrences(self.terms_containing(token))
            points[ordinals] += _WEIGHTS.take(masks)
        matching = np.flatnonzero(points != 0)
        points[matching] += _type_boosts(tokens).take(self.types[matching])
        return points

    def _key_added(self, key: str) -> None:
        self._vocabulary.add(key)

    def _key_removed(self, key: str) -> None:
        self._vocabulary.remove(key)


def _type_boosts(tokens: Sequence[str]) -> NDArray[np.int32]:
    """What a match is worth beyond its tokens, by the code of the document's type."""
    keywords = (TYPE_KEYWORDS[note_type].intersection(tokens) for note_type in NOTE_TYPES)
    return np.array([min(MAX_TYPE_BOOST, len(each)) for each in keywords], np.int32)
