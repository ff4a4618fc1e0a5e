"""What reaches a model, and when: real daemons on real sockets, a model behind HTTP, clients in real time.

What is real: the daemon process, its notes on disk, its socket, its selector's HTTP, and all waiting. What is
modelled: the model's answer and how long it takes, and when a tool result comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from memrecalld.client import Client
from memrecalld.client.aio import AsyncClient
from memrecalld.client.shapes import Delivery
from memrecalld.memory.document import Document
from memrecalld.memory.pool import capped
from tests.evaluation import dataset
from tests.evaluation.dataset import SPLITS, LabelledQuery
from tests.evaluation.oracle import Latency, Oracle
from tests.selectors.model_server import model_server
from tests.support.daemon import DaemonProcess
from tests.wire import model

LATENCIES_S: Final[tuple[Latency, ...]] = (0.04, 0.25, 0.6, 1.5, 3.0, None)
TOOL_RESULTS: Final = (0, 1, 3)

STEP_S: Final = 1.2
"""From a prompt to the next tool result, or to the end of the turn."""

SESSION_QUERIES: Final = 4
"""Distinct queries of a session; one more turn asks the first again."""

SESSIONS_AT_ONCE: Final = 8
"""For one daemon, which keeps as many connections to a model. More sessions would measure the queue there."""

_SEED: Final = 20_260_811
_CALL_S: Final = 120.0
_WARM_UP_QUERIES: Final = 32
"""Searches before the first turn, in which a daemon files its notes."""

SEMANTIC: Final = "semantic-no-lexical"


class Record(NamedTuple):
    """How one turn went."""

    query: LabelledQuery
    latency_s: Latency
    tool_results: int
    again: bool
    """The session had asked the same before."""
    known: bool
    """An earlier turn of the session was given a right note."""
    first: bool
    """A right note was in the first prompt."""
    delivered: bool
    """A right note was in a prompt of the turn."""
    notes: int
    duplicates: int
    """Notes that the session had been given before."""
    ended_by: str
    wait_ms: float
    ending: str
    """Delivery point of the outcome, or the reason why its result was discarded."""

    @property
    def lexical(self) -> bool:
        """A note answers the query, and shares a word with it."""
        return bool(self.query.relevant) and self.query.category != SEMANTIC


class Session(NamedTuple):
    """Queries that one session asks one after the other, and how many tool results each turn has."""

    queries: tuple[LabelledQuery, ...]
    tool_results: int


def queries() -> list[LabelledQuery]:
    """All queries of the corpus."""
    return [query for split in SPLITS for query in dataset.queries(split)]


def sessions(asked: Sequence[LabelledQuery], tool_results: int) -> list[Session]:
    """The queries, a few to a session, in an order of chance."""
    mixed = random.Random(f"{_SEED} {tool_results}").sample(asked, len(asked))
    starts = range(0, len(mixed), SESSION_QUERIES)
    return [Session(tuple(mixed[start : start + SESSION_QUERIES]), tool_results) for start in starts]


def mixed(*parts: Sequence[Session]) -> list[Session]:
    """All sessions in an order of chance, so that the daemons have the same to do at all times."""
    found = [session for part in parts for session in part]
    random.Random(_SEED).shuffle(found)
    return found


def run(
    planned: Sequence[Session], latencies_s: Sequence[Latency] = LATENCIES_S, *, daemons: int = 1
) -> list[Record]:
    """Play the sessions at each latency, with ``daemons`` for each."""
    documents = dataset.documents()
    with contextlib.ExitStack() as stack:
        lanes = []
        for latency_s in latencies_s:
            port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            homes = [stack.enter_context(_running(port, documents)) for _ in range(daemons)]
            lanes.append((latency_s, port, homes))
        return asyncio.run(_play_all(planned, lanes, documents))


@contextlib.contextmanager
def _running(port: socket.socket, documents: Sequence[Document]) -> Iterator[DaemonProcess]:
    """A daemon with the notes of the corpus, and with a model on ``port``."""
    with tempfile.TemporaryDirectory(prefix="memrecalld-delivery-") as folder:
        daemon = DaemonProcess(Path(folder) / "home", model.selector(port))
        places = {"project": daemon.project_notes, "user": daemon.user_notes}
        for scope, place in places.items():
            shutil.copytree(dataset.CORPUS / "notes" / scope, place)
        for document in documents:
            written_ns = time.time_ns() - dataset.NOW_NS + document.modified_ns
            os.utime(places[document.scope] / document.relative_path, ns=(written_ns, written_ns))
        with contextlib.closing(daemon):
            daemon.start()
            daemon.wait_until_read(len(capped(documents, now_ns=dataset.NOW_NS)))
            with Client.connect(str(daemon.socket), call_timeout=_CALL_S) as client:
                for query in queries()[:_WARM_UP_QUERIES]:
                    client.search(query.text, project_root=daemon.project)
            yield daemon


async def _play_all(
    planned: Sequence[Session],
    lanes: Sequence[tuple[Latency, socket.socket, Sequence[DaemonProcess]]],
    documents: Sequence[Document],
) -> list[Record]:
    records: list[Record] = []
    async with contextlib.AsyncExitStack() as stack:
        players = []
        for latency_s, port, daemons in lanes:
            await stack.enter_async_context(model_server(Oracle(latency_s, documents, queries()), sock=port))
            waiting = iter(enumerate(planned))
            players += [(waiting, latency_s, daemon) for daemon in daemons for _ in range(SESSIONS_AT_ONCE)]
        random.Random(_SEED).shuffle(players)
        await asyncio.gather(
            *(
                _play(*player, records, after_s=STEP_S * place / len(players))
                for place, player in enumerate(players)
            )
        )
    return records


async def _play(
    waiting: Iterator[tuple[int, Session]],
    latency_s: Latency,
    daemon: DaemonProcess,
    records: list[Record],
    *,
    after_s: float,
) -> None:
    """Play one waiting session after the other. All begin a little after each other, as people do."""
    await asyncio.sleep(after_s)
    for number, session in waiting:
        async with await AsyncClient.connect(str(daemon.socket), call_timeout=_CALL_S) as client:
            player = _Player(client, daemon.project, f"session {number}", latency_s, session.tool_results)
            for query in session.queries:
                records.append(await player.turn(query))
            records.append(await player.turn(session.queries[0], again=True))


class _Player:
    """One session of an agent: prompts, tool results, and what they brought."""

    def __init__(
        self, client: AsyncClient, project: Path, session_id: str, latency_s: Latency, tool_results: int
    ) -> None:
        self._client = client
        self._project = project
        self._session_id = session_id
        self._latency_s = latency_s
        self._tool_results = tool_results
        self._given: set[str] = set()
        """Names of the notes that the session has been given."""

    async def turn(self, query: LabelledQuery, *, again: bool = False) -> Record:
        """Ask, work, and end the turn."""
        right = set(query.relevant)
        known = not right.isdisjoint(self._given)
        turn = await self._client.start(query.text, session_id=self._session_id, project_root=self._project)
        fast = turn.fast
        assert fast is not None, "a session has one open turn at a time"
        first = _names(fast["delivery"])
        brought = list(first)
        pending = fast["pending"]
        for _ in range(self._tool_results):
            if not pending:
                break
            await asyncio.sleep(STEP_S)
            result = await turn.tool_result()
            brought += _names(result["delivery"])
            pending = result["state"] == "pending"
        if pending:
            await asyncio.sleep(STEP_S)
        outcome = await turn.end()
        assert outcome is not None
        repeated = len(brought) - len({*brought} - self._given)
        self._given.update(brought)
        return Record(
            query=query,
            latency_s=self._latency_s,
            tool_results=self._tool_results,
            again=again,
            known=known,
            first=not right.isdisjoint(first),
            delivered=not right.isdisjoint(brought),
            notes=len(brought),
            duplicates=repeated,
            ended_by=fast["endedBy"],
            wait_ms=fast["waitMs"],
            ending=outcome.get("discardReason", outcome["deliveryPoint"]),
        )


def _names(delivery: Delivery | None) -> list[str]:
    """How labels call the notes of a delivery."""
    documents = [] if delivery is None else delivery["documents"]
    return [f"{document['scope']}/{document['relativePath']}" for document in documents]
