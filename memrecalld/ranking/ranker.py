"""Which notes a query asks for, in which order, and when the answer is none.

What a note's text contributes is, for each key (``keys``), the fields that hold it. For a query of terms *t* and
a store of *N* notes:

    rarity(t)     = ln(1 + (N' - n + ½) / (n + ½))        n notes hold t in any form;  N' = N + 10
    weight(t)     = rarity(t) · share(t)                   share of a word: 1, of a part of a name: ½, …
    strength(t,d) = max over forms:  quality · F / (F + 1½)       F = 4 title + 3 description + 1 body
    score(d)      = Σ weight(t) · strength(t,d)  +  ¼ for each of at most two keywords of the note's type

    evidence(d)   = Σ weight(t) · quality · (1 in the head, 0.85 in the body alone)    terms that carry something
    demand        = Σ weight(t)                                                         over all of them
    d is recalled if evidence(d) ≥ max(½, min(0.37 · N / (N + 6) · demand, 12))

So a rare word counts more than a frequent one, several words more than one, and being repeated counts nothing;
each further field adds less. A note must answer to more than a third of what was asked, by weight, else it is
only there because it shares a word with the question; where few notes are, a shared word is less of an
accident. A word that nearly all notes hold is no reason to choose any of them.

Sources: rarity is the inverse document frequency of BM25 in the form that is never negative, strength its
saturation over fields weighted before it (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25
and Beyond*, 2009, sections 3.3 and 3.6), with presence in place of counts and without length, since what a
note may show is short. The field weights are those of the baseline scorer. All other constants are tuned, and
only on the queries that the evaluation corpus sets apart for it (``tests/evaluation``); within a third of
their values none moves a measure there by more than a point.

Scores are integers (a thousandth of the numbers above) and are summed, so that no order of evaluation shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from memrecalld.memory.document import Document, NoteType
from memrecalld.ranking.keys import BODY, DESCRIPTION, TITLE, Query, Term, document_keys
from memrecalld.ranking.scorer import TYPE_KEYWORDS, Field, Match, Ranked

TITLE_WEIGHT: Final = 4
DESCRIPTION_WEIGHT: Final = 3
BODY_WEIGHT: Final = 1
SATURATION: Final = 1.5

BODY_EVIDENCE: Final = 0.85
"""What a word proves that only the body holds."""

ASSUMED_NOTES: Final = 10
"""Notes without the word that every store is thought to hold besides: few notes say little about rarity."""

DEMAND_SHARE: Final = 0.37
FEW_NOTES: Final = 6
"""Of so few notes, half as much of what was asked is demanded."""

LEAST_EVIDENCE: Final = 500
"""In thousandths: less than a word in the title gives that is in half of the notes of a large store (ln 2)."""

ENOUGH_EVIDENCE: Final = 12_000
"""In thousandths: two to three rare words. A pasted log asks for more than any note can answer."""

TYPE_BOOST: Final = 250
MAX_TYPE_BOOSTS: Final = 2

_SCALE: Final = 1_000
_PERCENT: Final = 100
_FIELDS: Final[tuple[tuple[Field, int, int], ...]] = (
    ("title", TITLE, TITLE_WEIGHT),
    ("description", DESCRIPTION, DESCRIPTION_WEIGHT),
    ("body", BODY, BODY_WEIGHT),
)


class Weights(msgspec.Struct, frozen=True):
    """What the terms of a query are worth in one store, in thousandths."""

    terms: tuple[int, ...]
    """In the order of the query's terms."""
    needed: int
    """Evidence without which no note is recalled."""
    boosts: dict[NoteType, int]
    """What a note gains by its type."""


class Explanation(msgspec.Struct, frozen=True):
    """Why a note is recalled, or why not."""

    score: int
    evidence: int
    needed: int
    matches: tuple[Match, ...]
    """Term by term, fields from title to body. The weights add up to the score without the type's boost."""

    @property
    def recalled(self) -> bool:
        return self.evidence >= self.needed


def weigh(query: Query, frequencies: Sequence[int], notes: int) -> Weights:
    """The worth of the terms of ``query`` in a store of ``notes`` notes.

    ``frequencies`` say how many of them hold each term in any of its forms. The boosts go by the words of the
    query, known to the store or not.
    """
    weights = []
    demand = 0
    for term, frequency in zip(query.terms, frequencies, strict=True):
        weight = _rarity(frequency, notes) * term.share // _PERCENT
        weights.append(weight)
        if term.carries:
            demand += weight if frequency else weight * term.unknown // _PERCENT
    share = DEMAND_SHARE * notes / (notes + FEW_NOTES)
    needed = max(LEAST_EVIDENCE, min(math.ceil(share * demand), ENOUGH_EVIDENCE))
    words = {term.text for term in query.terms}
    boosts = {
        note_type: TYPE_BOOST * min(MAX_TYPE_BOOSTS, len(keywords & words))
        for note_type, keywords in TYPE_KEYWORDS.items()
    }
    return Weights(tuple(weights), needed, boosts)


def strength(term: Term, keys: Mapping[str, int]) -> tuple[int, int]:
    """How strongly a note of these ``keys`` holds ``term``, and how much of a proof that is; in thousandths.

    ``keys`` map to field masks. Both are 0 if the note does not hold it.
    """
    points = evidence = 0
    for quality, forms in term.forms:
        mask = 0
        for form in forms:
            mask |= keys.get(form, 0)
        if mask:
            points = max(points, quality * _FIELD_POINTS[mask] // _PERCENT)
            evidence = max(evidence, quality * _FIELD_EVIDENCE[mask] // _PERCENT)
    return points, evidence


def rank(
    documents: Sequence[Document],
    query: Query,
    now_ns: int,
    keys: Iterable[Mapping[str, int]] | None = None,
) -> list[Ranked]:
    """The documents to recall, best first: by score, then newer first, then in the order of ``documents``.

    ``keys`` are the ``document_keys`` of ``documents``, in the same order, where the caller holds them; raises
    ``ValueError`` if they are not as many. A modification time after ``now_ns`` (nanoseconds since the epoch)
    counts as ``now_ns``. The type decides no tie.
    """
    frequencies = [0] * len(query.terms)
    held = []
    for _, each in zip(documents, map(document_keys, documents) if keys is None else keys, strict=True):
        hits = []
        for number, term in enumerate(query.terms):
            points, evidence = strength(term, each)
            if points:
                frequencies[number] += 1
                hits.append((number, points, evidence))
        held.append(hits)
    weights = weigh(query, frequencies, len(documents))
    ranked = []
    for position, (document, hits) in enumerate(zip(documents, held, strict=True)):
        score = evidence = 0
        for number, points, proof in hits:
            score += weights.terms[number] * points // _SCALE
            if query.terms[number].carries:
                evidence += weights.terms[number] * proof // _SCALE
        if evidence >= weights.needed:
            ranked.append(Ranked(document, score + weights.boosts[document.type], position))
    ranked.sort(key=lambda each: (-each.score, -min(each.document.modified_ns, now_ns)))
    return ranked


def explain(document: Document, query: Query, weights: Weights) -> Explanation:
    """What ``document`` has of ``query``, whether or not that is enough.

    ``weights`` are of the store that holds it.
    """
    keys = document_keys(document)
    score = evidence = 0
    matches: list[Match] = []
    for term, weight in zip(query.terms, weights.terms, strict=True):
        points, proof = strength(term, keys)
        if not points:
            continue
        points = weight * points // _SCALE
        score += points
        if term.carries:
            evidence += weight * proof // _SCALE
        matches.extend(_matches(term, keys, points))
    if score:
        score += weights.boosts[document.type]
    return Explanation(score, evidence, weights.needed, tuple(matches))


def _rarity(frequency: int, notes: int) -> int:
    others = notes + ASSUMED_NOTES - frequency
    return round(_SCALE * math.log1p((others + 0.5) / (frequency + 0.5)))


def _matches(term: Term, keys: Mapping[str, int], points: int) -> list[Match]:
    """``points`` divided among the fields that hold ``term``, by their weights."""
    mask = 0
    for _, forms in term.forms:
        for form in forms:
            mask |= keys.get(form, 0)
    fields = [(field, weight) for field, bit, weight in _FIELDS if mask & bit]
    total = sum(weight for _, weight in fields)
    return [Match(term.text, field, points * weight / total) for field, weight in fields]


def _field_points(mask: int) -> int:
    weight = sum(each for _, bit, each in _FIELDS if mask & bit)
    return round(_SCALE * weight / (weight + SATURATION))


def _field_evidence(mask: int) -> int:
    return _SCALE if mask & (TITLE | DESCRIPTION) else round(_SCALE * BODY_EVIDENCE)


_FIELD_POINTS: Final = tuple(_field_points(mask) for mask in range((TITLE | DESCRIPTION | BODY) + 1))
_FIELD_EVIDENCE: Final = tuple(_field_evidence(mask) for mask in range((TITLE | DESCRIPTION | BODY) + 1))
"""In thousandths, by the mask of the fields that hold a form of a term."""
