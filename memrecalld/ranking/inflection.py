"""Other forms of a word: one strict folding (accents, plural) and one looser one (verb and noun endings).

Light on purpose: a word is only ever shortened at its end, by endings that inflect, and what is left must be
long enough to be a word. ``news`` stays apart from ``new``, ``university`` from ``universe``. The English
rules are a small part of those of Porter (*An algorithm for suffix stripping*, 1980); the plural rules are
those of Harman's S stemmer (*How effective is suffixing?*, 1991). They serve French, Spanish and German too
as far as their endings are the same. For Russian and Greek it is the longest of a list of case and person
endings, after which at least four letters remain.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_CACHED_WORDS: Final = 65_536

_MIN_STEM: Final = 3
"""Letters that must remain of an English word."""

_MIN_LONG_STEM: Final = 5
"""Letters that must remain after an ending that is also the end of many short words."""

_MIN_OTHER_STEM: Final = 4
"""Letters that must remain of a Russian or Greek word."""

_UNCHANGED = """
always bias bonus bus cors gas has his https lens nats news plus production series species this thus was
"""
_INVARIABLE: Final = frozenset(_UNCHANGED.split())
"""Words that only look like a plural, and ``production``, which is not about a product."""

_VOWELS: Final = frozenset("aeiouy")
_CONSONANTS_KEPT_DOUBLE: Final = frozenset("lsz")


def fold(word: str) -> str:
    """``word``, in lower case, without accents, and with one form of sigma."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", plain).replace("ς", "σ").replace("ß", "ss")


_RUSSIAN = """
а ает ал ала алась али ались ало ам ами ана ано аны ат атся ать аться ах аю ают ая е ев ее ей ел ела ели ело
ем ему ен ена ено ены ет ете ется еть ешь ею и ие ии ий ил ила илась или ило ился им ими ит ите ить иться их
ишь ию ия иям иях й ние нием нии ний нию ния ниям ниями ниях нье ньем о ов ого ой ом ому ою у ул ула ули уло
ут утся уть ую ы ые ый ым ыми ых ь ье ьи ья ю ют ются юю я яет ял яла яли яло ям ями ят ятся ять яться ях яю
яют яя
"""
_RUSSIAN_ENDINGS: Final = frozenset(map(fold, _RUSSIAN.split()))
_GREEK = """
α αν ασ ε ει εισ εσ εται ετε εωσ η ηκαν ηκε ησ ησα ησαν ησε ι μα ματα ματοσ ματων ο οι ομαι ον ονται οσ ου
ουμε ουν ουσ ω ων
"""
_GREEK_ENDINGS: Final = frozenset(_GREEK.split())
_LONGEST_ENDING: Final = 5


@lru_cache(_CACHED_WORDS)
def singular(word: str) -> str:
    """``word`` without accents and, if it is ASCII, without the ending of a plural."""
    word = fold(word)
    if len(word) <= _MIN_STEM or not (word.isascii() and word.isalpha()) or word in _INVARIABLE:
        return word
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _MIN_STEM + 1:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")) and len(word) >= _MIN_STEM + 2:
        return word[:-2]
    return word[:-1]


@lru_cache(_CACHED_WORDS)
def root(word: str) -> str:
    """What the forms of ``word`` have in common: ``rotates``, ``rotating`` and ``rotation`` give ``rot``.

    Not a word, and only to be compared with other roots.
    """
    word = singular(word)
    if not word.isalpha():
        return word
    if word.isascii():
        return word if word in _INVARIABLE else _english_root(word)
    if "а" <= word[0] <= "я":
        return _without(word, _RUSSIAN_ENDINGS)
    if "α" <= word[0] <= "ω":
        return _without(word, _GREEK_ENDINGS)
    return word


def _english_root(word: str) -> str:
    if word.endswith("ment") and len(word) >= _MIN_LONG_STEM + 4:
        word = word[:-4]
    stem = _verb_stem(word)
    if stem != word:
        word = _noun_stem(stem)
    elif word.endswith("en") and len(word) >= _MIN_LONG_STEM + 2:  # the plural of German nouns in -e
        word = word[:-2]
    if word.endswith("y") and len(word) > _MIN_STEM and word[-2] not in _VOWELS:
        return f"{word[:-1]}i"
    if word.endswith("our") and len(word) > _MIN_LONG_STEM:
        return f"{word[:-2]}r"
    return word


def _verb_stem(word: str) -> str:
    """``word`` without ``-ing``, ``-ed`` or ``-e``, or as a noun of a verb without ``-ion``."""
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _MIN_STEM and not _VOWELS.isdisjoint(stem):
            return stem
    if word.endswith("e") and len(word) > _MIN_STEM:
        return word[:-1]
    return _without_ion(word)


def _noun_stem(stem: str) -> str:
    """``stem``, of which an ending was taken, as the other forms of the verb have it."""
    if stem[-1] == stem[-2] and len(stem) > _MIN_STEM and stem[-1] not in _CONSONANTS_KEPT_DOUBLE:
        return stem[:-1]  # stopp-ed
    stem = _without_ion(stem)  # partition-ed
    if stem.endswith("at") and len(stem) >= _MIN_STEM + 2:
        stem = stem[:-2]  # rotat-e
    if stem.endswith("enc"):
        return f"{stem[:-1]}s"  # licenc-e, licens-e
    if stem.endswith("is"):
        return f"{stem[:-1]}z"  # organis-e, organiz-e
    return stem


def _without_ion(word: str) -> str:
    return word[:-3] if word.endswith(("tion", "sion")) and len(word) >= _MIN_LONG_STEM + 3 else word


def _without(word: str, endings: frozenset[str]) -> str:
    """``word`` without the longest of ``endings`` that leaves enough of it."""
    for length in range(min(_LONGEST_ENDING, len(word) - _MIN_OTHER_STEM), 0, -1):
        if word[-length:] in endings:
            return word[:-length]
    return word
