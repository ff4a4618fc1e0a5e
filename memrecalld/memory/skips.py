"""What was left out of a scan, and why: nothing is skipped in silence."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from memrecalld.memory.secret_rules import Rule

Reason = (
    Literal[
        "unreadable",  # not permitted
        "io-error",  # the file system failed
        "vanished",  # gone since it was listed, or a link to nothing
        "outside-roots",  # a link that leads out of the memory folders
        "link-loop",  # a link to itself or to a folder that it lies in
        "duplicate",  # a link to what the scan has met under its own name
        "not-a-regular-file",  # a pipe, a socket, a device
        "not-a-directory",  # a memory folder that is a file
        "too-deep",  # below the deepest level
        "name-not-unicode",  # a name that no JSON text can hold
        "moved",  # a memory folder that a link leads elsewhere from, since the moment it was looked up
        "being-written",  # new and half-written; a note as soon as it is whole
        "no-descriptors",  # the process or the system cannot open any more files
    ]
    | Rule  # a note of a repository that seems to hold a secret
)

MAX_LISTED: Final = 100
"""Skipped paths that are kept by name; beyond, they are counted only."""

EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say nothing about the file at hand: to skip it would lose it for no fault of its own."""

_REASONS: Final[dict[int, Reason]] = {
    errno.EACCES: "unreadable",
    errno.EPERM: "unreadable",
    errno.ENOENT: "vanished",
    errno.ELOOP: "link-loop",
    errno.ENOTDIR: "not-a-directory",
    errno.ENXIO: "not-a-regular-file",  # open(2) of a socket
    errno.ENODEV: "not-a-regular-file",
    errno.ESTALE: "moved",
    **dict.fromkeys(EXHAUSTED, "no-descriptors"),
}


class Skip(msgspec.Struct, frozen=True):
    """One thing left out. ``relative_path`` is for the owner's eyes, empty for the memory folder itself."""

    relative_path: str
    reason: Reason


class Skips:
    """Collects what one scan leaves out: every count, and the first ``MAX_LISTED`` names."""

    def __init__(self) -> None:
        self._counts: Counter[Reason] = Counter()
        self._listed: list[Skip] = []

    def add(self, relative_path: str, reason: Reason) -> None:
        self._counts[reason] += 1
        if len(self._listed) < MAX_LISTED:
            # A name that is not Unicode is shown with its odd bytes escaped.
            shown = relative_path.encode(errors="surrogateescape").decode(errors="backslashreplace")
            self._listed.append(Skip(shown, reason))

    @property
    def counts(self) -> Mapping[Reason, int]:
        return dict(self._counts)

    @property
    def listed(self) -> tuple[Skip, ...]:
        return tuple(self._listed)


def reason_of(error: OSError) -> Reason:
    """The reason code of a failed system call."""
    return _REASONS.get(error.errno or 0, "io-error")
