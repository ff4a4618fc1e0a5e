"""A session's record of what it has already been given."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, Protocol

from memrecalld.memory.document import Document

REMEMBERED_TOOLS: Final = 20
"""Distinct tool names a session remembers, most recent last."""

REMEMBERED_NOTES: Final = 4_096
"""Notes of one session's delivered set, 0.5 MB: no context holds as many."""


class SessionKey(NamedTuple):
    """A sub-agent's deliveries are its own: its parent's context never held them."""

    session_id: str
    agent_id: str


class DeliveredStore(Protocol):
    """Where delivered sets outlive the process. Identities and contents are digests, never paths or text."""

    def load(self, key: SessionKey) -> Mapping[bytes, bytes]:
        """The session's delivered set: note identity to content hash; empty for an unknown session."""

    def put(self, key: SessionKey, entries: Mapping[bytes, bytes]) -> None:
        """Add or replace entries; returns when they are safe from a kill of the process."""

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        """Take entries out again."""

    def clear(self, key: SessionKey) -> None:
        """Forget the session's whole set."""


class Handover:
    """Notes on their way to a session: given to no other turn from now on, and recorded when they go out."""

    def __init__(
        self, delivered: DeliveredSet, entries: Mapping[bytes, bytes], previous: Mapping[bytes, bytes]
    ) -> None:
        self.entries: Final = entries
        """Note identities and content hashes."""
        self.previous: Final = previous
        """What the session had of the same notes before."""
        self.recorded = False
        self._delivered = delivered
        self._taken_back = False

    def record(self) -> None:
        """Make it outlive the process; to be called right before the notes are written to a socket."""
        if not self.recorded:
            self.recorded = True
            self._delivered.record(self)

    def take_back(self) -> None:
        """The notes were never sent, or the prompt that they went into was thrown away."""
        if not self._taken_back:
            self._taken_back = True
            self._delivered.take_back(self)


class DeliveredSet:
    """Which notes, with which content, one session holds in its context.

    A note counts as delivered while its content is the one that went out last. A changed note may go out
    again, and so may one that was changed back, since what the model saw last was the text in between. A
    moved note keeps its content and is not repeated. Of more than ``REMEMBERED_NOTES`` the oldest are
    forgotten.
    """

    def __init__(self, key: SessionKey, store: DeliveredStore) -> None:
        self._key = key
        self._store = store
        self._entries = dict(store.load(key))
        self._contents = Counter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, document: Document) -> bool:
        if not self._entries:
            return False
        last = self._entries.get(identity(document))
        if last is None:
            return document.content_hash in self._contents
        return last == document.content_hash

    def hand_over(self, documents: Iterable[Document]) -> Handover:
        """``documents`` go out now."""
        entries = {identity(document): document.content_hash for document in documents}
        previous = {key: self._entries[key] for key in entries if key in self._entries}
        for key, content in entries.items():
            self._replace(key, content)
        return Handover(self, entries, previous)

    def record(self, handover: Handover) -> None:
        """Write down what still holds of a hand-over."""
        self._store.put(self._key, self._held(handover))
        if len(self._entries) > REMEMBERED_NOTES:
            oldest = list(itertools.islice(self._entries, len(self._entries) - REMEMBERED_NOTES))
            for key in oldest:
                self._replace(key, None)
            self._store.delete(self._key, oldest)

    def take_back(self, handover: Handover) -> None:
        """Undo a hand-over; what replaced it since stays."""
        for key, content in handover.entries.items():
            if self._entries.get(key) == content:
                self._replace(key, handover.previous.get(key))
        if handover.recorded:
            self._store.delete(self._key, handover.entries)
            if kept := self._held(handover):
                self._store.put(self._key, kept)

    def clear(self) -> None:
        """The session's context was cleared or compacted: it holds nothing any more."""
        self._store.clear(self._key)
        self._entries.clear()
        self._contents.clear()

    def _held(self, handover: Handover) -> dict[bytes, bytes]:
        return {key: self._entries[key] for key in handover.entries if key in self._entries}

    def _replace(self, key: bytes, content: bytes | None) -> None:
        last = self._entries.pop(key, None)
        if last is not None:
            self._contents[last] -= 1
            if not self._contents[last]:
                del self._contents[last]
        if content is not None:
            self._entries[key] = content
            self._contents[content] += 1


class Session:
    """One (session, agent): its delivered set, its recent tools, and how its last turn ended."""

    def __init__(self, key: SessionKey, store: DeliveredStore) -> None:
        self.key = key
        self.delivered = DeliveredSet(key, store)
        self.last_ended: tuple[str, Literal["already_delivered", "no_relevant_results"]] | None = None
        """Turn id and reason of a last turn that ended with nothing left to deliver."""
        self.last_turn: str | None = None
        """Id of the turn that was opened last."""
        self.used = 0.0
        """When it was last used, on the engine's clock."""
        self._tools: dict[str, None] = {}

    def remember_tools(self, names: Sequence[str]) -> None:
        """Note the names of used tools; of more than ``REMEMBERED_TOOLS`` the oldest go."""
        for name in names:
            self._tools.pop(name, None)
            self._tools[name] = None
        while len(self._tools) > REMEMBERED_TOOLS:
            del self._tools[next(iter(self._tools))]

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of recently used tools, most recent last."""
        return tuple(self._tools)


def identity(document: Document) -> bytes:
    """A note's identity in delivered sets: a digest of its path, since paths must not lie around in state
    files."""
    return blake2b(document.path.encode("utf-8", "surrogatepass"), digest_size=16).digest()
