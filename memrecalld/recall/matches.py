"""What a turn may give its session: the notes found for its query, apart from those that it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import RECENT_FILL, interleave
from memrecalld.ranking.keys import Query
from memrecalld.ranking.noise import is_tool_noise, tool_aliases
from memrecalld.ranking.scorer import Match, Ranked
from memrecalld.ranking.search import Keep
from memrecalld.recall.pool import Pool
from memrecalld.recall.session import DeliveredSet


class Matches:
    """The notes of a pool for a query, best first, without those delivered and those about a tool in use."""

    def __init__(
        self,
        pool: Pool,
        query: Query,
        *,
        delivered: DeliveredSet,
        tools: Iterable[str],
        limit: int,
        now_ns: int,
    ) -> None:
        """Search for at most ``limit`` of them."""
        self._pool = pool
        self._query = query
        self._delivered = delivered
        self._now_ns = now_ns
        aliases = tool_aliases(tools)
        self._keep: Keep = lambda document: document not in delivered and not is_tool_noise(document, aliases)
        self._ranked: Sequence[Ranked] = pool.search(query, limit=limit, now_ns=now_ns, keep=self._keep)

    def __bool__(self) -> bool:
        return bool(self._ranked)

    def best(self, limit: int) -> list[Document]:
        """The first ``limit`` of different content."""
        return distinct((ranked.document for ranked in self._ranked), limit)

    def candidates(self) -> list[Document]:
        """What a model may choose from: the matches, and among them the newest notes, matching or not."""
        recent = self._pool.recent(limit=RECENT_FILL, now_ns=self._now_ns, keep=self._keep)
        return interleave([ranked.document for ranked in self._ranked], recent)

    def all_delivered(self) -> bool:
        """Something matches, and the session has been given all of it: that is not the same as no match."""
        if self._ranked or not self._delivered:
            return False
        delivered = self._delivered
        found = self._pool.search(
            self._query, limit=1, now_ns=self._now_ns, keep=lambda document: document in delivered
        )
        return bool(found)

    def matched(self, document: Document) -> tuple[Match, ...]:
        """What ``document`` has of the query, whoever chose it."""
        return self._pool.explain(document, self._query).matches

    def forget_ranking(self) -> None:
        """Let go of the matches: a choice was made. Only ``matched`` is of use from now on."""
        self._ranked = ()


def distinct(documents: Iterable[Document], limit: int) -> list[Document]:
    """The first ``limit`` documents of different content: the same text twice helps nobody."""
    chosen: dict[bytes, Document] = {}
    for document in documents:
        if len(chosen) == limit:
            break
        chosen.setdefault(document.content_hash, document)
    return list(chosen.values())
