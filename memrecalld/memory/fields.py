"""The frontmatter keys that mean something here, and what is read from them."""

from __future__ import annotations

from typing import Final

from memrecalld.memory.quoting import present, split_list

TEXT_KEYS: Final = ("name", "title", "description")
LIST_KEYS: Final = ("keywords", "usage_scenarios")
WORD_KEYS: Final = ("type", "metadata.type")
"""``metadata.type`` is ``type`` below ``metadata``, or a key of that very name."""

OWN_KEYS: Final = frozenset({*TEXT_KEYS, *LIST_KEYS, *WORD_KEYS})

Fields = dict[str, str | tuple[str, ...]]
"""Values by own key in lower case: strings in a tuple for a list key, else one string, of any number of
lines."""


def listed(key: str, value: str) -> tuple[str, ...]:
    """A list key written as one string: keywords are divided at commas, a usage scenario is a sentence."""
    return split_list(value) if key == "keywords" else present([value])


def put(fields: Fields, key: str, value: str | tuple[str, ...]) -> bool:
    """Add ``key``, and say whether it had been there before. The last value that is not empty stays."""
    repeated = key in fields
    if value or not repeated:
        fields[key] = value
    return repeated
