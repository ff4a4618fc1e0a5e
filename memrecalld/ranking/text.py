"""Words of queries and notes: what counts as a token, and how few of a long query are read.

Text is normalised by ``normalize`` (NFKC, then lower case) and read as *runs*. A run of letters, marks and
digits is one token when it has at least three characters. A run of Han, Hiragana, Katakana or Hangul, whose
words are not set apart by blanks, gives its code-point bigrams; a single such character gives nothing.
Punctuation ends both.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Final

import regex

from memrecalld.memory.document import normalize

MAX_QUERY_TOKENS: Final = 64
"""Distinct tokens of a query that are ever looked for, half of them from each end."""

REACH_CHARS: Final = 32_768
"""Characters that are read from either end of a query longer than twice as many."""

STRETCH_CHARS: Final = 1_024
"""Characters of a query that are normalised at a time, and the length from which text without a separator is
read at its two ends only. NFKC takes quadratic time for a base under very many marks, and this bounds it."""

RECALLED_TAG: Final = "recalled-memory"
"""Name of the tag whose lines enclose recalled notes in a prompt."""

# Script extensions (Unicode Standard Annex 24) bring in what the Japanese scripts share, as the prolonged
# sound mark does; of that only letters and marks, since the full stop and the brackets are shared too. Two
# marks that newer versions of Unicode list for Kana serve Latin above all (dot below, overline): they must
# not cut a Latin word in two.
_CJK: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}[[\p{scx=Kana}&&[\p{L}\p{M}]]--\p{scx=Latin}]]"
_WORD: Final = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_CJK}]"
_WORD_START: Final = rf"[[\p{{L}}\p{{N}}]--{_CJK}]"

_RUN: Final = regex.compile(rf"({_CJK}{{2,}})|({_WORD_START}{_WORD}{{2,}})", regex.V1)
_ASCII_RUN: Final = re.compile(r"[a-z0-9]{3,}")
_WORD_AT_START: Final = regex.compile(rf"\A{_WORD}+", regex.V1)
_WORD_AT_END: Final = regex.compile(rf"(?r){_WORD}+\Z", regex.V1)

# Characters at which text may be cut before it is normalised while every token stays what it was: none is
# part of a token, none composes with a neighbour into one, and none is transparent to the rule by which a
# capital sigma becomes final (Unicode Standard, section 3.13), as full stop, apostrophe and colon are.
_SEPARATOR: Final = (
    r"[\x00-\x20!\"#$%&()*+,\-/;<=>?@\[\\\]_{|}~\x7f\x85\xa0"
    r"\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000、。「」『』【】《》・！（），；？]"
)
_FIRST_SEPARATOR: Final = re.compile(_SEPARATOR)
_LAST_SEPARATOR: Final = regex.compile(rf"(?r){_SEPARATOR}")

_TAG_LINE: Final = re.compile(
    rf"^[ \t]*(?:<(?P<plain>/?){RECALLED_TAG}>|&lt;(?P<escaped>/?){RECALLED_TAG}&gt;)[ \t]*\r?$", re.MULTILINE
)


def tokens(text: str) -> tuple[str, ...]:
    """Distinct tokens of ``text`` in the order of their first occurrence. Reads all of it."""
    return tuple(dict.fromkeys(_read(text)))


def query_tokens(query: str) -> tuple[str, ...]:
    """At most ``MAX_QUERY_TOKENS`` distinct tokens of ``query``: what it begins with and what it ends with.

    The first 32 distinct tokens come first, in the order of their first occurrence; then, of the others, the
    32 that occur last, in the order of their last occurrence. A query of up to 64 distinct tokens keeps them
    all. Blocks of recalled notes are the caller's to take out before (``strip_recalled``).

    Only as much as that takes is normalised, from both ends, so a log of megabytes costs little more than a
    page. What could be read for long without a result is bounded too: of a query longer than 65,536
    characters its first and last 32,768 are read; and a *stretch*, text without any separator (blanks, most
    punctuation), is read at its first and last 512 characters once it is 1,024 long, as encoded data is and
    natural text hardly ever. A word that such a cut goes through is left out.
    """
    return _bounded(query, REACH_CHARS, STRETCH_CHARS)


def strip_recalled(query: str) -> str:
    """``query`` without the blocks of recalled notes that a client may have sent back with it.

    A block reaches from an opening tag to the next closing tag, each alone on its line, as rendered or with
    its angle brackets escaped for HTML (both tags of a block in the same form). A tag without its partner
    takes away its own line and nothing more, so that a stray tag never hides what the user wrote; for that
    reason a closing tag belongs to the nearest opening one. Linear in the length of the query.
    """
    if RECALLED_TAG not in query:
        return query
    cuts: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for tag in _TAG_LINE.finditer(query):
        start = tag.start()
        form = "plain" if tag["plain"] is not None else "escaped"
        if not tag[form]:
            opened[form] = start
        elif form in opened:
            start = opened.pop(form)
            opened = {other: position for other, position in opened.items() if position < start}
            while cuts and cuts[-1][0] >= start:
                cuts.pop()
        cuts.append((start, tag.end()))
    kept = []
    position = 0
    for start, end in cuts:
        kept.append(query[position:start])
        position = end
    kept.append(query[position:])
    return "".join(kept)


def _read(text: str) -> list[str]:
    """Every token of ``text`` in order, with repetitions."""
    normal = normalize(text)
    if normal.isascii():
        return _ASCII_RUN.findall(normal)
    found: list[str] = []
    for cjk, word in _RUN.findall(normal):
        if word:
            found.append(word)
        else:
            found.extend(map(operator.add, cjk, cjk[1:]))
    return found


def _bounded(query: str, reach_chars: int, stretch_chars: int) -> tuple[str, ...]:
    """``query_tokens`` with limits of any size; the tests use small ones to reach every border."""
    if len(query) > 2 * reach_chars:
        query = _both_ends(query, 0, len(query), reach_chars)
    half = MAX_QUERY_TOKENS // 2
    head: dict[str, None] = {}
    floor = len(query)
    for start, part in _parts_forward(query, stretch_chars):
        head.update(dict.fromkeys(_read(part)))
        if len(head) > half:
            floor = start
            break
    first = dict.fromkeys(list(head)[:half])
    last: dict[str, None] = {}
    for part in _parts_backward(query, floor, stretch_chars):
        for token in dict.fromkeys(reversed(_read(part))):
            if token not in first:
                last[token] = None
                if len(last) == half:
                    return (*first, *reversed(last))
    return (*first, *reversed(last))


def _parts_forward(query: str, stretch_chars: int) -> Iterator[tuple[int, str]]:
    """The query from its start, in parts of whole stretches; each with the position where it begins."""
    start = 0
    while start < len(query):
        end = start + stretch_chars
        if end > len(query):
            yield start, query[start:]
            return
        separator = _LAST_SEPARATOR.search(query, start, end)
        if separator is not None:
            yield start, query[start : separator.start()]
            start = separator.end()
        else:
            following = _FIRST_SEPARATOR.search(query, end)
            end = len(query) if following is None else following.start()
            yield start, _both_ends(query, start, end, stretch_chars // 2)
            start = end


def _parts_backward(query: str, floor: int, stretch_chars: int) -> Iterator[str]:
    """The query from its end down to ``floor``, where a stretch begins, in parts of whole stretches."""
    end = len(query)
    while end > floor:
        start = end - stretch_chars
        if start < floor:
            yield query[floor:end]
            return
        separator = _FIRST_SEPARATOR.search(query, start, end)
        if separator is not None:
            yield query[separator.end() : end]
            end = separator.start()
        else:
            preceding = _LAST_SEPARATOR.search(query, floor, start)
            start = floor if preceding is None else preceding.end()
            yield _both_ends(query, start, end, stretch_chars // 2)
            end = start


def _both_ends(query: str, start: int, end: int, chars: int) -> str:
    """The first and the last ``chars`` of ``query[start:end]``, less the words that the cuts go through."""
    head = query[start : start + chars]
    tail = query[end - chars : end]
    return f"{_WORD_AT_END.sub('', head)} {_WORD_AT_START.sub('', tail)}"
