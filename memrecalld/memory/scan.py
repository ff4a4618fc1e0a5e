"""All notes of one memory folder, at the cost of what changed in it since the last time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from memrecalld.errors import ProjectMemoryError
from memrecalld.memory.document import Document
from memrecalld.memory.entry import Entry, EntryReader, Screen
from memrecalld.memory.layouts import Root
from memrecalld.memory.parse import decode
from memrecalld.memory.reader import (
    Refused,
    followed,
    followed_file,
    opened_root,
    real_path_of,
    signature_of,
)
from memrecalld.memory.secrets import secrets_in
from memrecalld.memory.skips import EXHAUSTED, Reason, Skip, Skips, reason_of
from memrecalld.memory.walk import Identity, Walk, identity_of


class RootScan(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass over a memory folder found."""

    root: Root
    state: Literal["read", "missing", "failed"]
    """``failed`` is for folders of user notes only; that of a project raises."""
    entries: dict[str, Entry]
    """By path under the root, in the order of the walk. Pass it to the next scan of the same root."""
    skipped: Mapping[Reason, int]
    """How many things were left out, by reason."""
    skips: tuple[Skip, ...]
    """The first of them by name."""
    read_files: int
    """Files that were read; the others had not changed."""
    changed: dict[str, Entry | None]
    """What differs from the previous scan; ``None`` for what is gone."""
    identity: Identity | None
    """Device and inode of the folder; ``None`` if it is missing or could not be opened."""
    unfinished: tuple[str, ...]
    """Paths of files that were being written: to be read again soon."""
    linked: bool
    """Something in it is reached through a link or has several names, so it can change without an event."""

    @property
    def documents(self) -> list[Document]:
        """All notes, in the order of the walk."""
        return [entry.document for entry in self.entries.values()]


def scan_root(
    root: Root,
    *,
    allowed: Sequence[str],
    previous: Mapping[str, Entry] | None = None,
    clock: Callable[[], int] = time.time_ns,
    entering: Callable[[int, str], None] = lambda _descriptor, _prefix: None,
    publish: Callable[[str, Entry], None] | None = None,
    screen: Screen | None = None,
) -> RootScan:
    """Read all topics under ``root``. Blocks; belongs in a worker thread.

    Args:
        allowed: real paths of the folders that links may lead into, ``root`` itself among them.
        previous: ``entries`` of an earlier scan. A file whose signature is the same is not read again.
        clock: the time now, nanoseconds since the epoch.
        entering: called with each folder's descriptor and prefix before it is listed.
        publish: called with each note that was read or found unchanged, on the calling thread.
        screen: says of each file that is read why it is not to become a note; ``screen_of(root)`` by default.

    Raises:
        ProjectMemoryError: the root is required, exists, and cannot be read.
    """
    known = {} if previous is None else previous
    skips = Skips()
    entries: dict[str, Entry] = {}
    state: Literal["read", "missing", "failed"] = "read"
    changed: dict[str, Entry | None] = {}
    identity: Identity | None = None
    unfinished: list[str] = []
    linked = False
    failure: Reason | None = None
    try:
        with opened_root(root.real_path) as descriptor:
            identity = identity_of(os.fstat(descriptor))
            walk = Walk(descriptor, allowed=allowed, skips=skips, entering=entering, previous=known)
            reader = EntryReader(root, clock, screen or screen_of(root))
            for path, entry, fresh in _read_entries(walk, reader, known):
                if entry is None or entry.provisional:
                    unfinished.append(path)
                if entry is None:
                    continue
                entries[path] = entry
                if fresh:
                    changed[path] = entry
                if publish is not None:
                    publish(path, entry)
            linked = walk.linked
    except FileNotFoundError:
        state = "missing"
    except OSError as error:
        failure = reason_of(error)
    if failure is not None:
        # Raised out here, so that the system's error, which names the path, is no part of the traceback.
        if root.required:
            raise ProjectMemoryError(failure, root.path)
        state = "failed"
        entries.clear()
        changed.clear()
        skips.add("", failure)
    read_files = len(changed)
    changed.update(dict.fromkeys(known.keys() - entries.keys()))
    return RootScan(
        root=root,
        state=state,
        entries=entries,
        skipped=skips.counts,
        skips=skips.listed,
        read_files=read_files,
        changed=changed,
        identity=identity,
        unfinished=tuple(unfinished),
        linked=linked,
    )


def screen_of(root: Root) -> Screen | None:
    """What the files of a memory folder are screened by.

    Notes that come with a repository, and that its other users get too, are no place for secrets: one that
    seems to hold any is not handed to a model. Notes of the user's own are theirs.
    """
    return _first_secret if root.layout == "team" else None


def _first_secret(_path: str, data: bytes) -> Reason | None:
    return next(iter(secrets_in(decode(data))), None)


def _read_entries(
    walk: Walk, reader: EntryReader, previous: Mapping[str, Entry]
) -> Iterator[tuple[str, Entry | None, bool]]:
    """Each note by its path, and whether its file was read for it; no note where it is only being written."""
    for found in walk.topics():
        path = found.relative_path
        old = previous.get(path)
        if old is not None and old.signature == signature_of(found.status):
            yield path, old, False
            continue
        try:
            entry = reader.entry(found, old.document if old is not None else None)
        except Refused as refused:
            walk.skips.add(path, refused.reason)
            if refused.reason == "being-written":
                yield path, None, False
        except OSError as error:
            walk.failed(path, error)
        else:
            yield path, entry, True


_ATTEMPTS: Final = 5


class BeingWritten(Exception):
    """A file is half-written, and there is no earlier form of it."""


class Unfollowable(Exception):
    """A file that events do not tell of: it is a link, has several names, or does not hold still."""


def read_entry(root: Root, relative_path: str, old: Entry | None, *, allowed: Sequence[str]) -> Entry | None:
    """The note at one path as its file is now; ``None`` if it is not there to be read.

    Blocks. Opens the file anew and checks where it lies.

    Raises:
        BeingWritten: it is new, and not whole yet.
        OSError: no file can be opened at all, which says nothing about this one.
        Unfollowable: see there.
    """
    for _ in range(_ATTEMPTS):
        try:
            return _read_entry(root, relative_path, old, allowed)
        except Refused as refused:
            if refused.reason == "being-written":
                raise BeingWritten from None
            if refused.reason != "vanished":
                return None
            # Another file took its place between two system calls: that one is meant.
        except OSError as error:
            if error.errno in EXHAUSTED:
                raise
            return None
    raise Unfollowable


def _read_entry(root: Root, relative_path: str, old: Entry | None, allowed: Sequence[str]) -> Entry:
    with (
        opened_root(root.real_path) as descriptor,
        followed(descriptor, relative_path, allowed) as (reference, status),
    ):
        found = followed_file(relative_path, reference, status)
        entry = EntryReader(root, time.time_ns, screen_of(root)).entry(
            found, old.document if old is not None else None
        )
        if os.fstat(reference).st_nlink == 0:
            raise Refused("vanished")
        if status.st_nlink > 1 or real_path_of(reference) != f"{root.real_path}/{relative_path}":
            raise Unfollowable
    return entry
