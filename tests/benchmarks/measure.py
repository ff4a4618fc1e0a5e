"""The measurements: each starts what it needs, and gives plain numbers. Times are in seconds."""

from __future__ import annotations

import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from memrecalld.memory.document import Document
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import scan_root
from memrecalld.ranking import scorer
from memrecalld.ranking.keys import query_terms
from memrecalld.ranking.retrieval import RankerIndex, Retrieval
from memrecalld.ranking.text import query_tokens
from tests.benchmarks.notes import Writer
from tests.benchmarks.process import resident_bytes, wait_until_idle
from tests.benchmarks.wire import EchoServer, Wire
from tests.support.daemon import DaemonProcess, make_repository

TOKENS: Final = (6, 64)
_WARM_UP: Final = 20


class Times(NamedTuple):
    """Some samples, in rising order."""

    samples: list[float]

    def at(self, share: float) -> float:
        """The sample below which ``share`` of all lie."""
        return self.samples[min(len(self.samples) - 1, int(share * len(self.samples)))]

    @property
    def p50(self) -> float:
        return self.at(0.5)

    @property
    def p99(self) -> float:
        return self.at(0.99)


class Latency(NamedTuple):
    """Start to fast at one number of topics and tokens."""

    topics: int
    tokens: int
    recall: Times
    echo: Times
    scorer: Times
    index: Times
    grep: Times
    answered: float
    """Share of the queries that were answered with a note."""


class Cold(NamedTuple):
    """The first query to a daemon that has not read the notes yet."""

    topics: int
    fast: float
    partial: bool
    notes: int
    """Handed out with the fast result."""
    scanned: float
    """Until a query was answered from all notes."""
    ready: float
    """Until everything was indexed."""


class Memory(NamedTuple):
    """Resident bytes."""

    topics: int
    empty: int
    full: int


class Beside(NamedTuple):
    """One session alone, and while something else goes on."""

    alone: Times
    beside: Times


def times(samples: Sequence[float]) -> Times:
    return Times(sorted(samples))


@contextmanager
def daemon(*folders: int, writer: Writer) -> Iterator[tuple[DaemonProcess, list[Path]]]:
    """A daemon, and projects with so many notes each. It is not started, and has seen none of them."""
    home = Path(tempfile.mkdtemp(prefix="memrecalld-bench-"))
    process = DaemonProcess(home)
    projects = []
    try:
        for number, topics in enumerate(folders):
            project = home / f"project-{number}"
            make_repository(project)
            writer.write(process.notes_of(project), topics)
            projects.append(project)
        yield process, projects
    finally:
        process.close()
        shutil.rmtree(home)


def latencies(topics: int, samples: int, writer: Writer) -> tuple[list[Latency], Memory]:
    """Recall over the socket beside a bare echo, the plain scorer, the index alone, and ``grep``."""
    with daemon(topics, writer=writer) as (process, (project,)):
        process.start()
        wait_until_idle(process.pid)
        empty = resident_bytes(process.pid)
        wire = Wire(process.socket)
        wire.recall("warm", project)
        wait_until_idle(process.pid)
        full = resident_bytes(process.pid)
        folder = process.notes_of(project)
        documents = _documents(folder)
        index = RankerIndex()
        for document in documents:
            index.insert(document)
        found = [
            _latency(writer.queries(folder, tokens, samples), wire, process, project, documents, index)
            for tokens in TOKENS
        ]
        wire.close()
        return found, Memory(topics, empty, full)


def _latency(
    queries: Sequence[str],
    wire: Wire,
    process: DaemonProcess,
    project: Path,
    documents: Sequence[Document],
    index: RankerIndex,
) -> Latency:
    topics = len(documents)
    echo = EchoServer(process.runtime / "echo.sock")
    recalls, echoes, answered = [], [], 0
    for number, query in enumerate(queries):
        waited, fast = wire.recall(query, project)
        echoed = echo.round_trip(wire.request_bytes, wire.answer_bytes)
        answered += fast["delivery"] is not None
        if number >= min(_WARM_UP, len(queries) // 2):
            recalls.append(waited)
            echoes.append(echoed)
    echo.close()
    some = queries[: max(5, min(100, 2_000_000 // topics // len(queries[0].split())))]
    texts = [scorer.search_text(document) for document in documents]
    now_ns = time.time_ns()

    def search(query: str) -> object:
        return Retrieval([index], query_terms(query)).best(limit=5, now_ns=now_ns, keep=lambda _: True)

    return Latency(
        topics,
        len(queries[0].split()),
        times(recalls),
        times(echoes),
        _timed(some, lambda query: scorer.rank(documents, query_tokens(query), now_ns, texts)),
        _timed(queries, search),
        _timed(some[:5], lambda query: _grep(query, process.notes_of(project))),
        answered / len(queries),
    )


def cold(topics: int, writer: Writer, *, restarted: bool) -> Cold:
    """The first query to a tree that was never seen, or that an earlier daemon has read."""
    with daemon(topics, writer=writer) as (process, (project,)):
        query = writer.queries(process.notes_of(project), 6, 1)[0]
        process.start()
        if restarted:
            wire = Wire(process.socket)
            wire.recall(query, project)
            wait_until_idle(process.pid)
            wire.close()
            process.restart()
        wait_until_idle(process.pid)
        wire = Wire(process.socket)
        started = time.perf_counter()
        waited, fast = wire.recall(query, project)
        delivery = fast["delivery"] or {"documents": []}
        partial = fast["partial"]
        again = fast
        while again["partial"]:
            _, again = wire.recall(query, project)
        scanned = time.perf_counter() - started
        wait_until_idle(process.pid)
        ready = time.perf_counter() - started - 0.5
        wire.close()
        return Cold(topics, waited, partial, len(delivery["documents"]), scanned, ready)


def beside_warming(warm: int, cold_topics: int, writer: Writer) -> Beside:
    """Queries of one session alone, and while another session's notes are read and indexed."""
    with daemon(warm, cold_topics, writer=writer) as (process, (project, other)):
        queries = writer.queries(process.notes_of(project), 6, 300)
        process.start()
        wire, warmed = Wire(process.socket), Wire(process.socket)
        wire.recall(queries[0], project)
        wait_until_idle(process.pid)
        alone = [wire.recall(query, project)[0] for query in queries]
        number = warmed.send("memory/list", {"projectRoot": str(other)})
        beside: list[float] = []
        listed_at = settled = 0.0
        # Indexing goes on after the answer for about as long as reading took.
        while not settled or time.perf_counter() < settled:
            beside.append(wire.recall(queries[len(beside) % len(queries)], project)[0])
            if not listed_at and select.select([warmed], [], [], 0)[0]:
                assert warmed.receive()["id"] == number
                listed_at = time.perf_counter()
                settled = listed_at + 3
        return Beside(times(alone), times(beside))


def sessions_at_once(topics: int, sessions: int, rounds: int, writer: Writer) -> Beside:
    """One session alone, and so many that all ask in the same moment; each on a connection of its own."""
    with daemon(topics, writer=writer) as (process, (project,)):
        queries = writer.queries(process.notes_of(project), 6, 64)
        process.start()
        wires = [Wire(process.socket) for _ in range(sessions)]
        wires[0].recall(queries[0], project)
        wait_until_idle(process.pid)
        alone = [wires[0].recall(query, project)[0] for query in queries * 4]
        waits: list[float] = []
        for turn in range(rounds):
            started = time.perf_counter()
            waiting = {}
            fasts = []
            for number, wire in enumerate(wires):
                query = queries[(turn + number) % len(queries)]
                params = {"sessionId": f"{turn}-{number}", "query": query, "projectRoot": str(project)}
                wire.send("recall/start", params)
                waiting[wire.fileno()] = wire
            while waiting:
                for descriptor in select.select(list(waiting), [], [])[0]:
                    wire = waiting.pop(descriptor)
                    message = wire.receive()
                    waits.append(time.perf_counter() - started)
                    assert message["method"] == "recall/fast"
                    fasts.append((wire, message["params"]))
            for wire, fast in fasts:
                wire.outcome(fast)
        for wire in wires:
            wire.close()
        return Beside(times(alone), times(waits))


def _documents(folder: Path) -> list[Document]:
    path = str(folder.resolve())
    root = Root(scope="project", layout="native", path=path, real_path=path, required=True)
    return scan_root(root, allowed=[path]).documents


def _timed(queries: Sequence[str], work: Callable[[str], object]) -> Times:
    samples = []
    for query in queries:
        started = time.perf_counter()
        work(query)
        samples.append(time.perf_counter() - started)
    return times(samples)


def _grep(query: str, folder: Path) -> None:
    words = [argument for word in query.split() for argument in ("-e", word)]
    subprocess.run(["grep", "-rilF", *words, str(folder)], stdout=subprocess.DEVNULL, check=False)
