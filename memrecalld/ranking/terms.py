"""The terms of a note: under them an index files it, so that the baseline's substring tests can be spared.

Two facts make that exact. A token of letters, marks and digits lies inside one maximal run of such characters
wherever it occurs, so it occurs where it is part of a term that is such a run. A bigram occurs where its two
characters stand side by side, so it occurs where it is a term itself.
"""

from __future__ import annotations

import operator
from typing import Final

import regex

from memrecalld.memory.document import Document
from memrecalld.ranking.scorer import search_text
from memrecalld.ranking.text import _CJK, _WORD

TITLE: Final = 1
DESCRIPTION: Final = 2
BODY: Final = 4
"""Bits of a field mask."""

MIN_WORD_CHARS: Final = 3
"""No token but a bigram is shorter, so a shorter run contains none and is no term."""

# Of UTF-8 the bytes below 128 are ASCII alone: with these blanked, text of any script is cut at most of its
# borders at the speed of bytes.translate, and the pattern, far slower, need only see what is not ASCII.
_BLANKED: Final = bytes(code if code >= 0x80 or chr(code).isalnum() else ord(" ") for code in range(0x100))

# Unlike a token, a run of a note may begin with a mark.
_RUN: Final = regex.compile(rf"({_CJK}{{2,}})|({_WORD}{{{MIN_WORD_CHARS},}})", regex.V1)


def document_terms(document: Document) -> dict[str, int]:
    """Every term of ``document``, with the mask of the fields that hold it.

    Terms are the maximal runs of letters, marks and digits, and the code-point bigrams of the runs of
    Chinese, Japanese and Korean characters, in the normalised fields that the scorer reads.
    """
    text = search_text(document)
    masks = dict.fromkeys(_terms(text.body), BODY)
    for field, value in ((DESCRIPTION, text.description), (TITLE, text.title)):
        for term in _terms(value):
            masks[term] = masks.get(term, 0) | field
    return masks


def _terms(text: str) -> set[str]:
    blanked = text.encode("utf-8", "surrogatepass").translate(_BLANKED).decode("utf-8", "surrogatepass")
    pieces = set(blanked.split())
    terms = {piece for piece in pieces if len(piece) >= MIN_WORD_CHARS and piece.isascii()}
    if not text.isascii():
        others = " ".join(piece for piece in pieces if not piece.isascii())
        for cjk, word in _RUN.findall(others):
            if word:
                terms.add(word)
            else:
                terms.update(map(operator.add, cjk, cjk[1:]))
    return terms
