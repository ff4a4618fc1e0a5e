"""A memory note as everything above the file system sees it."""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

import msgspec
import regex

Scope = Literal["project", "user"]
"""``project`` notes belong to one project; ``user`` notes go with the person."""

NoteType = Literal["user", "feedback", "project", "reference", "note"]
"""The four types agents write, and ``note`` for every other or missing one."""

Problem = Literal[
    "frontmatter-unclosed",
    "frontmatter-yaml",
    "frontmatter-repaired",
    "frontmatter-duplicate",
]
"""Why a recalled note deserves its owner's attention. ``unclosed``: no closing fence in reach, so that all of
the file is body. ``yaml``: no YAML, or YAML that is not accepted, and the known keys were read line by line.
``repaired``: YAML, but a text was kept as written where YAML would have cut or changed it. ``duplicate``: a
key stands there twice."""

BODY_WINDOW_CHARS: Final = 1_200
"""Characters of a note's body that are ever shown, and so the only ones that are ranked."""

PLACEHOLDER_BODY: Final = "_No entries yet._"
"""A body that agents write into a note they have not filled yet; it counts as empty."""


_WHOLE_CHARS: Final = 2_048
"""Length up to which a text is normalized as a whole."""

# A stretch that can be normalized by itself: none of it combines with what stands before it, since it begins
# with an ASCII character or with one that is no mark, final jamo or voicing mark. If 512 characters hold no
# such border, they end anywhere, which no writing needs.
_STRETCH = regex.compile(
    r"[\x00-\x7f]?[^\x00-\x7f]{1,512}(?![\p{M}\u1160-\u11ff\uff9e\uff9f])|[^\x00-\x7f]{1,512}"
)


def normalize(text: str) -> str:
    """The form in which queries and notes are compared: Unicode NFKC, then lower case.

    Lower casing comes last, since NFKC turns some symbols into capitals (``℡`` into ``TEL``).
    """
    return nfkc(text).lower()


def nfkc(text: str) -> str:
    """``text`` in Unicode NFKC.

    The time is in proportion to the length, whatever the text: sorting the marks of one long run of them, as
    NFKC does, would take minutes for a note or a query made for it.
    """
    if text.isascii():
        return text
    if len(text) <= _WHOLE_CHARS:
        return unicodedata.normalize("NFKC", text)
    return _STRETCH.sub(lambda stretch: unicodedata.normalize("NFKC", stretch[0]), text)


class Document(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One note, parsed. Immutable: an edited file becomes another ``Document``.

    ``gc=False`` is safe since a document refers to strings, numbers and tuples of strings only, and it
    matters with 100,000 of them.
    """

    scope: Scope
    root: str
    """Real absolute path of the memory folder that holds the note."""
    relative_path: str
    """Path under ``root``, with ``/``; for the eyes of a person."""
    type: NoteType
    type_label: str
    """The type as its author wrote it (``"Feedback"``, ``"decision"``, ``""``)."""
    title: str
    description: str
    """One line."""
    body: str
    """The deliverable window: stripped, at most ``BODY_WINDOW_CHARS`` code points, cut on a grapheme border;
    empty for the placeholder."""
    truncated: bool
    """The note's body goes on beyond ``body``."""
    modified_ns: int
    """Modification time, nanoseconds since the epoch."""
    content_hash: bytes
    """BLAKE2b-128 of the bytes read: equal for a file that was only touched."""
    usage_text: str = ""
    """Normalised full text of a note that describes the usage of a tool, else empty (``memory.usage``)."""
    keywords: tuple[str, ...] = ()
    usage_scenarios: tuple[str, ...] = ()
    unfilled: bool = False
    """The body is the placeholder: the note's author has announced it and not written it."""
    problem: Problem | None = None
    """What had to be mended to read the note; for a status report."""

    @property
    def path(self) -> str:
        """Absolute path of the file; with ``content_hash`` the note's identity for a session."""
        return f"{self.root}/{self.relative_path}"
