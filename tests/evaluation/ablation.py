"""What each signal of the product's ranker is worth: the same measures with that signal taken out.

A signal is taken out by putting constants or functions of the ranker's modules into a state in which it says
nothing, so that the product needs no switches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from memrecalld.ranking import cjk, identifiers, keys, ranker
from memrecalld.ranking.identifiers import Name
from tests.evaluation import systems

_MASKS: Final = range((keys.TITLE | keys.DESCRIPTION | keys.BODY) + 1)
_TITLE_POINTS: Final = ranker.FIELD_POINTS[keys.TITLE]
_SHORT: Final = 3
"""Letters of the shortest word that the baseline knows."""


class Signal(NamedTuple):
    """A signal, and how the ranker is without it: attributes of modules, and what they are then."""

    name: str
    without: tuple[tuple[Any, str, Any], ...]


def _masked(points: Callable[[int], int]) -> tuple[int, ...]:
    return tuple(map(points, _MASKS))


def _linear(mask: int) -> int:
    weights = sum(weight for _, bit, weight in ranker._FIELDS if mask & bit)
    return _TITLE_POINTS * weights // ranker.TITLE_WEIGHT


def _as_written(word: str) -> str:
    return word


def _without_sign(written: str, take_apart: Callable[[str], Name] = identifiers.take_apart) -> Name:
    return take_apart(written.strip("+#."))


def _long_words_only(
    written: str, share: int, *, english: bool, terms: Any = keys._word_terms
) -> Iterator[keys.Term]:
    return iter(()) if len(written) < _SHORT else terms(written, share, english=english)


SIGNALS: Final = (
    Signal("rarity", ((ranker, "_rarity", lambda frequency, notes: 5_000),)),
    Signal(
        "weights of fields", ((ranker, "FIELD_POINTS", _masked(lambda mask: _TITLE_POINTS * bool(mask))),)
    ),
    Signal("saturation over fields", ((ranker, "FIELD_POINTS", _masked(_linear)),)),
    Signal("keywords and usage scenarios", ((keys, "_described", lambda document: document.description),)),
    Signal("boost by type", ((ranker, "TYPE_BOOST", 0),)),
    Signal("newer first", ((systems, "NOW_NS", 0),)),
    Signal("share of the demand", ((ranker, "DEMAND_SHARE", 0.0),)),
    Signal("demand of unknown words", ((keys, "UNKNOWN_WORD", 0),)),
    Signal("smaller demand of unknown inflected words", ((keys, "UNKNOWN_INFLECTED", 100),)),
    Signal("smaller demand of unknown pairs", ((keys, "UNKNOWN_PAIR", 100),)),
    Signal("no demand of unknown words for a type", ((keys, "UNKNOWN_TYPE", keys.UNKNOWN_WORD),)),
    Signal("body proves less", ((ranker, "FIELD_EVIDENCE", _masked(lambda mask: 1_000)),)),
    Signal("enough evidence", ((ranker, "ENOUGH_EVIDENCE", 10**9),)),
    Signal("least evidence", ((ranker, "LEAST_EVIDENCE", 1),)),
    Signal("assumed notes", ((ranker, "ASSUMED_NOTES", 0),)),
    Signal("leniency in small stores", ((ranker, "FEW_NOTES", 0),)),
    Signal("accents and plural", ((keys, "singular", _as_written),)),
    Signal("other endings", ((keys, "root", _as_written),)),
    Signal("humps of identifiers", ((identifiers, "_humps", lambda word: [word]),)),
    Signal("parts of identifiers", ((keys, "PART_SHARE", 0),)),
    Signal("other styles of identifiers", ((keys, "OTHER_STYLE", 0),)),
    Signal("signs of names", ((keys, "take_apart", _without_sign),)),
    Signal("words of one or two letters", ((keys, "_word_terms", _long_words_only),)),
    Signal("function words", ((keys, "FUNCTION_WORDS", frozenset()),)),
    Signal("light words carry nothing", ((keys, "LIGHT_WORDS", frozenset()),)),
    Signal("light words count a little", ((keys, "LIGHT_SHARE", 0),)),
    Signal("abbreviations in capitals", ((keys, "ACRONYMS", frozenset()),)),
    Signal("generic pairs", ((cjk, "_GENERIC_PAIRS", frozenset()),)),
    Signal("Han grammar", ((cjk, "_HAN_GRAMMAR", frozenset()), (cjk, "_HAN_AMBIGUOUS", frozenset()))),
    Signal("Korean grammar", ((cjk, "_without_korean_grammar", _as_written),)),
    Signal("English spelt by its sound", ((keys, "query_loanwords", lambda run: []),)),
    Signal("loose pairs", ((cjk, "LOOSE", 0),)),
    Signal(
        "a stretch is a few words",
        ((cjk, "_CHARACTERS_PER_WORD", dict.fromkeys(cjk._CHARACTERS_PER_WORD, 1)),),
    ),
    Signal("bounded query", ((keys, "MAX_QUERY_TERMS", 10**6),)),
)


@contextmanager
def taken_out(signal: Signal) -> Iterator[None]:
    """Within, the ranker's modules are without ``signal``."""
    with ExitStack() as patches:
        patches.callback(_forget)
        for module, attribute, value in signal.without:
            patches.enter_context(patch.object(module, attribute, value))
        _forget()
        yield


def _forget() -> None:
    """Empty the caches that hold what a signal had a part in."""
    for cached in (keys._name_keys, keys._name_terms, cjk._share):
        cached.cache_clear()
