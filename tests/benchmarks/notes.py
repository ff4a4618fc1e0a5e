"""Folders of notes for measuring: as large as real ones, of words that are as unevenly frequent."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path
from typing import Final

BODY_CHARS: Final = 900
WORDS: Final = 30_000
FOLDER_NOTES: Final = 2_000

_SYLLABLES: Final = (
    *("ba", "co", "de", "fi", "gu", "ha", "jo", "ka", "le", "mi"),
    *("no", "pu", "ra", "se", "ti", "vo", "wa", "xe", "yi", "zu"),
)
_TYPES: Final = ("user", "feedback", "project", "reference")


class Writer:
    """The same notes for the same seed. A word's frequency falls with its rank, as Zipf found it to."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._words = [
            "".join(self._chance.choices(_SYLLABLES, k=self._chance.choice((2, 2, 3, 3, 4))))
            for _ in range(WORDS)
        ]
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(WORDS)))

    def words(self, count: int) -> list[str]:
        """Words as they come in a text."""
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def write(self, folder: Path, count: int) -> None:
        """Write ``count`` notes: five lines of head each, and ``BODY_CHARS`` characters."""
        for number in range(count):
            place = folder / f"{number // FOLDER_NOTES:03}"
            if number % FOLDER_NOTES == 0:
                place.mkdir(parents=True)
            (place / f"note-{number}.md").write_text(self._note(number), encoding="utf-8")

    def queries(self, folder: Path, tokens: int, count: int) -> list[str]:
        """Queries of so many distinct words each, all from the notes of one folder."""
        files = sorted(folder.rglob("*.md"))
        queries = []
        while len(queries) < count:
            words: dict[str, None] = {}
            while len(words) < tokens:
                head, _, body = self._chance.choice(files).read_text(encoding="utf-8").rpartition("---\n")
                name = head.split("name: ", 1)[1].split("\n", 1)[0].lower().split()[:-1]
                words |= dict.fromkeys([*name, *body.split()][: tokens - len(words)])
            queries.append(" ".join(words))
        return queries

    def _note(self, number: int) -> str:
        body = " ".join(self.words(BODY_CHARS // 4))[:BODY_CHARS]
        title = " ".join(self.words(4)).title()
        return (
            f"---\nname: {title} {number}\ndescription: {' '.join(self.words(9))}\n"
            f"type: {self._chance.choice(_TYPES)}\n---\n\n{body}\n"
        )
