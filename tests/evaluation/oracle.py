"""A model that knows the labels, and takes its time."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memrecalld.memory.document import Document
from memrecalld.ranking.manifest import Manifest
from tests.evaluation import dataset
from tests.evaluation.dataset import LabelledQuery
from tests.selectors.model_server import Exchange
from tests.wire import model

Latency = float | None
"""Seconds until the model answers; ``None``: never."""

_SEED: Final = 20_260_811
_MISSED: Final = 0.1
_MOST_RIGHT: Final = 4
"""A selection holds five, and one of them is another."""

_HEAD_CHARS: Final = 1_000
"""A selector shows a model both ends of a long query; so much of the head tells one query from another."""


class Oracle:
    """Answers after ``latency_s``.

    It finds nine of ten right notes that it is shown, by their labels, and adds the first other note of the
    list; where it is shown no right one, it chooses none.
    """

    def __init__(
        self, latency_s: Latency, documents: Sequence[Document], queries: Iterable[LabelledQuery]
    ) -> None:
        self._latency_s = latency_s
        self._queries = {query.text[:_HEAD_CHARS]: query for query in queries}
        self._names = {_title(document): dataset.name(document) for document in documents}

    async def __call__(self, exchange: Exchange) -> None:
        if self._latency_s is None:
            await exchange.reader.read()
            return
        await asyncio.sleep(self._latency_s)
        query = self._queries[model.query(exchange)[:_HEAD_CHARS]]
        shown = {self._names[title]: line_id for line_id, title in model.manifest(exchange)}
        chosen = [shown[name] for name in _choice(query, shown)]
        await model.answer(exchange, json.dumps({"selected": chosen}))
        exchange.writer.close()


def _choice(query: LabelledQuery, shown: Mapping[str, str]) -> list[str]:
    """Names of the notes that the model chooses of those ``shown``; the same at every latency."""
    chance = random.Random(f"{_SEED} {query.id}")
    right = [name for name in query.relevant if name in shown]
    if not right:
        return []
    found = [name for name in right if chance.random() >= _MISSED]
    return [*found[:_MOST_RIGHT], next(name for name in shown if name not in right)]


def _title(document: Document) -> str:
    """The title of ``document`` as a model is shown it."""
    return Manifest([document]).text.split(" ", 3)[3].partition(" | ")[0].strip()
