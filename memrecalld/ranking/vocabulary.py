"""The words that a token occurs in."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memrecalld.ranking.postings import Postings
from memrecalld.ranking.slots import Slots

TRIGRAM_CHARS: Final = 3


class Vocabulary:
    """A set of words, each found by any part of it that has at least three characters.

    An index of its own, from trigrams to words: a word that contains a token contains all its trigrams, so
    only the words with the rarest of them need to be looked at. Words of fewer characters cannot be found,
    and adding them does nothing.
    """

    __slots__ = ("_trigrams", "_words")

    def __init__(self) -> None:
        self._words: Slots[str] = Slots()
        self._trigrams = Postings()

    def add(self, word: str) -> None:
        """Add ``word``, which must not be there yet."""
        if trigrams := _trigrams(word):
            number = self._words.add(word)
            for trigram in trigrams:
                self._trigrams.add(trigram, number)

    def remove(self, word: str) -> None:
        """Take out ``word``, which must be there."""
        if trigrams := _trigrams(word):
            number = next(each for each in self._rarest(trigrams).tolist() if self._words[each] == word)
            for trigram in trigrams:
                self._trigrams.remove(trigram, number)
            self._words.remove(number)

    def containing(self, token: str) -> list[str]:
        """The words in which ``token``, of at least three characters, occurs; in no particular order."""
        words: list[str] = self._words.items[self._rarest(_trigrams(token))].tolist()
        return [word for word in words if token in word]

    def _rarest(self, trigrams: set[str]) -> NDArray[np.uint32]:
        """The numbers of the words with that one of ``trigrams`` which the fewest have."""
        return self._trigrams.gather((min(trigrams, key=self._trigrams.count),))


def _trigrams(word: str) -> set[str]:
    return {word[start : start + TRIGRAM_CHARS] for start in range(len(word) - TRIGRAM_CHARS + 1)}
