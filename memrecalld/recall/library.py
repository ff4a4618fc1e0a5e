"""The catalog's folders as pools that can be searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from memrecalld.errors import MemrecallError, NoSuchNote
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.document import Document, Scope
from memrecalld.memory.folder import Folder
from memrecalld.memory.layouts import RootLayout
from memrecalld.memory.pool import capped
from memrecalld.recall.indexing import CallLater, FolderIndex
from memrecalld.recall.pool import IndexedPool, Pool
from memrecalld.recall.prompt import displayable

R = TypeVar("R")

READ_S: Final = 0.060
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


class Library:
    """What the engine and the handlers want to know of the notes on disk."""

    def __init__(self, catalog: Catalog, call_later: CallLater) -> None:
        self._catalog = catalog
        self._call_later = call_later
        self._indexes: WeakKeyDictionary[Folder, FolderIndex] = WeakKeyDictionary()

    def pool(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[Pool | MemrecallError], None],
        *,
        whole: bool = False,
    ) -> None:
        """Every change completed before this call is in the pool that ``ready`` gets.

        It may be partial where that would take long, unless the ``whole`` is wanted.
        """

        def pool(reading: Reading | MemrecallError) -> None:
            if isinstance(reading, MemrecallError):
                ready(reading)
                return
            indexes = [self._index(folder) for folder in reading.folders]
            partial = reading.partial
            if whole:
                _when_current(indexes, lambda: ready(IndexedPool(indexes, partial=partial)))
            else:
                ready(IndexedPool(indexes, partial=partial))

        self._catalog.read(project_root, exclude_layouts, pool, within_s=None if whole else READ_S)

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

    def note(
        self, project_root: str | None, path: str, ready: Callable[[Document | MemrecallError], None]
    ) -> None:
        """The note whose path is shown as ``path``, as it is now; ``NoSuchNote`` if it is none of these.

        Only what is held is looked through: no path that a client names is ever opened.
        """

        def find(reading: Reading) -> Document | MemrecallError:
            for folder in reading.folders:
                root = f"{displayable(folder.root.real_path)}/"
                if path.startswith(root) and (document := folder.get(path.removeprefix(root))) is not None:
                    return document
            return NoSuchNote("no note of this project or of the user has this path; memory/list names them")

        self._catalog.read(project_root, frozenset(), _then(find, ready))

    def describe(
        self, project_root: str | None, ready: Callable[[ProjectMemory | MemrecallError], None]
    ) -> None:
        """Which folders a project's memory is in, and what was left out of them."""
        # What was left out is known from whole readings only.
        self._catalog.read(project_root, frozenset(), _then(_describe, ready), compare=True)

    def warm(self, project_root: str) -> None:
        """Read and index a project before anybody asks for it."""

        def index(reading: Reading) -> None:
            for folder in reading.folders:
                self._index(folder)

        self._catalog.read(project_root, frozenset(), _then(index, lambda _: None))

    def _index(self, folder: Folder) -> FolderIndex:
        index = self._indexes.get(folder)
        if index is None:
            index = self._indexes[folder] = FolderIndex(folder, self._call_later)
        return index


def _when_current(indexes: Sequence[FolderIndex], done: Callable[[], None]) -> None:
    """Call ``done`` when everything is filed. To look at it one by one would hold up everybody else."""
    behind = next((index for index in indexes if index.behind), None)
    if behind is None:
        done()
    else:
        behind.when_current(lambda: _when_current(indexes, done))


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
