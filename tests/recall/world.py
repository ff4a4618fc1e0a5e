"""Everything around the engine, in a test's hands: time, the catalog, and a model."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b

from memrecalld.errors import MemrecallError, SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import most_recent
from memrecalld.ranking.keys import Query, document_keys
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.ranker import Explanation, explain, frequencies, rank, weigh
from memrecalld.ranking.scorer import Ranked
from memrecalld.recall.engine import Done, Engine
from memrecalld.recall.exchange import FastResult, RecallRequest, ToolResult
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.prompt import prompt_length
from memrecalld.recall.session import Entry, Handover, Held, SessionKey
from memrecalld.recall.turn import Turn
from memrecalld.telemetry import Telemetry

DAY_NS = 86_400_000_000_000
NOW_NS = 20_000 * DAY_NS


def note(
    name: str,
    *,
    title: str = "",
    description: str = "",
    body: str = "",
    age_days: float = 0,
    **fields: object,
) -> Document:
    """A document; its content hash follows from its text, as in a real file."""
    values: dict[str, object] = {
        "scope": "project",
        "root": "/notes",
        "relative_path": f"{name}.md",
        "type": "project",
        "type_label": "project",
        "title": title or name,
        "description": description,
        "body": body,
        "truncated": False,
        "modified_ns": NOW_NS - round(age_days * DAY_NS),
        "content_hash": blake2b(f"{title}\0{description}\0{body}\0{name}".encode(), digest_size=16).digest(),
    }
    return Document(**(values | fields))


class FakeClock:
    """Time stands still until ``advance``."""

    def __init__(self) -> None:
        self._time = 1000.0
        self._calls: list[tuple[float, int, FakeTimer]] = []
        self._order = itertools.count()

    def monotonic(self) -> float:
        return self._time

    def now_ns(self) -> int:
        return NOW_NS + round((self._time - 1000.0) * 1e9)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(callback)
        heapq.heappush(self._calls, (self._time + seconds, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        end = self._time + seconds
        while self._calls and self._calls[0][0] <= end:
            self._time, _, timer = heapq.heappop(self._calls)
            timer.fire()
        self._time = end

    def forget_calls(self) -> None:
        self._calls.clear()

    @property
    def pending(self) -> int:
        return sum(not timer.cancelled for _, _, timer in self._calls)


class FakeTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def fire(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            self._callback()


class FakePool:
    """Ranks without an index."""

    def __init__(self, documents: Sequence[Document], *, partial: bool = False) -> None:
        self._documents = list(documents)
        self.partial = partial

    @property
    def size(self) -> int:
        return len(self._documents)

    def search(
        self, query: Query, *, limit: int, now_ns: int, keep: Callable[[Document], bool]
    ) -> list[Ranked]:
        return [each for each in rank(self._documents, query, now_ns) if keep(each.document)][:limit]

    def explain(self, document: Document, query: Query) -> Explanation:
        counts = frequencies(query, map(document_keys, self._documents))
        return explain(document, query, weigh(query, counts, len(self._documents)))

    def recent(self, *, limit: int, now_ns: int, keep: Callable[[Document], bool]) -> list[Document]:
        return most_recent(filter(keep, self._documents), limit, now_ns)


class FakeCatalog:
    """Holds notes in memory. With ``held`` set it answers only when told to, with ``unread`` notes it gives
    partial pools."""

    def __init__(self, documents: Sequence[Document] = ()) -> None:
        self.documents = list(documents)
        self.error: MemrecallError | None = None
        self.held: list[Callable[[], None]] | None = None
        self.unread: set[str] = set()

    def pool(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[FakePool | MemrecallError], None],
        *,
        whole: bool = False,
    ) -> None:
        def pool() -> FakePool:
            read = [each for each in self.documents if each.title not in self.unread]
            return FakePool(read, partial=bool(self.unread))

        self._when_released(lambda: ready(self.error or pool()))

    def reread(self, documents: Sequence[Document], ready: Callable[[list[Document]], None]) -> None:
        def answer() -> None:
            current = {document.path: document for document in self.documents}
            ready([current[each.path] for each in documents if each.path in current])

        self._when_released(answer)

    def hold(self) -> None:
        self.held = []

    def release(self) -> None:
        held, self.held = self.held or [], None
        for answer in held:
            answer()

    def _when_released(self, answer: Callable[[], None]) -> None:
        if self.held is None:
            answer()
        else:
            self.held.append(answer)


class Question:
    """One question to the model, and the way to answer it."""

    def __init__(
        self, query: str, manifest: Manifest, done: Callable[[Sequence[Document] | SelectionError], None]
    ) -> None:
        self.query = query
        self.manifest = manifest
        self.closed = False
        self._done = done

    @property
    def names(self) -> list[str]:
        return [each.relative_path.removesuffix(".md") for each in self.manifest.resolve(self.manifest.ids)]

    def answer(self, *names: str) -> None:
        documents = {each.relative_path: each for each in self.manifest.resolve(self.manifest.ids)}
        self.settle([documents[f"{name}.md"] for name in names])

    def fail(self, reason: str = "connection") -> None:
        self.settle(SelectionError(reason))

    def settle(self, selection: Sequence[Document] | SelectionError) -> None:
        if not self.closed:
            self.closed = True
            self._done(selection)


class FakeSelection:
    """The model: keeps each question."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    available = True

    def select(self, query: str, manifest: Manifest, done: Done, _owner: object) -> Callable[[], None]:
        question = Question(query, manifest, done)
        self.questions.append(question)

        def close() -> None:
            question.closed = True

        return close


class Killed(BaseException):
    """The process is gone: it has recorded a hand-over, and its ``client`` never gets the ``result``."""

    def __init__(self, client: Client, result: FastResult | ToolResult) -> None:
        super().__init__()
        self.client = client
        self.result = result


class Client:
    """One turn as a client sees it."""

    def __init__(self, world: World, key: SessionKey, owner: object) -> None:
        self._world = world
        self.engine = world.engine
        self.key = key
        self.owner = owner
        self.fasts: list[FastResult] = []
        self.handovers: list[Handover | None] = []
        self.outcomes: list[Outcome] = []
        self.errors: list[MemrecallError | None] = []
        self.answers: list[ToolResult] = []
        self.connected = True
        self.max_prompt_chars: int | None = None
        self.detached = False
        self.last_delivery: str | None = None
        """What it said at the start."""
        self.turn: Turn

    def fast(self, result: FastResult, handover: Handover | None) -> bool:
        if self.connected:
            self._receive(result, handover)
            self.fasts.append(result)
            _check_length(result, self.max_prompt_chars)
        return self.connected

    def ended(self, outcome: Outcome, error: MemrecallError | None) -> None:
        self.outcomes.append(outcome)
        self.errors.append(error)

    @property
    def fast_names(self) -> list[str]:
        """Names of the notes in the first prompt."""
        (result,) = self.fasts
        return names(result)

    @property
    def outcome(self) -> Outcome:
        (outcome,) = self.outcomes
        return outcome

    def tool_result(
        self,
        tool: str | None = None,
        turn_id: str | None = None,
        *,
        max_prompt_chars: int | None = None,
    ) -> ToolResult:
        self.ask_tool_result(tool, turn_id, max_prompt_chars=max_prompt_chars)
        return self.answers[-1]

    def ask_tool_result(
        self,
        tool: str | None = None,
        turn_id: str | None = None,
        *,
        max_prompt_chars: int | None = None,
    ) -> None:
        def answer(result: ToolResult, handover: Handover | None) -> bool:
            if self.connected:
                self._receive(result, handover)
                self.answers.append(result)
                _check_length(result, max_prompt_chars)
            return self.connected

        self._world.engine.tool_result(
            self.key, turn_id, tool, self.owner, answer, max_prompt_chars=max_prompt_chars
        )

    def _receive(self, result: FastResult | ToolResult, handover: Handover | None) -> None:
        if handover is not None:
            handover.record()
            if self._world.dying:
                raise Killed(self, result)
        self.handovers.append(handover)

    def end(self) -> None:
        self._world.engine.end(self.key, None, self.owner)

    def cancel(self) -> None:
        self.turn.finish("abort", prompt_discarded=True)


class MemoryStore:
    """Delivered sets that outlive the engine."""

    def __init__(self) -> None:
        self._sets: dict[SessionKey, dict[bytes, Entry]] = {}
        self.first_number = self._number = 1

    def restart(self) -> None:
        """Another process."""
        self.first_number = self._number

    def next_number(self) -> int:
        self._number += 1
        return self._number - 1

    def load(self, key: SessionKey) -> Mapping[bytes, Entry]:
        return dict(self._sets.get(key, {}))

    def put(self, key: SessionKey, entries: Mapping[bytes, Entry]) -> None:
        self._sets.setdefault(key, {}).update(entries)

    def delete(self, key: SessionKey, identities: Iterable[bytes]) -> None:
        entries = self._sets.get(key, {})
        for each in identities:
            entries.pop(each, None)

    def clear(self, key: SessionKey) -> None:
        self._sets.pop(key, None)

    def keep(self, held: Held) -> None:
        """There is nothing to begin anew."""


class World:
    """An engine with fakes for time, disk and model."""

    def __init__(self, *documents: Document, model: bool = True) -> None:
        self.clock = FakeClock()
        self.catalog = FakeCatalog(documents)
        self.model = FakeSelection()
        self.store = MemoryStore()
        self.telemetry = Telemetry()
        self.dying = False
        """The next hand-over raises ``Killed``."""
        self.engine = self._engine(model)

    def _engine(self, model: bool) -> Engine:
        return Engine(
            notes=self.catalog,
            selection=self.model if model else None,
            store=self.store,
            clock=self.clock,
            telemetry=self.telemetry,
        )

    def restart(self, *, model: bool = True) -> None:
        """A new process on the same state."""
        self.store.restart()
        self.engine = self._engine(model)

    def kill(self, *, model: bool = True) -> None:
        """A new process on the same state; the one before is gone from one moment to the next."""
        self.dying = False
        self.clock.forget_calls()
        self.catalog.held = None
        self.model.questions.clear()
        self.telemetry = Telemetry()
        self.restart(model=model)

    def start(
        self,
        query: str,
        *,
        session: str = "s",
        agent: str = "",
        detached: bool = False,
        recent_tools: tuple[str, ...] = (),
        owner: object = "client",
        max_prompt_chars: int | None = None,
        last_delivery: str | None = None,
    ) -> Client:
        client = Client(self, SessionKey(session, agent), owner)
        client.max_prompt_chars = max_prompt_chars
        client.detached = detached
        client.last_delivery = last_delivery
        request = RecallRequest(
            query=query,
            project_root="/p",
            recent_tools=recent_tools,
            detached=detached,
            max_prompt_chars=max_prompt_chars,
            last_delivery=last_delivery,
        )
        client.turn = self.engine.start(client.key, request, client, owner)
        return client


def _check_length(result: FastResult | ToolResult, limit: int | None) -> None:
    if limit is not None and result.delivery is not None:
        assert prompt_length(result.delivery.prompt) <= limit


def names(result: FastResult | ToolResult) -> list[str]:
    """Names of the notes that a result delivers."""
    if result.delivery is None:
        return []
    return [each.relative_path.removesuffix(".md") for each in result.delivery.documents]
