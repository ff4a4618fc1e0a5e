"""The notes of several memory folders taken together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memrecalld.memory.document import Document, Scope
from memrecalld.memory.scan import RootScan

CAP: Final = 200
"""Notes of a scope that anything but recall gets to see."""


def unique(scans: Iterable[RootScan]) -> list[Document]:
    """The notes of several scans, in order, each file once: one that two roots reach belongs to the first."""
    documents: dict[tuple[int, int], Document] = {}
    for scan in scans:
        for entry in scan.entries.values():
            documents.setdefault(entry.identity, entry.document)
    return list(documents.values())


def capped(documents: Iterable[Document], *, now_ns: int, limit: int = CAP) -> list[Document]:
    """The newest ``limit`` notes of each scope, newest first, project notes before user notes.

    ``now_ns`` is in nanoseconds since the epoch; a note from the future counts as from now. Notes of the same
    time keep their order.
    """
    by_scope: dict[Scope, list[Document]] = {"project": [], "user": []}
    for document in documents:
        by_scope[document.scope].append(document)
    newest: list[Document] = []
    for scoped in by_scope.values():
        newest += sorted(scoped, key=lambda document: min(document.modified_ns, now_ns), reverse=True)[:limit]
    return newest
