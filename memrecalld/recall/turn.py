"""One recall, from the user's query to its one outcome.

    scanning ──pool──▶ selecting ──selection──▶ settled ──tool result──▶ ended
     ▲    │ └──────── no selector, or nothing to ask it ─▶┘
     └────┘ a part of the notes, and nothing in it

Beside that runs the initial wait. It ends on whichever comes first: the fast result is published, recall
settles, or the ceiling. A turn may end in every state; it ends once, and everything that arrives later finds
it ended.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, Protocol

import msgspec

from memrecalld.errors import MemrecallError, SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import LEXICAL_CANDIDATES, RECENT_FILL, interleave
from memrecalld.ranking.keys import Query, query_terms
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.noise import is_tool_noise, tool_aliases
from memrecalld.ranking.ranker import Explanation
from memrecalld.ranking.scorer import Match, Ranked
from memrecalld.ranking.text import strip_recalled
from memrecalld.recall.clock import Clock, Timer
from memrecalld.recall.delivery import FAST_DOCUMENTS, REFINED_DOCUMENTS, Delivery, compose
from memrecalld.recall.outcome import DeliveryPoint, DiscardReason, Outcome, Strategy
from memrecalld.recall.prompt import fitting
from memrecalld.recall.session import Handover, Session

INITIAL_WAIT_S: Final = 0.100
"""Ceiling of the initial wait. A ceiling and not a cost: most waits end with the fast result, in a few ms."""

READ_ON_S: Final = 2.0
"""How long a turn that found nothing in a part of the notes waits for the rest: the first reading of some
20,000 notes. What is not there by then is on a file system that does not answer."""

_READ_AGAIN_S: Final = 0.03
"""The pause between two looks at what was read meanwhile; what is not indexed yet costs each look some of the
time of all clients."""

EndedBy = Literal["published", "settled", "ceiling"]
ToolResultState = Literal["pending", "delivered", "already_delivered", "no_relevant_results", "none"]


class RecallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a client asks for; see ``recall/start`` in the protocol."""

    query: str
    project_root: str | None
    recent_tools: tuple[str, ...] = ()
    exclude_layouts: frozenset[str] = frozenset()
    detached: bool = False
    max_prompt_chars: int | None = None
    """Of the delivery that ends the initial wait; see ``prompt.prompt_length``."""


class FastResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The end of the initial wait: what goes into the first prompt. ``wait_ms`` in milliseconds."""

    turn_id: str
    ended_by: EndedBy
    delivery: Delivery | None
    pending: bool
    partial: bool
    wait_ms: float


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer at a later delivery point."""

    turn_id: str | None
    state: ToolResultState
    delivery: Delivery | None = None


class Pool(Protocol):
    """The notes that may be recalled, as they are at one moment: project before user."""

    @property
    def size(self) -> int:
        """Number of notes."""

    @property
    def partial(self) -> bool:
        """Some notes could not be read in time and are missing."""

    def search(
        self, query: Query, *, limit: int, now_ns: int, keep: Callable[[Document], bool]
    ) -> list[Ranked]:
        """The best ``limit`` notes that the query asks for and that ``keep`` accepts, best first."""

    def recent(self, *, limit: int, now_ns: int, keep: Callable[[Document], bool]) -> list[Document]:
        """The newest ``limit`` notes that ``keep`` accepts, newest first."""

    def explain(self, document: Document, query: Query) -> Explanation:
        """What a note has of the query, recalled for it or not."""


class Services(Protocol):
    """What a turn asks of the engine. Every callback may be called at once or later, on the same thread."""

    def select(
        self,
        turn: Turn,
        query: str,
        manifest: Manifest,
        done: Callable[[Sequence[Document] | SelectionError], None],
    ) -> Callable[[], None]:
        """Ask the model, for a bounded time; returns what closes the question."""

    def read(self, turn: Turn) -> None:
        """Call ``on_pool`` or ``on_pool_failed`` with the notes as they are now, soon."""

    def reread(self, documents: Sequence[Document], done: Callable[[list[Document] | None], None]) -> None:
        """The documents as they are on disk now, without those that are gone; ``None``: not to be had now."""

    def ended(self, turn: Turn, outcome: Outcome) -> None:
        """The turn has ended; called exactly once."""


class Listener(Protocol):
    """Where a turn's results go."""

    def fast(self, result: FastResult, handover: Handover | None) -> bool:
        """The initial wait is over; ``handover`` is to be recorded before ``result`` is written.

        ``False`` says that nobody is there any more.
        """

    def ended(self, outcome: Outcome, error: MemrecallError | None) -> None:
        """The turn's one outcome; ``error`` where it failed."""


Answer = Callable[[ToolResult, Handover | None], bool]
"""Where the answer at a tool result goes; as ``Listener.fast``."""


class _State(enum.Enum):
    SCANNING = enum.auto()
    SELECTING = enum.auto()
    SETTLED = enum.auto()
    ENDED = enum.auto()


class Turn:
    """The state machine of one recall. Not thread-safe: all events come on one thread."""

    def __init__(
        self,
        turn_id: str,
        request: RecallRequest,
        *,
        session: Session,
        listener: Listener,
        services: Services,
        clock: Clock,
        selecting: bool,
    ) -> None:
        self.id = turn_id
        self.session = session
        self.request = request
        self._listener = listener
        self._services = services
        self._clock = clock
        self._selecting = selecting
        self._state = _State.SCANNING
        self._waiting = True
        self._rereading = False
        self._started = clock.monotonic()
        self._read_until = self._started + READ_ON_S
        self._selection_started = 0.0
        self._query_length = len(request.query)
        self._query = strip_recalled(request.query)
        self._terms = Query(())
        self._pool: Pool | None = None
        self._ranked: list[Ranked] = []
        self._result: list[Document] = []
        self._strategy: Strategy = "none"
        self._handovers: list[Handover] = []
        self._partial = False
        self._repeats = False
        self._scanned = self._candidates = self._fast_documents = 0
        self._scan_ms = self._rank_ms = self._select_ms = self._wait_ms = 0.0
        self._close_selection: Callable[[], None] | None = None
        self._ceiling = clock.call_later(INITIAL_WAIT_S, self._on_ceiling)
        self._next_read: Timer | None = None

    @property
    def open(self) -> bool:
        """The turn has not ended."""
        return self._state is not _State.ENDED

    @property
    def handed_over(self) -> bool:
        """The client was given something that was not taken back."""
        return bool(self._handovers)

    # Events: the catalog --------------------------------------------------------------------------

    def on_pool(self, pool: Pool) -> None:
        """The notes are known: rank them, publish the fast result, ask the selector.

        Where only a part of them is and nothing in it was asked for, the turn goes on reading.
        """
        if self._state is not _State.SCANNING:
            return
        scanned_at = self._clock.monotonic()
        self._scan_ms = (scanned_at - self._started) * 1e3
        self._scanned = pool.size
        self._terms = query_terms(self._query)
        keep = self._recallable()
        limit = LEXICAL_CANDIDATES if self._selecting else REFINED_DOCUMENTS
        now_ns = self._clock.now_ns()
        self._ranked = pool.search(self._terms, limit=limit, now_ns=now_ns, keep=keep)
        self._rank_ms = (self._clock.monotonic() - scanned_at) * 1e3
        self._partial = pool.partial
        if self._partial and not self._ranked and self._terms.carries and scanned_at < self._read_until:
            self._next_read = self._clock.call_later(_READ_AGAIN_S, lambda: self._services.read(self))
            return
        self._pool = pool
        self._state = _State.SELECTING
        self._repeats = not self._ranked and self._matches_only_delivered(pool, now_ns)
        if not self._selecting:
            self._settle(self._best(REFINED_DOCUMENTS), "heuristic")
        elif not self._terms.carries:
            # Nothing in the query carries meaning: there is nothing to ask a model about.
            self._settle([], "none")
        else:
            if self._waiting and self._ranked:
                best, max_chars = self._best(FAST_DOCUMENTS), self.request.max_prompt_chars
                fast = self._deliver("fast", "heuristic", best, max_chars)
                if fast is not None:
                    self._end_wait("published", *fast)
            self._ask(pool, keep, now_ns)

    def on_pool_failed(self, error: MemrecallError) -> None:
        """The project's notes cannot be read."""
        if self._state is not _State.SCANNING:
            return
        self._scan_ms = (self._clock.monotonic() - self._started) * 1e3
        if self._waiting:
            self._end_wait("settled", pending=False)
        if self.open:
            self._end("discarded", "failed", error=error)

    # Events: the selector -------------------------------------------------------------------------

    def _ask(self, pool: Pool, keep: Callable[[Document], bool], now_ns: int) -> None:
        if self._state is not _State.SELECTING:  # the fast result found nobody, and the turn ended
            return
        recent = pool.recent(limit=RECENT_FILL, now_ns=now_ns, keep=keep)
        manifest = Manifest(interleave([ranked.document for ranked in self._ranked], recent))
        self._candidates = len(manifest)
        if not manifest:
            self._settle([], "none")
            return
        self._selection_started = self._clock.monotonic()
        self._close_selection = self._services.select(self, self._query, manifest, self._on_selection)

    def _on_selection(self, selection: Sequence[Document] | SelectionError) -> None:
        if self._state is not _State.SELECTING:
            return
        self._close_selection = None
        self._select_ms = (self._clock.monotonic() - self._selection_started) * 1e3
        if isinstance(selection, SelectionError):
            self._settle(self._best(REFINED_DOCUMENTS), "heuristic")
        else:
            self._settle(_distinct(selection, REFINED_DOCUMENTS), "model")

    def _settle(self, documents: list[Document], strategy: Strategy) -> None:
        self._state = _State.SETTLED
        self._strategy = strategy
        self._result = documents
        self._ranked = []
        if not documents:
            if self._waiting:
                self._end_wait("settled", pending=False)
            if self.open:
                repeats = self._repeats and strategy != "model"
                self._end("discarded", "already_delivered" if repeats else "no_relevant_results")
        elif not self._undelivered(documents):
            self._end("discarded", "already_delivered")
        elif self._waiting:
            if self._selecting:
                self._reread(self._deliver_initial)
            else:
                self._deliver_initial(documents)

    def _deliver_initial(self, documents: list[Document] | None) -> None:
        if self._state is not _State.SETTLED or not self._waiting or documents is None:
            return  # cancelled, or at the ceiling, while the notes were read again
        if not documents:
            self._end_wait("settled", pending=False)
            if self.open:
                self._end("discarded", "no_relevant_results")
            return
        max_chars = self.request.max_prompt_chars
        delivered = self._deliver("refined", self._refined_strategy(), documents, max_chars)
        if delivered is None:
            self._end_wait("settled")  # a later delivery point may have room
            return
        delivery, handover = delivered
        if self._end_wait("settled", delivery, handover, pending=False):
            self._end("initial", documents=len(delivery.documents))

    # Events: the clock ----------------------------------------------------------------------------

    def _on_ceiling(self) -> None:
        if self._waiting:
            self._end_wait("ceiling")

    # Events: the client ---------------------------------------------------------------------------

    def on_tool_result(self, answer: Answer, max_prompt_chars: int | None = None) -> None:
        """A safe delivery point. ``answer`` is called once, at once unless notes must be read again first."""
        if self._state is not _State.SETTLED or self._waiting or self._rereading:
            answer(ToolResult(turn_id=self.id, state="pending"), None)
        else:
            self._reread(lambda documents: self._deliver_tool_result(documents, answer, max_prompt_chars))

    def _deliver_tool_result(
        self, documents: list[Document] | None, answer: Answer, max_prompt_chars: int | None
    ) -> None:
        if self._state is not _State.SETTLED:  # ended while the notes were read again
            answer(ToolResult(turn_id=self.id, state="none"), None)
            return
        if documents is None:
            answer(ToolResult(turn_id=self.id, state="pending"), None)
            return
        if not documents:
            self._end("discarded", "no_relevant_results")
            answer(ToolResult(turn_id=self.id, state="no_relevant_results"), None)
            return
        if not (remaining := self._undelivered(documents)):
            self._end("discarded", "already_delivered")
            answer(ToolResult(turn_id=self.id, state="already_delivered"), None)
            return
        delivered = self._deliver("refined", self._refined_strategy(), remaining, max_prompt_chars)
        if delivered is None:
            answer(ToolResult(turn_id=self.id, state="pending"), None)
            return
        delivery, handover = delivered
        if answer(ToolResult(turn_id=self.id, state="delivered", delivery=delivery), handover):
            self._end("tool_result", documents=len(delivery.documents))
        else:
            self._take_back(handover)

    def finish(self, reason: DiscardReason, *, prompt_discarded: bool = False) -> None:
        """End the turn from outside. With ``prompt_discarded`` what it handed over may be delivered again."""
        if self._state is _State.ENDED:
            return
        if prompt_discarded:
            self.discard_prompt()
        self._end("discarded", reason)

    def discard_prompt(self) -> None:
        """What was handed over may be delivered again: the prompt that it went into was thrown away."""
        for handover in reversed(self._handovers):
            handover.take_back()
        self._handovers.clear()

    # The parts ------------------------------------------------------------------------------------

    def _recallable(self) -> Callable[[Document], bool]:
        delivered = self.session.delivered
        aliases = tool_aliases((*self.request.recent_tools, *self.session.tools))
        return lambda document: document not in delivered and not is_tool_noise(document, aliases)

    def _matches_only_delivered(self, pool: Pool, now_ns: int) -> bool:
        """Something matches, and the session has been given all of it: that is not the same as no match."""
        delivered = self.session.delivered
        return bool(delivered) and bool(
            pool.search(self._terms, limit=1, now_ns=now_ns, keep=lambda document: document in delivered)
        )

    def _best(self, limit: int) -> list[Document]:
        return _distinct((ranked.document for ranked in self._ranked), limit)

    def _undelivered(self, documents: Sequence[Document]) -> list[Document]:
        return [document for document in documents if document not in self.session.delivered]

    def _refined_strategy(self) -> Literal["heuristic", "model"]:
        return "model" if self._strategy == "model" else "heuristic"

    def _reread(self, done: Callable[[list[Document] | None], None]) -> None:
        def reread(documents: list[Document] | None) -> None:
            self._rereading = False
            done(documents)

        self._rereading = True
        self._services.reread(self._result, reread)

    def _deliver(
        self,
        phase: Literal["fast", "refined"],
        strategy: Literal["heuristic", "model"],
        documents: Sequence[Document],
        max_prompt_chars: int | None,
    ) -> tuple[Delivery, Handover] | None:
        """What is handed over, and the record of it, which is written last: a crash before loses nothing.

        None where not one of the documents fits.
        """
        now_ns = self._clock.now_ns()
        documents = fitting(documents, now_ns, max_prompt_chars)
        if not documents:
            return None
        delivery = compose(phase, strategy, documents, now_ns=now_ns, matched=self._matched)
        handover = self.session.delivered.hand_over(documents)
        self._handovers.append(handover)
        return delivery, handover

    def _take_back(self, handover: Handover) -> None:
        handover.take_back()
        self._handovers.remove(handover)

    def _matched(self, document: Document) -> tuple[Match, ...]:
        return () if self._pool is None else self._pool.explain(document, self._terms).matches

    def _end_wait(
        self,
        ended_by: EndedBy,
        delivery: Delivery | None = None,
        handover: Handover | None = None,
        *,
        pending: bool = True,
    ) -> bool:
        """``False`` says that nobody is there any more; only a detached turn goes on then."""
        self._waiting = False
        self._ceiling.cancel()
        self._wait_ms = (self._clock.monotonic() - self._started) * 1e3
        result = FastResult(
            turn_id=self.id,
            ended_by=ended_by,
            delivery=delivery,
            pending=pending,
            partial=self._partial or (ended_by == "ceiling" and self._state is _State.SCANNING),
            wait_ms=round(self._wait_ms, 3),
        )
        if self._listener.fast(result, handover):
            if delivery is not None and delivery.phase == "fast":
                self._fast_documents = len(delivery.documents)
            return True
        if handover is not None:
            self._take_back(handover)
        if not self.request.detached:
            self.finish("abort")
        return False

    def _stop_selection(self) -> None:
        if self._close_selection is not None:
            close, self._close_selection = self._close_selection, None
            close()

    def _end(
        self,
        point: DeliveryPoint,
        reason: DiscardReason | None = None,
        *,
        documents: int = 0,
        error: MemrecallError | None = None,
    ) -> None:
        if self._waiting:
            self._wait_ms = (self._clock.monotonic() - self._started) * 1e3
        self._state = _State.ENDED
        self._waiting = False
        self._ceiling.cancel()
        if self._next_read is not None:
            self._next_read.cancel()
        self._stop_selection()
        outcome = Outcome(
            turn_id=self.id,
            delivery_point=point,
            discard_reason=reason,
            strategy=self._strategy,
            phase="refined",
            documents=documents,
            fast_documents=self._fast_documents,
            scanned=self._scanned,
            candidates=self._candidates,
            query_length=self._query_length,
            scan_ms=round(self._scan_ms, 3),
            rank_ms=round(self._rank_ms, 3),
            select_ms=round(self._select_ms, 3),
            wait_ms=round(self._wait_ms, 3),
        )
        # A turn may be remembered after its end; what it was about need not be.
        self._result = []
        self._pool = None
        self._query = ""
        self.request = msgspec.structs.replace(self.request, query="")
        self._services.ended(self, outcome)
        self._listener.ended(outcome, error)


def _distinct(documents: Iterable[Document], limit: int) -> list[Document]:
    """The first ``limit`` documents of different content: the same text twice helps nobody."""
    chosen: dict[bytes, Document] = {}
    for document in documents:
        if len(chosen) == limit:
            break
        chosen.setdefault(document.content_hash, document)
    return list(chosen.values())
