"""A session's record of what it has already been given."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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


class DeliveryId(NamedTuple):
    """Names one delivery, and whom it went to: a client says by it what it has received."""

    series: int
    """Number of the first of the deliveries that went to the same client."""
    number: int
    """Increases with each delivery of the daemon, over all sessions and restarts."""

    def __str__(self) -> str:
        return f"{self.series}.{self.number}"

    @classmethod
    def parse(cls, text: str) -> DeliveryId | None:
        """The opposite of ``str``; None for anything else."""
        if (match := _DELIVERY_ID.fullmatch(text)) is None:
            return None
        return cls(*map(int, match.groups()))


_DELIVERY_ID: Final = re.compile(r"([0-9]{1,19})\.([0-9]{1,19})")


class Entry(NamedTuple):
    """What a session was given of one note last."""

    content: bytes
    """Hash of the content."""
    delivery: DeliveryId


Held = Callable[[], Iterable[tuple[SessionKey, Mapping[bytes, Entry]]]]
"""The delivered sets that are in memory when it is called, by note identity."""


class DeliveredStore(Protocol):
    """Where delivered sets outlive the process. Identities and contents are digests, never paths or text."""

    first_number: int
    """Deliveries with smaller numbers are of earlier processes."""

    def next_number(self) -> int:
        """The next number of a delivery."""

    def load(self, key: SessionKey) -> Mapping[bytes, Entry]:
        """The session's delivered set, by note identity; empty for an unknown session."""

    def put(self, key: SessionKey, entries: Mapping[bytes, Entry]) -> None:
        """Add or replace entries; returns when they are safe from a kill of the process."""

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        """Take entries out again."""

    def clear(self, key: SessionKey) -> None:
        """Forget the session's whole set."""

    def keep(self, held: Held) -> None:
        """What is ``held`` belongs into whatever the store has to begin anew, whenever that is."""


class Handover:
    """Notes on their way to a session: given to no other turn from now on, and recorded when they go out."""

    def __init__(
        self, delivered: DeliveredSet, entries: Mapping[bytes, Entry], previous: Mapping[bytes, Entry]
    ) -> None:
        self.entries: Final = entries
        """By note identity."""
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

    A hand-over of an earlier process may have been recorded without that it arrived: the process was killed
    before it wrote it. Only the client can tell, with ``settle``.
    """

    def __init__(self, key: SessionKey, store: DeliveredStore) -> None:
        self._key = key
        self._store = store
        self._entries = dict(store.load(key))
        self._contents = Counter(entry.content for entry in self._entries.values())
        self._unsettled: dict[int, list[bytes]] = {}
        for each, entry in self._entries.items():
            if entry.delivery.number < store.first_number:
                self._unsettled.setdefault(entry.delivery.series, []).append(each)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Mapping[bytes, Entry]:
        """What is held, by note identity, oldest first."""
        return self._entries

    def __contains__(self, document: Document) -> bool:
        if not self._entries:
            return False
        last = self._entries.get(identity(document))
        if last is None:
            return document.content_hash in self._contents
        return last.content == document.content_hash

    def settle(self, last: str | None) -> int | None:
        """A client says which delivery to it was the ``last`` that it received; returns its series.

        What an earlier process recorded as given to it after that never arrived, and may be given again.
        ``""`` stands for none, of all that the session is recorded to have; None, and what is no id, says
        nothing, and there is no series.
        """
        delivery = None if last is None else DeliveryId.parse(last)
        if delivery is not None:
            # Once: a client that says less later has two messages under way.
            doubtful = self._unsettled.pop(delivery.series, [])
            number = delivery.number
        elif last == "":
            doubtful = [each for series in self._unsettled.values() for each in series]
            self._unsettled.clear()
            number = -1
        else:
            return None
        # What this process gave is not asked about: there the connection knows what was sent.
        lost = [
            key
            for key in doubtful
            if (entry := self._entries.get(key)) is not None
            and number < entry.delivery.number < self._store.first_number
        ]
        if lost:
            for key in lost:
                self._replace(key, None)
            self._store.delete(self._key, lost)
        return None if delivery is None else delivery.series

    def next_delivery(self, series: int | None) -> DeliveryId:
        """The id of the next hand-over; None begins a new series."""
        number = self._store.next_number()
        return DeliveryId(number if series is None else series, number)

    def hand_over(self, documents: Iterable[Document], delivery: DeliveryId) -> Handover:
        """``documents`` go out now."""
        entries = {identity(document): Entry(document.content_hash, delivery) for document in documents}
        previous = {key: self._entries[key] for key in entries if key in self._entries}
        for key, entry in entries.items():
            self._replace(key, entry)
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
        for key, entry in handover.entries.items():
            if self._entries.get(key) == entry:
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
        self._unsettled.clear()

    def _held(self, handover: Handover) -> dict[bytes, Entry]:
        return {key: self._entries[key] for key in handover.entries if key in self._entries}

    def _replace(self, key: bytes, entry: Entry | None) -> None:
        last = self._entries.pop(key, None)
        if last is not None:
            self._contents[last.content] -= 1
            if not self._contents[last.content]:
                del self._contents[last.content]
        if entry is not None:
            self._entries[key] = entry
            self._contents[entry.content] += 1


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
