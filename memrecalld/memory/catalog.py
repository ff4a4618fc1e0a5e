"""All memory folders that the daemon holds.

The promise: every change of a file completed before a call is seen by that call.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from memrecalld.config import MemoryConfig
from memrecalld.errors import InvalidProject, MemrecallError
from memrecalld.memory.document import Document, Scope
from memrecalld.memory.folder import CallSoon, Folder
from memrecalld.memory.layouts import Layout, Places, Root, places
from memrecalld.memory.scan import reread


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of one project, up to date, project before user."""

    places: Places
    folders: tuple[Folder, ...]
    partial: bool = False
    """Some folder could not be read in time."""


class Catalog:
    """Folders by what they are, shared between all projects and clients.

    All methods are called on the event loop's thread, and so are their callbacks. What may block runs in
    threads.
    """

    def __init__(
        self, config: MemoryConfig, *, environment: Mapping[str, str], home: str, call_soon: CallSoon
    ) -> None:
        self._config = config
        self._environment = environment
        self._home = home
        self._call_soon = call_soon
        self._folders: dict[tuple[Root, tuple[str, ...]], Folder] = {}

    def read(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[Reading | MemrecallError], None],
    ) -> None:
        """Bring the folders of a project and of the user up to date.

        ``ready`` gets ``InvalidProject`` for a path that cannot name a project, and ``ProjectMemoryError``
        when the project's notes exist and cannot be read.
        """

        def located(found: Places | MemrecallError) -> None:
            if isinstance(found, MemrecallError):
                ready(found)
            else:
                self._refresh(found, ready)

        layouts = tuple(each for each in self._config.layouts if each not in exclude_layouts)
        self._locate(project_root, layouts, located)

    def reread(self, documents: Sequence[Document], ready: Callable[[list[Document]], None]) -> None:
        """The documents as they are on disk now, without those that are gone."""
        allowed = self._allowed_of(documents)

        def work() -> None:
            current = [reread(document, allowed=allowed[document.root]) for document in documents]
            self._call_soon(ready, [document for document in current if document is not None])

        _in_thread(work)

    def warm(self, project_root: str) -> None:
        """Read a project before anybody asks for it."""
        self.read(project_root, frozenset(), lambda _: None)

    def close(self) -> None:
        """Forget everything."""
        self._folders.clear()

    @property
    def topics(self) -> int:
        """Notes held in memory."""
        return sum(len(folder.documents) for folder in self._folders.values())

    @property
    def skipped(self) -> Mapping[str, int]:
        """What was left out of the folders held, by reason."""
        total: Counter[str] = Counter()
        for folder in self._folders.values():
            if folder.scan is not None:
                total.update(folder.scan.skipped)
        return total

    def _locate(
        self,
        project_root: str | None,
        layouts: tuple[Layout, ...],
        located: Callable[[Places | MemrecallError], None],
    ) -> None:
        config = self._config

        def work() -> None:
            found: Places | MemrecallError
            try:
                found = places(
                    project_root,
                    environment=self._environment,
                    home=self._home,
                    layouts=layouts,
                    extra_project_roots=config.extra_project_roots,
                    extra_user_roots=config.extra_user_roots,
                    trusted_projects=config.trusted_projects,
                )
            except InvalidProject as error:
                found = error
            self._call_soon(located, found)

        _in_thread(work)

    def _refresh(self, found: Places, ready: Callable[[Reading | MemrecallError], None]) -> None:
        folders = tuple(self._folder(root, found) for root in found.roots)
        unread = set(folders)

        def done(folder: Folder) -> None:
            unread.discard(folder)
            if unread:
                return
            for each in folders:
                if each.error is not None:
                    ready(each.error)
                    return
            ready(Reading(places=found, folders=folders))

        if not folders:
            ready(Reading(places=found, folders=()))
        for folder in folders:
            folder.refresh(lambda folder=folder: done(folder))  # type: ignore[misc]

    def _folder(self, root: Root, found: Places) -> Folder:
        # Links in a user's folder may not lead into a project's, so that it is the same folder for every
        # project.
        scopes: set[Scope] = {"user"} if root.scope == "user" else {"project", "user"}
        allowed = tuple(each.real_path for each in found.roots if each.scope in scopes)
        key = (root, allowed)
        if key not in self._folders:
            self._folders[key] = Folder(root, allowed, self._call_soon)
        return self._folders[key]

    def _allowed_of(self, documents: Sequence[Document]) -> dict[str, tuple[str, ...]]:
        wanted = {document.root for document in documents}
        return {root.real_path: allowed for root, allowed in self._folders if root.real_path in wanted}


def _in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="memrecalld-catalog", daemon=True).start()
