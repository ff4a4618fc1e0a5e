"""All notes of one memory folder, at the cost of what changed in it since the last time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from memrecalld.errors import ProjectMemoryError
from memrecalld.memory.document import Document
from memrecalld.memory.entry import Entry, EntryReader
from memrecalld.memory.layouts import Root
from memrecalld.memory.reader import Refused, followed, followed_file, opened_root, signature_of
from memrecalld.memory.skips import EXHAUSTED, Reason, Skip, Skips, reason_of
from memrecalld.memory.walk import Walk


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
) -> RootScan:
    """Read all topics under ``root``. Blocks; belongs in a worker thread.

    Args:
        allowed: real paths of the folders that links may lead into, ``root`` itself among them.
        previous: ``entries`` of an earlier scan. A file whose signature is the same is not read again.
        clock: the time now, nanoseconds since the epoch.

    Raises:
        ProjectMemoryError: the root is required, exists, and cannot be read.
    """
    skips = Skips()
    entries: dict[str, Entry] = {}
    state: Literal["read", "missing", "failed"] = "read"
    read_files = 0
    failure: Reason | None = None
    try:
        with opened_root(root.real_path) as descriptor:
            walk = Walk(descriptor, allowed=allowed, skips=skips)
            read_files = _read_entries(entries, walk, root, previous or {}, clock)
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
        skips.add("", failure)
    return RootScan(
        root=root,
        state=state,
        entries=entries,
        skipped=skips.counts,
        skips=skips.listed,
        read_files=read_files,
    )


def _read_entries(
    entries: dict[str, Entry],
    walk: Walk,
    root: Root,
    previous: Mapping[str, Entry],
    clock: Callable[[], int],
) -> int:
    """Fill ``entries`` and return how many files were read for it."""
    reader = EntryReader(root.scope, root.real_path, clock)
    read_files = 0
    for found in walk.topics():
        path = found.relative_path
        old = previous.get(path)
        if old is not None and old.signature == signature_of(found.status):
            entries[path] = old
            continue
        read_files += 1
        try:
            entries[path] = reader.entry(found, old.document if old is not None else None)
        except Refused as refused:
            walk.skips.add(path, refused.reason)
        except OSError as error:
            walk.failed(path, error)
    return read_files


def reread(document: Document, *, allowed: Sequence[str]) -> Document | None:
    """The note as its file is now; ``document`` itself if unchanged, ``None`` if it is not there to be read.

    Blocks. Opens the file anew and checks where it lies, so it can stand right before a delivery.

    Raises:
        OSError: no file can be opened at all, which says nothing about this one.
    """
    try:
        with (
            opened_root(document.root) as descriptor,
            followed(descriptor, document.relative_path, allowed) as (reference, status),
        ):
            found = followed_file(document.relative_path, reference, status)
            return EntryReader(document.scope, document.root, time.time_ns).entry(found, document).document
    except Refused:
        return None
    except OSError as error:
        if error.errno in EXHAUSTED:
            raise
        return None
