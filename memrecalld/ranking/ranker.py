"""Which notes a query asks for, in which order, and when the answer is none.

What a note's text contributes is, for each key (see ``keys``), the fields that hold it. For the terms *t* of
a query and a store of *N* notes, of which *n* hold *t* in any form:

    rarity(t)     = ln(1 + (N + 10 - n + 1/2) / (n + 1/2))
    weight(t)     = rarity(t) * share(t)             1 for a word, 1/2 for a part of an identifier, ...
    strength(t,d) = max over the forms of t: quality * F / (F + 1.5)
                                                     F = 4 title + 2 description + 1 body, of what holds it
    score(d)      = sum of weight(t) * strength(t,d), and 1/4 for each of up to two keywords of d's type

    evidence(d)   = sum of weight(t) * quality * (1 if the head holds it, 0.85 if only the body does)
    demand        = sum of weight(t), of all terms of the query
    needed        = the greater of 0.5 and the least of 10 and demand * 0.37 * N / (N + 6)

Recalled is what has the evidence that is needed; ``evidence`` and ``demand`` leave out the words that carry
nothing. So a rare word counts more than a frequent one and several words more than one; repetition counts
nothing, and each further field less. A note must answer to more than a third of what is asked, by weight,
else it only happens to share a word with the question; where there are few notes, that happens less. A word
that nearly all notes hold is no reason to choose any of them.

Sources: ``rarity`` is the inverse document frequency of BM25 in the form that is never negative, ``strength``
its saturation after weighting the fields (Robertson and Zaragoza, *The Probabilistic Relevance Framework:
BM25 and Beyond*, 2009, sections 3.1 and 3.3), with presence in the place of counts and without lengths, since
what may be shown of a note is short. The constants are tuned on queries that are set apart for it;
``tests/evaluation/RESULTS.md`` tells how they do on others, and what each signal is worth.

Scores are whole thousandths of these numbers, so that they do not depend on the order of adding up.
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
DESCRIPTION_WEIGHT: Final = 2
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
"""In thousandths. A word that half of the notes of a large store hold gives 693 in the head of one."""

ENOUGH_EVIDENCE: Final = 10_000
"""In thousandths: two rare words or three. A pasted log asks for more than any note can answer."""

TYPE_BOOST: Final = 250
MAX_TYPE_BOOSTS: Final = 2

SCALE: Final = 1_000
PERCENT: Final = 100
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


class Missed(msgspec.Struct, frozen=True, gc=False):
    """What a query asks for and a note lacks."""

    term: str
    weight: int
    """What the term is worth in this store, in thousandths."""


class Explanation(msgspec.Struct, frozen=True):
    """Why a note is recalled, or why not. Numbers are in thousandths."""

    score: int
    evidence: int
    needed: int
    matches: tuple[Match, ...]
    """Term by term, fields from title to body. The weights add up to the score without the type's boost."""
    missed: tuple[Missed, ...]
    """The terms that a note may be found for, and that this one lacks, in the order of the query."""

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
        weight = _rarity(frequency, notes) * term.share // PERCENT
        weights.append(weight)
        if term.carries:
            demand += weight if frequency else weight * term.unknown // PERCENT
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
            points = max(points, quality * FIELD_POINTS[mask] // PERCENT)
            evidence = max(evidence, quality * FIELD_EVIDENCE[mask] // PERCENT)
    return points, evidence


def frequencies(query: Query, keys: Iterable[Mapping[str, int]]) -> list[int]:
    """How many notes hold each term of ``query`` in any of its forms; a note is given by its keys."""
    askers = _askers(query)
    counts = [0] * len(query.terms)
    for each in keys:
        for number in _asked(askers, each):
            counts[number] += 1
    return counts


def rank(
    documents: Sequence[Document],
    query: Query,
    now_ns: int,
    keys: Iterable[Mapping[str, int]] | None = None,
) -> list[Ranked]:
    """The documents to recall, best first: by score, then newer first, then in the order of ``documents``.

    ``keys`` are the ``document_keys`` of ``documents``, in the same order, where the caller has them; raises
    ``ValueError`` if they are not as many. A modification time after ``now_ns`` (nanoseconds since the epoch)
    counts as ``now_ns``. The type decides no tie.
    """
    askers = _askers(query)
    counts = [0] * len(query.terms)
    held = []
    filed = map(document_keys, documents) if keys is None else keys
    for position, (document, each) in enumerate(zip(documents, filed, strict=True)):
        if numbers := _asked(askers, each):
            hits = [(number, *strength(query.terms[number], each)) for number in numbers]
            for number in numbers:
                counts[number] += 1
            held.append((position, document, hits))
    weights = weigh(query, counts, len(documents))
    ranked = []
    for position, document, hits in held:
        score = evidence = 0
        for number, points, proof in hits:
            score += weights.terms[number] * points // SCALE
            if query.terms[number].carries:
                evidence += weights.terms[number] * proof // SCALE
        if evidence >= weights.needed:
            ranked.append(Ranked(document, score + weights.boosts[document.type], position))
    ranked.sort(key=lambda each: (-each.score, -min(each.document.modified_ns, now_ns)))
    return ranked


def explain(
    document: Document, query: Query, weights: Weights, keys: Mapping[str, int] | None = None
) -> Explanation:
    """What ``document`` has of ``query``, whether or not that is enough.

    ``weights`` are of the store that holds it. ``keys`` are its ``document_keys``, at least those that the
    query asks for, where the caller has them.
    """
    if keys is None:
        keys = document_keys(document)
    score = evidence = 0
    matches: list[Match] = []
    missed: list[Missed] = []
    for term, weight in zip(query.terms, weights.terms, strict=True):
        points, proof = strength(term, keys)
        if not points:
            if term.carries:
                missed.append(Missed(term.text, weight))
            continue
        points = weight * points // SCALE
        score += points
        if term.carries:
            evidence += weight * proof // SCALE
        matches.extend(_matches(term, keys, points))
    if score:
        score += weights.boosts[document.type]
    return Explanation(score, evidence, weights.needed, tuple(matches), tuple(missed))


def _askers(query: Query) -> dict[str, list[int]]:
    """The numbers of the terms that look for each key."""
    askers: dict[str, list[int]] = {}
    for number, term in enumerate(query.terms):
        for _, forms in term.forms:
            for form in forms:
                askers.setdefault(form, []).append(number)
    return askers


def _asked(askers: Mapping[str, Sequence[int]], keys: Mapping[str, int]) -> set[int]:
    """The numbers of the terms that a note of these ``keys`` holds."""
    shared = askers.keys() & keys.keys()
    return {number for key in shared for number in askers[key]} if shared else set()


def _rarity(frequency: int, notes: int) -> int:
    others = notes + ASSUMED_NOTES - frequency
    return round(SCALE * math.log1p((others + 0.5) / (frequency + 0.5)))


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
    return round(SCALE * weight / (weight + SATURATION))


def _field_evidence(mask: int) -> int:
    return SCALE if mask & (TITLE | DESCRIPTION) else round(SCALE * BODY_EVIDENCE)


FIELD_POINTS: Final = tuple(_field_points(mask) for mask in range((TITLE | DESCRIPTION | BODY) + 1))
FIELD_EVIDENCE: Final = tuple(_field_evidence(mask) for mask in range((TITLE | DESCRIPTION | BODY) + 1))
"""In thousandths, by the mask of the fields that hold a form of a term."""
