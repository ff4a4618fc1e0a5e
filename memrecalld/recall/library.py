"""The catalog's folders as pools that can be searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec

from memrecalld.errors import MemrecallError
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.document import Document, Scope
from memrecalld.memory.layouts import RootLayout
from memrecalld.memory.pool import capped
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.scorer import Ranked, rank
from memrecalld.recall.turn import Pool

R = TypeVar("R")

READ_S: Final = 0.080
"""How long a recall waits for its notes to be read: the rest of the 100 ms is for ranking what there is."""


class RootMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One memory folder, as status shows it."""

    scope: Scope
    layout: RootLayout
    path: str
    topics: int
    exists: bool


class ProjectMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of one project, as status shows it."""

    root: str | None
    reason: str | None
    """Why there is no project."""
    roots: tuple[RootMemory, ...]
    skipped: tuple[tuple[str, str], ...]
    """Path and reason."""


class FolderPool:
    """The notes of some folders at one moment."""

    def __init__(self, reading: Reading) -> None:
        self.partial = reading.partial
        self._documents = [document for folder in reading.folders for document in folder.documents]

    @property
    def size(self) -> int:
        return len(self._documents)

    def search(
        self, tokens: Sequence[str], *, limit: int, now_ns: int, keep: Callable[[Document], bool]
    ) -> list[Ranked]:
        found: list[Ranked] = []
        for ranked in rank(self._documents, tokens, now_ns):
            if len(found) == limit:
                break
            if keep(ranked.document):
                found.append(ranked)
        return found

    def recent(self, *, limit: int, now_ns: int, keep: Callable[[Document], bool]) -> list[Document]:
        return most_recent(filter(keep, self._documents), limit, now_ns)


class Library:
    """What the engine and the handlers want to know of the notes on disk."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def pool(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[Pool | MemrecallError], None],
    ) -> None:
        """Every change completed before this call is in the pool that ``ready`` gets."""
        self._catalog.read(project_root, exclude_layouts, _then(FolderPool, ready), within_s=READ_S)

    def reread(self, documents: Sequence[Document], ready: Callable[[list[Document] | None], None]) -> None:
        """The same notes as they are on disk now, without those gone; ``None``: not to be had now."""
        self._catalog.reread(documents, ready, within_s=READ_S)

    def newest(
        self, project_root: str | None, ready: Callable[[list[Document] | MemrecallError], None]
    ) -> None:
        """At most 200 notes of each scope, newest first: the view for everything but recall."""

        def newest(reading: Reading) -> list[Document]:
            documents = (document for folder in reading.folders for document in folder.documents)
            return capped(documents, now_ns=time.time_ns())

        self._catalog.read(project_root, frozenset(), _then(newest, ready))

    def describe(self, project_root: str, ready: Callable[[ProjectMemory | MemrecallError], None]) -> None:
        """Which folders a project's memory is in, and what was left out of them."""
        # What was left out is known from whole readings only.
        self._catalog.read(project_root, frozenset(), _then(_describe, ready), compare=True)


def _describe(reading: Reading) -> ProjectMemory:
    places = reading.places
    project = places.project if places is not None else None
    roots = []
    skipped = []
    for folder in reading.folders:
        scan = folder.scan
        root = folder.root
        roots.append(
            RootMemory(
                scope=root.scope,
                layout=root.layout,
                path=root.path,
                topics=len(folder),
                exists=scan is not None and scan.state != "missing",
            )
        )
        if scan is not None:
            skipped += [(f"{root.path}/{skip.relative_path}".rstrip("/"), skip.reason) for skip in scan.skips]
    return ProjectMemory(
        root=project.root if project is not None else None,
        reason=places.no_project if places is not None else None,
        roots=tuple(roots),
        skipped=tuple(skipped),
    )


def _then(
    convert: Callable[[Reading], R], ready: Callable[[R | MemrecallError], None]
) -> Callable[[Reading | MemrecallError], None]:
    """``ready`` after ``convert``; an error passes as it is."""
    return lambda value: ready(value if isinstance(value, MemrecallError) else convert(value))
