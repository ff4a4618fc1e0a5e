"""Which files under a memory folder are topics.

Notes are ``*.md`` at any depth up to ``MAX_DEPTH``. ``MEMORY.md`` is an index of them; hidden files and
folders, ``node_modules`` and the temporary files of editors are none. A link inside is followed where it
stays inside the allowed folders. Everything is taken under its own name first: a link to what was met already
is a duplicate, and a link to a folder that it lies in is a loop, so each file is given at most once and every
walk ends.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from errno import ENOENT
from typing import Final, Literal, NamedTuple

from memrecalld.memory.reader import (
    Found,
    Refused,
    followed,
    followed_file,
    open_folder,
    open_followed_folder,
)
from memrecalld.memory.skips import EXHAUSTED, Skips, reason_of

MAX_DEPTH: Final = 16
"""Folders below the root in which notes are looked for; each costs a descriptor while the walk is in it."""

INDEX_NAME: Final = "MEMORY.md"

_LISTINGS: Final = 3

TICK_NS: Final = 100_000_000
"""Nanoseconds within which something can change twice and keep its times: the kernel's clock ticks every 1 to
10 ms."""

Identity = tuple[int, int]
"""Device and inode."""


class _Link(NamedTuple):
    relative_path: str
    ancestors: tuple[Identity, ...]


def is_topic_name(name: str) -> bool:
    """Whether a file of this name is a note, going by the name alone."""
    lower = name.lower()
    return (
        lower.endswith(".md")
        and name != INDEX_NAME
        # Hidden; Emacs' auto-save and Office's lock files; temporary and backup files with the suffix at the
        # end.
        and not name.startswith((".", "#", "~"))
        and not lower.endswith(("~.md", ".tmp.md", ".swp.md", ".bak.md"))
    )


class _Listing(NamedTuple):
    entries: dict[str, os.DirEntry[str]]
    steady: bool
    """The folder did not change meanwhile, so nothing can have been passed over."""


class Walk:
    """One pass over a memory folder. Blocking; holds one descriptor for each level and no more."""

    def __init__(
        self,
        root: int,
        *,
        allowed: Sequence[str],
        skips: Skips,
        entering: Callable[[int, str], None] = lambda _descriptor, _prefix: None,
        previous: Collection[str] = (),
    ) -> None:
        """``root`` is a descriptor of the folder, ``allowed`` the real paths that links may lead into.

        ``entering`` is called with the descriptor of each folder and the prefix of the relative paths in it,
        before the folder is listed. ``previous`` holds the relative paths that were found the last time:
        where a folder changes while it is listed, they are looked for by name.
        """
        self._previous = previous
        self._root = root
        self._allowed = allowed
        self._entering = entering
        self.skips = skips
        self.linked = False
        """Something was reached through a link, or has several names: it can change without an event here."""
        self._folders: set[Identity] = set()
        self._files: set[Identity] = set()
        self._links: deque[_Link] = deque()

    def topics(self) -> Iterator[Found]:
        """Every topic once, in the order of names, what is reached through links last.

        Raises:
            OSError: the root cannot be listed, or there are no descriptors left to go on with.
        """
        yield from self._folder(self._root, "", ())
        while self._links:
            yield from self._follow(self._links.popleft())

    def _folder(self, descriptor: int, prefix: str, above: tuple[Identity, ...]) -> Iterator[Found]:
        status = os.fstat(descriptor)
        identity = identity_of(status)
        if identity in self._folders:
            self.skips.add(prefix.rstrip("/"), "duplicate")
            return
        self._folders.add(identity)
        ancestors = (*above, identity)
        self._entering(descriptor, prefix)
        try:
            listed = _list(descriptor, status)
        except OSError as error:
            if not prefix:
                raise
            self.failed(prefix.rstrip("/"), error)
            return
        folders: list[str] = []
        for name, entry in sorted(listed.entries.items()):
            match self._kind(prefix, entry):
                case "link":
                    self._links.append(_Link(prefix + name, ancestors))
                case "folder":
                    folders.append(name)
                case "file":
                    yield from self._file(descriptor, prefix, name, ancestors)
        if not listed.steady:
            for name in self._expected(prefix) - listed.entries.keys():
                yield from self._file(descriptor, prefix, name, ancestors, expected=True)
        for name in folders:
            yield from self._subfolder(descriptor, prefix, name, ancestors)

    def _expected(self, prefix: str) -> set[str]:
        """Names of the notes that a folder held the last time."""
        names = (path[len(prefix) :] for path in self._previous if path.startswith(prefix))
        return {name for name in names if "/" not in name}

    def _kind(self, prefix: str, entry: os.DirEntry[str]) -> Literal["file", "folder", "link"] | None:
        """What to take ``entry`` for; ``None`` if it is no topic and cannot lead to any."""
        name = entry.name
        if name.startswith("."):
            return None
        kind: Literal["file", "folder", "link"]
        try:
            if entry.is_symlink():
                kind = "link"
            elif entry.is_dir(follow_symlinks=False):
                kind = "folder"
            else:
                kind = "file"
        except OSError as error:  # from file systems whose listings do not tell
            self.failed(prefix + name, error)
            return None
        if (kind == "file" and not is_topic_name(name)) or (kind == "folder" and name == "node_modules"):
            return None
        try:
            name.encode()
        except UnicodeEncodeError:
            self.skips.add(prefix + name, "name-not-unicode")
            return None
        return kind

    def _file(
        self,
        directory: int,
        prefix: str,
        name: str,
        ancestors: tuple[Identity, ...],
        *,
        expected: bool = False,
    ) -> Iterator[Found]:
        """``expected``: it was not listed, so that it may well be gone."""
        try:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            if expected and error.errno == ENOENT:
                return
            self.failed(prefix + name, error)
            return
        if stat.S_ISREG(status.st_mode):
            if status.st_nlink > 1:
                self.linked = True
            self._files.add(identity_of(status))
            yield Found(prefix + name, status, name, directory)
        elif stat.S_ISLNK(status.st_mode):  # swapped since it was listed
            self._links.append(_Link(prefix + name, ancestors))
        else:
            self.skips.add(prefix + name, "not-a-regular-file")

    def _subfolder(
        self, directory: int, prefix: str, name: str, ancestors: tuple[Identity, ...]
    ) -> Iterator[Found]:
        if len(ancestors) > MAX_DEPTH:
            self.skips.add(prefix + name, "too-deep")
            return
        try:
            descriptor = open_folder(name, directory)
        except OSError as error:
            self.failed(prefix + name, error)
            return
        try:
            yield from self._folder(descriptor, f"{prefix}{name}/", ancestors)
        finally:
            os.close(descriptor)

    def _follow(self, link: _Link) -> Iterator[Found]:
        path = link.relative_path
        self.linked = True
        is_topic = is_topic_name(path.rpartition("/")[2])
        try:
            with followed(self._root, path, self._allowed) as (reference, status):
                identity = identity_of(status)
                if stat.S_ISDIR(status.st_mode):
                    yield from self._follow_folder(link, reference, identity)
                elif is_topic and identity in self._files:
                    self.skips.add(path, "duplicate")
                elif is_topic:
                    found = followed_file(path, reference, status)
                    self._files.add(identity)
                    yield found
        except Refused as refused:
            self.skips.add(path, refused.reason)
        except OSError as error:
            self.failed(path, error)

    def _follow_folder(self, link: _Link, reference: int, identity: Identity) -> Iterator[Found]:
        if identity in link.ancestors:
            self.skips.add(link.relative_path, "link-loop")
        elif identity in self._folders:
            self.skips.add(link.relative_path, "duplicate")
        elif len(link.ancestors) > MAX_DEPTH:
            self.skips.add(link.relative_path, "too-deep")
        else:
            descriptor = open_followed_folder(reference)
            try:
                yield from self._folder(descriptor, f"{link.relative_path}/", link.ancestors)
            finally:
                os.close(descriptor)

    def failed(self, relative_path: str, error: OSError) -> None:
        """Count a file or folder as skipped for ``error``, unless the error says nothing about it; then
        raise."""
        if error.errno in EXHAUSTED:
            raise error
        self.skips.add(relative_path, reason_of(error))


def _list(descriptor: int, before: os.stat_result) -> _Listing:
    """What a folder holds. ``before`` is its status before this.

    A listing can pass over a name that is renamed or replaced during it (readdir(3p)); so while the folder
    changes it is listed again, a few times, and what any listing had is taken.
    """
    found: dict[str, os.DirEntry[str]] = {}
    for _ in range(_LISTINGS):
        with os.scandir(descriptor) as entries:
            found.update((entry.name, entry) for entry in entries)
        after = os.fstat(descriptor)
        # Within a tick of the clock a folder can change twice and keep its times.
        quiet = time.time_ns() - after.st_ctime_ns > TICK_NS
        if quiet and after.st_ctime_ns == before.st_ctime_ns:
            return _Listing(found, steady=True)
        before = after
    return _Listing(found, steady=False)


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode of what ``status`` describes."""
    return (status.st_dev, status.st_ino)
