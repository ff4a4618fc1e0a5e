"""The baseline scorer: which notes a query matches, and how well. Every faster way must equal it.

A token matches a field when the normalised field contains it. Title and description count far more than the
body, since they say what a note is about; the body is the window that a prompt can show, so that nothing
unseen ranks a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from memrecalld.memory.document import Document, NoteType, normalize

TITLE_WEIGHT: Final = 4
DESCRIPTION_WEIGHT: Final = 3
BODY_WEIGHT: Final = 1

MAX_TYPE_BOOST: Final = 2
"""Most that keywords of a note's type may add, and only after a lexical match."""

TYPE_KEYWORDS: Final[dict[NoteType, frozenset[str]]] = {
    "user": frozenset({"user", "preference", "preferences", "background", "role", "terse"}),
    "feedback": frozenset({"feedback", "rule", "rules", "avoid", "style", "summary"}),
    "project": frozenset({"project", "goal", "goals", "incident", "deadline", "release"}),
    "reference": frozenset({"reference", "dashboard", "ticket", "docs", "doc", "link"}),
    "note": frozenset(),
}
"""Words of a query that ask for notes of a type. A note of no known type has none."""

Field = Literal["title", "description", "body"]


class Match(msgspec.Struct, frozen=True, gc=False):
    """One reason why a note was found."""

    term: str
    """Query token."""
    field: Field
    weight: float
    """What the match adds to the score."""


class SearchText(msgspec.Struct, frozen=True, gc=False):
    """A document's fields as the scorer reads them: normalised.

    Made once and held beside the document, it saves normalising for each query. A field that normalising
    leaves alone is the document's own string, not a copy.
    """

    title: str
    description: str
    body: str


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A document that matches."""

    document: Document
    score: int
    """Positive."""
    position: int
    """Index of the document among those that were ranked."""


def search_text(document: Document) -> SearchText:
    """Normalise the fields of ``document``."""
    return SearchText(
        title=_normalized(document.title),
        description=_normalized(document.description),
        body=_normalized(document.body),
    )


def score(document: Document, query_tokens: Sequence[str]) -> int:
    """How well ``document`` matches; 0 for not at all."""
    return _score(search_text(document), query_tokens, _type_boost(document.type, query_tokens))


def rank(
    documents: Sequence[Document],
    query_tokens: Sequence[str],
    now_ns: int,
    texts: Iterable[SearchText] | None = None,
) -> list[Ranked]:
    """The documents that match, best first: by score, then newer first, then in the order of ``documents``.

    ``texts`` are the search texts of ``documents``, in the same order, where the caller holds them; raises
    ``ValueError`` if they are not as many. A modification time after ``now_ns`` (nanoseconds since the epoch)
    counts as ``now_ns``, so that a wrong clock does not keep a note on top. The type decides no tie: it would
    put one kind of note always last.
    """
    boosts = {note_type: _type_boost(note_type, query_tokens) for note_type in TYPE_KEYWORDS}
    ranked = []
    for position, (document, text) in enumerate(
        zip(documents, map(search_text, documents) if texts is None else texts, strict=True)
    ):
        points = _score(text, query_tokens, boosts[document.type])
        if points:
            ranked.append(Ranked(document, points, position))
    # Two stable sorts by plain numbers take a fifth of the time of one by pairs, where everything matches.
    ranked.sort(key=lambda each: min(each.document.modified_ns, now_ns), reverse=True)
    ranked.sort(key=lambda each: each.score, reverse=True)
    return ranked


def matches(document: Document, query_tokens: Sequence[str]) -> tuple[Match, ...]:
    """Every lexical match of ``document``, token by token, fields from title to body.

    The weights add up to the score without the type boost.
    """
    text = search_text(document)
    fields: tuple[tuple[Field, str, int], ...] = (
        ("title", text.title, TITLE_WEIGHT),
        ("description", text.description, DESCRIPTION_WEIGHT),
        ("body", text.body, BODY_WEIGHT),
    )
    return tuple(
        Match(token, field, float(weight))
        for token in query_tokens
        for field, value, weight in fields
        if token in value
    )


def _normalized(text: str) -> str:
    normal = normalize(text)
    return text if normal == text else normal


def _score(text: SearchText, query_tokens: Sequence[str], type_boost: int) -> int:
    title, description, body = text.title, text.description, text.body
    points = 0
    for token in query_tokens:
        if token in title:
            points += TITLE_WEIGHT
        if token in description:
            points += DESCRIPTION_WEIGHT
        if token in body:
            points += BODY_WEIGHT
    return points + type_boost if points else 0


def _type_boost(note_type: NoteType, query_tokens: Sequence[str]) -> int:
    return min(MAX_TYPE_BOOST, len(TYPE_KEYWORDS[note_type].intersection(query_tokens)))
