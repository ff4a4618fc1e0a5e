"""The keys under which a note is filed, and those under which a query looks for it.

All that the ranker knows of a note's text is, for each key, which fields hold it. So an index need hold
nothing else to find what the ranker finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from memrecalld.memory.document import Document, nfkc
from memrecalld.ranking.cjk import document_pairs, query_loanwords, query_pairs
from memrecalld.ranking.identifiers import chunks, runs, separate, take_apart
from memrecalld.ranking.inflection import root, singular
from memrecalld.ranking.scorer import TYPE_KEYWORDS
from memrecalld.ranking.stopwords import (
    ACRONYMS,
    FOREIGN_FUNCTION_WORDS,
    FUNCTION_WORDS,
    LIGHT_WORDS,
    is_english,
)

TITLE: Final = 1
DESCRIPTION: Final = 2
BODY: Final = 4
"""Bits of a field mask. What the head of a note says besides (keywords, usage scenarios) is description."""

MAX_KEY_CHARS: Final = 64
"""Longer names are encoded data, and are not filed."""

MAX_QUERY_TERMS: Final = 64
"""Distinct terms of a query that are ever looked for, half of them from each end."""

REACH_CHARS: Final = 2_048
"""Characters that are read from either end of a query longer than twice as many."""

# Percent of an exact match. Tuned: see tests/evaluation.
EXACT: Final = 100
OTHER_STYLE: Final = 95
SINGULAR: Final = 90
ROOT: Final = 75

# Percent of the weight of a word of its own. English words that Korean and Japanese spell by their sound are
# half of it: at more, questions in these languages about any software recalled notes.
WORD_SHARE: Final = 100
PART_SHARE: Final = 50
LOAN_SHARE: Final = 50
LIGHT_SHARE: Final = 15

# Percent of its weight for which a term counts that no note holds. In a language that inflects more than
# English the notes may hold another form of the word; a pair of letters may span a border of words; a name
# that nobody wrote down is still there in its parts or pairs; and notes of a type answer a word for it.
UNKNOWN_WORD: Final = 100
UNKNOWN_INFLECTED: Final = 55
UNKNOWN_PAIR: Final = 70
UNKNOWN_NAME: Final = 0
UNKNOWN_TYPE: Final = 0

_TYPE_WORDS: Final = frozenset[str]().union(*TYPE_KEYWORDS.values())

_CACHED_CHUNKS: Final = 65_536

_LAST_LATIN: Final = "\u024f"

_SINGULAR_MARK: Final = "~"
_ROOT_MARK: Final = "^"


class Term(msgspec.Struct, frozen=True, gc=False):
    """One thing that a query asks for."""

    text: str
    """For the eyes of a person, and what makes a term distinct."""
    forms: tuple[tuple[int, tuple[str, ...]], ...]
    """Where notes hold it, best first: percent of an exact match, and the keys that are as good."""
    share: int
    """Percent of the weight of a word."""
    unknown: int
    """Percent of its weight that it is missed by when no note holds it."""
    carries: bool = True
    """A note may be found for it."""


class Query(msgspec.Struct, frozen=True):
    """What is looked for."""

    terms: tuple[Term, ...]

    @property
    def carries(self) -> bool:
        """There is something to look for: without, no note can be found, and no model need be asked."""
        return any(term.carries for term in self.terms)


def document_keys(document: Document) -> dict[str, int]:
    """Every key of ``document``, with the mask of the fields that hold it; none of an unfilled note."""
    if document.unfilled:
        return {}
    masks = dict.fromkeys(_keys(document.body), BODY)
    for field, text in ((DESCRIPTION, _described(document)), (TITLE, document.title)):
        for key in _keys(text):
            masks[key] = masks.get(key, 0) | field
    return masks


def query_terms(query: str) -> Query:
    """What to look for, at most ``MAX_QUERY_TERMS`` distinct terms: what ``query`` begins with and ends with.

    The first 32 distinct terms come first, in the order of their first occurrence; then, of the others, the
    32 that occur last. Of a query longer than 4,096 characters only its first and last 2,048 are read, cut
    where that may be, so that a pasted log of megabytes costs no more than a page. Blocks of recalled notes
    are the caller's to take out before (``text.strip_recalled``).
    """
    texts = (query,) if len(query) <= 2 * REACH_CHARS else (query[:REACH_CHARS], query[-REACH_CHARS:])
    found: dict[str, Term] = {}
    order: list[str] = []
    for term in _terms([chunk for text in texts for chunk in chunks(nfkc(text))]):
        known = found.get(term.text)
        if known is None or known.share < term.share:
            found[term.text] = term
        order.append(term.text)
    half = MAX_QUERY_TERMS // 2
    first = list(dict.fromkeys(order))[:half]
    taken = set(first)
    last = [text for text in dict.fromkeys(reversed(order)) if text not in taken][:half]
    return Query(tuple(found[text] for text in (*first, *reversed(last))))


def _described(document: Document) -> str:
    return "\n".join((document.description, *document.keywords, *document.usage_scenarios))


def _keys(text: str) -> set[str]:
    text = nfkc(text)
    keys: set[str] = set()
    if not text.isascii():
        runs_of_letters, text = separate(text)
        keys = document_pairs(runs_of_letters)
    keys.update(*map(_name_keys, set(chunks(text))))
    return keys


@lru_cache(_CACHED_CHUNKS)
def _name_keys(chunk: str) -> tuple[str, ...]:
    """The keys of the names in ``chunk``, in which there is no Chinese, Japanese or Korean letter."""
    keys: list[str] = []
    for _, written in runs(chunk):
        name = take_apart(written)
        if not _is_function_word(name.parts):
            keys += filter(None, (name.signed, name.whole, name.squashed))
        for part in name.parts:
            keys += _word_keys(part)
    return tuple(key for key in keys if len(key) <= MAX_KEY_CHARS)


def _word_keys(written: str) -> Iterator[str]:
    word = written.lower()
    if written in ACRONYMS:
        yield written
    if word in FUNCTION_WORDS:
        return
    if len(word) == 1:
        # Only as a name: rev B, language R.
        if written.isupper():
            yield word
        return
    yield word
    if word not in LIGHT_WORDS:
        if (one := singular(word)) != word:
            yield _SINGULAR_MARK + one
        if (stem := root(word)) != word:
            yield _ROOT_MARK + stem


def _terms(parts: Sequence[str]) -> Iterator[Term]:
    """The terms of a query in their order, with repetitions."""
    query = " ".join(parts)
    english = is_english(query.lower().split())
    # Who shouts all of it writes no abbreviation.
    shouted = len(parts) > 1 and query.isupper()
    for part in parts:
        for run, written in runs(part):
            if run:
                for pair, share in query_pairs(run):
                    yield Term(pair, ((EXACT, (pair,)),), share, UNKNOWN_PAIR)
                for word in query_loanwords(run):
                    for term in _word_terms(word, LOAN_SHARE, english=True):
                        yield msgspec.structs.replace(term, unknown=UNKNOWN_NAME)
            else:
                yield from _name_terms(written, english=english, shouted=shouted)


@lru_cache(_CACHED_CHUNKS)
def _name_terms(written: str, *, english: bool, shouted: bool) -> tuple[Term, ...]:
    name = take_apart(written)
    terms: list[Term] = []
    share = WORD_SHARE
    if not _is_function_word(name.parts):
        if name.signed:
            unknown = UNKNOWN_NAME if name.parts else UNKNOWN_WORD
            terms.append(Term(name.signed, ((EXACT, (name.signed,)),), WORD_SHARE, unknown))
        if name.whole and len(name.whole) <= MAX_KEY_CHARS:
            forms = ((EXACT, (name.whole,)), (OTHER_STYLE, (name.squashed,)))
            terms.append(Term(name.whole, forms, WORD_SHARE, UNKNOWN_NAME))
            share = PART_SHARE
    for part in name.parts:
        if part in ACRONYMS and not shouted:
            terms.append(Term(part, ((EXACT, (part,)),), share, UNKNOWN_WORD))
        elif len(name.parts) == 1 or len(part) > 1 or part.isupper():
            terms += _word_terms(part, share, english=english)
    return tuple(terms)


def _word_terms(written: str, share: int, *, english: bool) -> Iterator[Term]:
    word = written.lower()
    if len(word) > MAX_KEY_CHARS or word in FUNCTION_WORDS or (len(word) == 1 and not word.isalpha()):
        return
    if not english and word in FOREIGN_FUNCTION_WORDS:
        return
    exact = (EXACT, (word,))
    if _is_light(written, word):
        yield Term(word, (exact,), LIGHT_SHARE, UNKNOWN_NAME, carries=False)
    elif not word.isalpha() or len(word) == 1:
        yield Term(word, (exact,), share, UNKNOWN_WORD)
    else:
        one, stem = singular(word), root(word)
        others = (
            (SINGULAR, _keys_of(one, _SINGULAR_MARK, (word,))),
            (ROOT, _keys_of(stem, _ROOT_MARK, (word, one))),
        )
        unknown = UNKNOWN_WORD if english and word[0] <= _LAST_LATIN else UNKNOWN_INFLECTED
        yield Term(word, (exact, *others), share, UNKNOWN_TYPE if word in _TYPE_WORDS else unknown)


def _is_light(written: str, word: str) -> bool:
    """A light word, a small number, or a letter that may be a name or a slip."""
    return (
        word in LIGHT_WORDS or (len(word) < 3 and word.isdecimal()) or (len(word) == 1 and written.islower())
    )


def _keys_of(folded: str, mark: str, better: Iterable[str]) -> tuple[str, ...]:
    """Where words are filed whose folding is ``folded``; ``better`` keys are looked up already."""
    return (mark + folded,) if folded in better else (folded, mark + folded)


def _is_function_word(parts: tuple[str, ...]) -> bool:
    """All that ``parts`` say is grammar: ``sont-elles``. False without parts."""
    return bool(parts) and all(part.lower() in FUNCTION_WORDS for part in parts)
