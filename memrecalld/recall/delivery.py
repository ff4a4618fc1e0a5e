"""What one delivery puts in front of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from memrecalld.memory.document import Document, NoteType, Scope
from memrecalld.ranking.scorer import Match
from memrecalld.ranking.selection import MAX_SELECTED
from memrecalld.recall.age import describe_age
from memrecalld.recall.prompt import displayable, render_prompt

FAST_DOCUMENTS: Final = 2
"""Documents in a fast delivery: few, since no model judged them."""

REFINED_DOCUMENTS: Final = MAX_SELECTED
"""Documents in one refined delivery: as many as a model may choose, whoever chose them. A turn can see both,
seven in all: each prompt is bounded, not their sum."""

Phase = Literal["fast", "refined"]


class DocumentSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A note as a list shows it."""

    scope: Scope
    type: NoteType
    title: str
    description: str
    path: str
    relative_path: str
    saved_at: str
    """Modification time, ISO 8601 in UTC with seconds."""
    age: str
    """For people: ``saved today``, ``saved 3 days ago``."""


class DeliveredDocument(DocumentSummary, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A note as a delivery or a search result holds it."""

    body: str
    """At most 1,200 characters."""
    truncated: bool
    """The note goes on beyond ``body``."""
    matched: tuple[Match, ...] | msgspec.UnsetType = msgspec.UNSET
    """Empty where only the model chose the note; absent outside of a query."""
    score: float | None = None
    """The ranking's score, where the document comes from a search."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Notes and the text that presents them to the model."""

    id: str
    """A client sends it back as ``lastDelivery``."""
    phase: Phase
    strategy: Literal["heuristic", "model"]
    prompt: str
    documents: tuple[DeliveredDocument, ...]


def summarize(document: Document, now_ns: int) -> DocumentSummary:
    """A note of the catalog as a list shows it."""
    return DocumentSummary(**_summary(document, now_ns))


def describe(
    document: Document,
    now_ns: int,
    *,
    matched: tuple[Match, ...] | msgspec.UnsetType = msgspec.UNSET,
    score: float | None = None,
) -> DeliveredDocument:
    """A note of the catalog as a delivery or a search result holds it."""
    return DeliveredDocument(
        **_summary(document, now_ns),
        body=document.body,
        truncated=document.truncated,
        matched=matched,
        score=score,
    )


def compose(
    delivery_id: str,
    phase: Phase,
    strategy: Literal["heuristic", "model"],
    documents: Sequence[Document],
    *,
    now_ns: int,
    matched: Callable[[Document], tuple[Match, ...]],
) -> Delivery:
    """Build the delivery of ``documents``, best first; ``matched`` explains each of them."""
    return Delivery(
        id=delivery_id,
        phase=phase,
        strategy=strategy,
        prompt=render_prompt(documents, now_ns),
        documents=tuple(describe(document, now_ns, matched=matched(document)) for document in documents),
    )


def _summary(document: Document, now_ns: int) -> dict[str, Any]:
    return {
        "scope": document.scope,
        "type": document.type,
        "title": document.title,
        "description": document.description,
        "path": displayable(document.path),
        "relative_path": displayable(document.relative_path),
        "saved_at": _iso(document.modified_ns),
        "age": describe_age(document.modified_ns, now_ns),
    }


def _iso(time_ns: int) -> str:
    """ISO 8601 in UTC, whole seconds; the epoch for a file time that no calendar holds."""
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
