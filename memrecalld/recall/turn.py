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
from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

import msgspec

from memrecalld.errors import MemrecallError, SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.candidates import LEXICAL_CANDIDATES
from memrecalld.ranking.keys import query_terms
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.scorer import Match
from memrecalld.ranking.text import strip_recalled
from memrecalld.recall.clock import Clock, Timer
from memrecalld.recall.deliverer import Deliverer, Prepared
from memrecalld.recall.delivery import FAST_DOCUMENTS, REFINED_DOCUMENTS, Phase
from memrecalld.recall.exchange import Answer, EndedBy, Listener, RecallRequest, ToolResult, ToolResultState
from memrecalld.recall.matches import Matches, distinct
from memrecalld.recall.outcome import DeliveryPoint, DiscardReason, Outcome, Strategy
from memrecalld.recall.pool import Pool
from memrecalld.recall.session import Session

READ_ON_S: Final = 2.0
"""How long a turn that found nothing in a part of the notes waits for the rest: the first reading of some
20,000 notes. What is not there by then is on a file system that does not answer."""

_READ_AGAIN_S: Final = 0.03
"""The pause between two looks at what was read meanwhile; what is not indexed yet costs each look some of the
time of all clients."""


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


class _State(enum.Enum):
    SCANNING = enum.auto()
    SELECTING = enum.auto()
    SETTLED = enum.auto()
    ENDED = enum.auto()


class Turn:
    """The state machine of one recall. Not thread-safe: all events come on one thread.

    What leaves it for the client goes through its ``Deliverer``.
    """

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
        self._deliverer = Deliverer(
            turn_id,
            session=session,
            listener=listener,
            clock=clock,
            on_ceiling=self._on_ceiling,
            series=session.delivered.settle(request.last_delivery),
            detached=request.detached,
        )
        self._state = _State.SCANNING
        self._rereading = False
        self._started = clock.monotonic()
        self._read_until = self._started + READ_ON_S
        self._selection_started = 0.0
        self._query_length = len(request.query)
        self._query = strip_recalled(request.query)
        self._matches: Matches | None = None
        self._repeats = False
        self._result: list[Document] = []
        self._strategy: Strategy = "none"
        self._partial = False
        self._scanned = self._candidates = 0
        self._scan_ms = self._rank_ms = self._select_ms = 0.0
        self._close_selection: Callable[[], None] | None = None
        self._next_read: Timer | None = None

    @property
    def open(self) -> bool:
        """The turn has not ended."""
        return self._state is not _State.ENDED

    @property
    def handed_over(self) -> bool:
        """The client was given something that was not taken back."""
        return self._deliverer.handed_over

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
        query = query_terms(self._query)
        matches = Matches(
            pool,
            query,
            delivered=self.session.delivered,
            tools=(*self.request.recent_tools, *self.session.tools),
            limit=LEXICAL_CANDIDATES if self._selecting else REFINED_DOCUMENTS,
            now_ns=self._clock.now_ns(),
        )
        self._rank_ms = (self._clock.monotonic() - scanned_at) * 1e3
        self._partial = pool.partial
        if self._partial and not matches and query.carries and scanned_at < self._read_until:
            self._next_read = self._clock.call_later(_READ_AGAIN_S, lambda: self._services.read(self))
            return
        self._matches = matches
        self._state = _State.SELECTING
        self._repeats = matches.all_delivered()
        if not self._selecting:
            self._settle(matches.best(REFINED_DOCUMENTS), "heuristic")
        elif not query.carries:
            # Nothing in the query carries meaning: there is nothing to ask a model about.
            self._settle([], "none")
        else:
            if matches and self._deliverer.waiting:
                best, max_chars = matches.best(FAST_DOCUMENTS), self.request.max_prompt_chars
                if (prepared := self._prepare("fast", best, max_chars)) is not None:
                    self._end_wait("published", prepared)
            self._ask(matches)

    def on_pool_failed(self, error: MemrecallError) -> None:
        """The project's notes cannot be read."""
        if self._state is not _State.SCANNING:
            return
        self._scan_ms = (self._clock.monotonic() - self._started) * 1e3
        self._end_without("failed", error)

    # Events: the selector -------------------------------------------------------------------------

    def _ask(self, matches: Matches) -> None:
        if self._state is not _State.SELECTING:  # the fast result found nobody, and the turn ended
            return
        manifest = Manifest(matches.candidates())
        self._candidates = len(manifest)
        if not manifest:
            self._settle([], "none")
            return
        self._selection_started = self._clock.monotonic()
        self._close_selection = self._services.select(
            self, self._query, manifest, lambda selection: self._on_selection(selection, matches)
        )

    def _on_selection(self, selection: Sequence[Document] | SelectionError, matches: Matches) -> None:
        if self._state is not _State.SELECTING:
            return
        self._close_selection = None
        self._select_ms = (self._clock.monotonic() - self._selection_started) * 1e3
        if isinstance(selection, SelectionError):
            self._settle(matches.best(REFINED_DOCUMENTS), "heuristic")
        else:
            self._settle(distinct(selection, REFINED_DOCUMENTS), "model")

    def _settle(self, documents: list[Document], strategy: Strategy) -> None:
        self._state = _State.SETTLED
        self._strategy = strategy
        self._result = documents
        if self._matches is not None:
            self._matches.forget_ranking()
        if not documents:
            repeats = self._repeats and strategy != "model"
            self._end_without("already_delivered" if repeats else "no_relevant_results")
        elif not self._deliverer.undelivered(documents):
            self._end("discarded", "already_delivered")
        elif self._deliverer.waiting:
            if self._selecting:
                self._reread(self._deliver_initial)
            else:
                self._deliver_initial(documents)

    def _deliver_initial(self, documents: list[Document] | None) -> None:
        if self._state is not _State.SETTLED or not self._deliverer.waiting or documents is None:
            return  # cancelled, or at the ceiling, while the notes were read again
        if not documents:
            self._end_without("no_relevant_results")
            return
        prepared = self._prepare("refined", documents, self.request.max_prompt_chars)
        if prepared is None:
            self._end_wait("settled")  # a later delivery point may have room
        elif self._end_wait("settled", prepared, pending=False):
            self._end("initial", documents=len(prepared.delivery.documents))

    # Events: the clock ----------------------------------------------------------------------------

    def _on_ceiling(self) -> None:
        if self._deliverer.waiting:
            self._end_wait("ceiling")

    # Events: the client ---------------------------------------------------------------------------

    def on_tool_result(self, answer: Answer, max_prompt_chars: int | None = None) -> None:
        """A safe delivery point. ``answer`` is called once, at once unless notes must be read again first."""
        if self._state is not _State.SETTLED or self._deliverer.waiting or self._rereading:
            self._say("pending", answer)
        else:
            self._reread(lambda documents: self._deliver_tool_result(documents, answer, max_prompt_chars))

    def _deliver_tool_result(
        self, documents: list[Document] | None, answer: Answer, max_prompt_chars: int | None
    ) -> None:
        if self._state is not _State.SETTLED:  # ended while the notes were read again
            self._say("none", answer)
        elif documents is None:
            self._say("pending", answer)
        elif not documents:
            self._end("discarded", "no_relevant_results")
            self._say("no_relevant_results", answer)
        elif not (remaining := self._deliverer.undelivered(documents)):
            self._end("discarded", "already_delivered")
            self._say("already_delivered", answer)
        elif (prepared := self._prepare("refined", remaining, max_prompt_chars)) is None:
            self._say("pending", answer)
        elif self._deliverer.answer(answer, prepared):
            self._end("tool_result", documents=len(prepared.delivery.documents))

    def finish(self, reason: DiscardReason, *, prompt_discarded: bool = False) -> None:
        """End the turn from outside. With ``prompt_discarded`` what it handed over may be delivered again."""
        if self._state is _State.ENDED:
            return
        if prompt_discarded:
            self.discard_prompt()
        self._end("discarded", reason)

    def discard_prompt(self) -> None:
        """What was handed over may be delivered again: the prompt that it went into was thrown away."""
        self._deliverer.discard_prompt()

    # The parts ------------------------------------------------------------------------------------

    def _reread(self, done: Callable[[list[Document] | None], None]) -> None:
        def reread(documents: list[Document] | None) -> None:
            self._rereading = False
            done(documents)

        self._rereading = True
        self._services.reread(self._result, reread)

    def _prepare(
        self, phase: Phase, documents: Sequence[Document], max_prompt_chars: int | None
    ) -> Prepared | None:
        strategy: Literal["heuristic", "model"] = "model" if self._strategy == "model" else "heuristic"
        return self._deliverer.prepare(
            phase, strategy, documents, max_prompt_chars=max_prompt_chars, matched=self._matched
        )

    def _matched(self, document: Document) -> tuple[Match, ...]:
        return () if self._matches is None else self._matches.matched(document)

    def _say(self, state: ToolResultState, answer: Answer) -> None:
        answer(ToolResult(turn_id=self.id, state=state), None)

    # The end --------------------------------------------------------------------------------------

    def _end_wait(self, ended_by: EndedBy, prepared: Prepared | None = None, *, pending: bool = True) -> bool:
        """``False`` says that nobody is there any more; only a detached turn goes on then."""
        partial = self._partial or (ended_by == "ceiling" and self._state is _State.SCANNING)
        if self._deliverer.end_wait(ended_by, prepared, pending=pending, partial=partial):
            return True
        if not self.request.detached:
            self.finish("abort")
        return False

    def _end_without(self, reason: DiscardReason, error: MemrecallError | None = None) -> None:
        """Nothing can be delivered any more."""
        if self._deliverer.waiting:
            self._end_wait("settled", pending=False)
        if self.open:
            self._end("discarded", reason, error=error)

    def _end(
        self,
        point: DeliveryPoint,
        reason: DiscardReason | None = None,
        *,
        documents: int = 0,
        error: MemrecallError | None = None,
    ) -> None:
        self._state = _State.ENDED
        self._deliverer.stop_waiting()
        if self._next_read is not None:
            self._next_read.cancel()
        if self._close_selection is not None:
            close, self._close_selection = self._close_selection, None
            close()
        outcome = Outcome(
            turn_id=self.id,
            delivery_point=point,
            discard_reason=reason,
            strategy=self._strategy,
            phase="refined",
            documents=documents,
            fast_documents=self._deliverer.fast_documents,
            scanned=self._scanned,
            candidates=self._candidates,
            query_length=self._query_length,
            scan_ms=round(self._scan_ms, 3),
            rank_ms=round(self._rank_ms, 3),
            select_ms=round(self._select_ms, 3),
            wait_ms=round(self._deliverer.wait_ms, 3),
        )
        # A turn may be remembered after its end; what it was about need not be.
        self._result = []
        self._matches = None
        self._query = ""
        self.request = msgspec.structs.replace(self.request, query="")
        self._services.ended(self, outcome)
        self._listener.ended(outcome, error)
