"""All memory folders that the daemon holds.

The promise: every change of a file completed before a call is seen by that call.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

import msgspec

from memrecalld.config import MemoryConfig
from memrecalld.errors import InvalidProject, MemrecallError
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.document import Document, Scope
from memrecalld.memory.filesystem import is_local
from memrecalld.memory.folder import Folder
from memrecalld.memory.layouts import Places, Root
from memrecalld.memory.resolver import Resolution, Resolver
from memrecalld.memory.watcher import Watcher

HELD_FOLDERS: Final = 1_024
"""Beyond, those that do not exist are forgotten, the ones asked for longest ago first."""


class Timer(Protocol):
    """A call that can be called off."""

    def cancel(self) -> None: ...


class Loop(Protocol):
    """What the catalog needs of an event loop."""

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: object) -> object: ...

    def call_later(self, delay: float, callback: Callable[..., object], *args: object) -> Timer: ...


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of one project, project before user."""

    places: Places | None
    """``None`` if even the way to them could not be looked up in time."""
    folders: tuple[Folder, ...]
    partial: bool
    """Some folder is not up to date: it holds what was known before, or was read so far."""


class Catalog:
    """Folders by what they are, shared between all projects and clients.

    All methods are called on the event loop's thread, and so are their callbacks. What may block runs in
    threads.
    """

    def __init__(
        self,
        config: MemoryConfig,
        *,
        environment: Mapping[str, str],
        home: str,
        loop: Loop,
        watcher: Watcher | None,
        cache: NoteCache | None = None,
    ) -> None:
        self._loop = loop
        self._watcher = watcher
        self._watching = watcher is not None
        self._config = config
        self._cache = cache
        self._environment = environment
        self._home = home
        self._closed = False
        self._resolver = self._make_resolver(config)
        self._folders: dict[tuple[Root, tuple[str, ...]], Folder] = {}
        self._former: dict[tuple[Root, tuple[str, ...]], Folder] = {}
        """Held under a former configuration, and not asked for since."""

    def _make_resolver(self, config: MemoryConfig) -> Resolver:
        return Resolver(
            config,
            environment=self._environment,
            home=self._home,
            call_soon=self._call_soon,
        )

    def _call_soon(self, callback: Callable[..., object], *arguments: object) -> None:
        """From a thread to the loop's: what is read after the end is for nobody."""

        def call() -> None:
            if not self._closed:
                callback(*arguments)

        with suppress(RuntimeError):  # the loop is closed, too
            self._loop.call_soon_threadsafe(call)

    def reconfigure(self, config: MemoryConfig, watcher: Watcher | None) -> None:
        """From the next call of ``read`` on, the folders are those of another configuration.

        What is being read for calls before goes on, and notes that they found can still be read again.
        Without ``watcher`` no events are used; once there was one, it is the same each time.
        """
        self._config = config
        self._resolver = self._make_resolver(config)
        self._former |= self._folders
        self._folders = {}
        if watcher is not None:
            self._watcher = watcher
        if self._watching is not (watcher is not None):
            self._watching = not self._watching
            for folder in self._former.values():
                folder.use_events(self._watcher_for(folder.root))

    def _watcher_for(self, root: Root) -> Watcher | None:
        return self._watcher if self._watching and is_local(root.real_path) else None

    def read(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[Reading | MemrecallError], None],
        *,
        within_s: float | None = None,
        compare: bool = False,
    ) -> None:
        """Bring the folders of a project and of the user up to date; ``ready`` is called at once if nothing
        changed.

        ``ready`` gets ``InvalidProject`` for a path that cannot name a project, and ``ProjectMemoryError``
        when the project's notes exist and cannot be read. After ``within_s`` seconds it gets what there is,
        as partial. With ``compare`` no event is trusted.
        """
        if self._watcher is not None:
            self._watcher.drain()
        reading = _Round(self, ready, compare=compare)
        self._resolver.resolve(project_root, exclude_layouts, reading.resolved)
        if within_s is not None and not reading.over:
            reading.timer = self._loop.call_later(within_s, reading.give_up)

    def reread(
        self,
        documents: Sequence[Document],
        ready: Callable[[list[Document] | None], None],
        *,
        within_s: float,
    ) -> None:
        """The documents as they are on disk now, without those that are gone.

        ``None`` if a file system did not answer within ``within_s`` seconds.
        """
        if self._watcher is not None:
            self._watcher.drain()
        folders = [*self._folders.values(), *self._former.values()]
        _Rereading(self._loop, folders, documents, ready, within_s)

    def folder(self, root: Root, found: Places) -> Folder:
        """The folder of a root, among the roots of one project."""
        # Links in a user's folder may not lead into a project's, so that it is the same folder for every
        # project.
        scopes: set[Scope] = {"user"} if root.scope == "user" else {"project", "user"}
        allowed = tuple(each.real_path for each in found.roots if each.scope in scopes)
        key = (root, allowed)
        if key in self._former:
            self._folders[key] = self._former.pop(key)
        folder = self._folders.pop(key, None)
        if folder is None:
            folder = Folder(
                root,
                allowed,
                call_soon=self._call_soon,
                watcher=self._watcher_for(root),
                cache=self._cache,
            )
            self._forget_missing()
        self._folders[key] = folder  # asked for last, last
        return folder

    def _forget_missing(self) -> None:
        """Folders that do not exist are remembered up to a number: clients can name as many as they like."""
        surplus = len(self._folders) - HELD_FOLDERS + 1
        if surplus > 0:
            missing = (key for key, folder in self._folders.items() if folder.missing)
            for key in list(itertools.islice(missing, surplus)):
                del self._folders[key]

    def close(self) -> None:
        """Keep what a next process can use, and forget everything; what is being read comes to nothing."""
        self._closed = True
        for folder in [*self._folders.values(), *self._former.values()]:
            folder.save()
        if self._cache is not None:
            self._cache.close()
        self._folders.clear()
        self._former.clear()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    @property
    def caching(self) -> bool:
        """What was read is kept on disk for the next process."""
        return self._cache is not None and self._cache.usable

    @property
    def watching(self) -> bool:
        """No folder goes without events that the configuration wants and its file system would have."""
        if not self._config.watch:
            return True
        return self._watching and not any(folder.unwatched for folder in self._folders.values())

    @property
    def topics(self) -> int:
        """Notes held in memory."""
        return sum(len(folder) for folder in self._folders.values())

    @property
    def skipped(self) -> Mapping[str, int]:
        """What was left out of the folders held, by reason."""
        total: Counter[str] = Counter()
        for folder in self._folders.values():
            if folder.scan is not None:
                total.update(folder.scan.skipped)
        return total


class _Round:
    """One reading: the folders it waits for, and who waits for it."""

    def __init__(
        self,
        catalog: Catalog,
        ready: Callable[[Reading | MemrecallError], None],
        *,
        compare: bool,
    ) -> None:
        self._catalog = catalog
        self._ready: Callable[[Reading | MemrecallError], None] | None = ready
        self._compare = compare
        self._places: Places | None = None
        self._folders: tuple[Folder, ...] = ()
        self._unread: set[Folder] = set()
        self.timer: Timer | None = None

    @property
    def over(self) -> bool:
        """``ready`` was called."""
        return self._ready is None

    def resolved(self, found: Resolution | InvalidProject) -> None:
        """The folders are known: bring each up to date."""
        if isinstance(found, InvalidProject):
            self._end(found)
            return
        self._places = found.places
        self._folders = tuple(self._catalog.folder(root, found.places) for root in found.places.roots)
        self._unread = set(self._folders)
        for folder, identity in zip(self._folders, found.identities, strict=True):
            if self._compare:
                folder.compare()
            folder.refresh(identity, partial(self._read, folder))
        if not self._folders:
            self._conclude()

    def _read(self, folder: Folder) -> None:
        self._unread.discard(folder)
        if not self._unread:
            self._conclude()

    def _conclude(self, *, partial: bool = False) -> None:
        for folder in self._folders:
            if folder.error is not None:
                self._end(folder.error)
                return
        self._end(Reading(places=self._places, folders=self._folders, partial=partial))

    def give_up(self) -> None:
        """The time is over: what is known of a folder stands in, and so does that it could not be read."""
        self._conclude(partial=True)

    def _end(self, result: Reading | MemrecallError) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self._ready is not None:
            ready, self._ready = self._ready, None
            ready(result)


class _Rereading:
    """Some documents on their way from several folders."""

    def __init__(
        self,
        loop: Loop,
        folders: Sequence[Folder],
        documents: Sequence[Document],
        ready: Callable[[list[Document] | None], None],
        within_s: float,
    ) -> None:
        self._documents = documents
        self._ready: Callable[[list[Document] | None], None] | None = ready
        self._holders = {document: _holder(folders, document) for document in documents}
        self._unread = {folder for folder in self._holders.values() if folder is not None}
        self._timer: Timer | None = None
        for folder in list(self._unread):
            paths = [each.relative_path for each, holder in self._holders.items() if holder is folder]
            folder.reread(paths, partial(self._read, folder))
        if self._ready is not None:
            if self._unread:
                self._timer = loop.call_later(within_s, self._end, None)
            else:
                self._conclude()

    def _read(self, folder: Folder) -> None:
        self._unread.discard(folder)
        if not self._unread:
            self._conclude()

    def _conclude(self) -> None:
        current = [
            None if (folder := self._holders[each]) is None else folder.get(each.relative_path)
            for each in self._documents
        ]
        self._end([document for document in current if document is not None])

    def _end(self, result: list[Document] | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._ready is not None:
            ready, self._ready = self._ready, None
            ready(result)


def _holder(folders: Sequence[Folder], document: Document) -> Folder | None:
    return next((folder for folder in folders if folder.holds(document)), None)
