"""The one engine behind every connection: sessions, their open turns, and what connects them to the world."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from memrecalld.errors import MemrecallError, SelectionError, TooManyTurns, TurnNotYours
from memrecalld.memory.document import Document
from memrecalld.ranking.keys import query_terms
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.text import strip_recalled
from memrecalld.recall.clock import Clock, Timer
from memrecalld.recall.delivery import DeliveredDocument, describe
from memrecalld.recall.exchange import Answer, Listener, RecallRequest, ToolResult
from memrecalld.recall.observation import ObservedListener, Observer, observed_answer
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.pool import Pool
from memrecalld.recall.session import DeliveredStore, Session, SessionKey
from memrecalld.recall.sessions import HELD_SESSIONS, Sessions
from memrecalld.recall.turn import Turn
from memrecalld.telemetry import Telemetry

DETACHED_TURN_S: Final = 30 * 60.0
"""A detached turn that nobody came back to for so long has expired."""

SELECTION_S: Final = 30.0
"""A selector that has not answered by then has failed."""

MAX_OPEN_TURNS: Final = HELD_SESSIONS
"""Beyond, the oldest detached turn expires; without one, no turn can be opened."""


class Notes(Protocol):
    """The notes on disk."""

    def pool(
        self,
        project_root: str | None,
        exclude_layouts: frozenset[str],
        ready: Callable[[Pool | MemrecallError], None],
        *,
        whole: bool = False,
    ) -> None:
        """Every change completed before this call is in the pool that ``ready`` gets.

        It may be partial where that would take long, unless the ``whole`` is wanted.
        """

    def reread(self, documents: Sequence[Document], ready: Callable[[list[Document] | None], None]) -> None:
        """The same notes as they are on disk now, without those gone; ``None``: not to be had now."""


Done = Callable[[Sequence[Document] | SelectionError], None]
"""Where a selection goes: the documents chosen, or why there is none."""


class Selection(Protocol):
    """The model selector."""

    @property
    def available(self) -> bool:
        """There is somebody to ask."""

    def select(self, query: str, manifest: Manifest, done: Done, owner: object) -> Callable[[], None]:
        """Ask, for a turn of ``owner``. What is returned closes the question, ``done`` uncalled."""


class Engine:
    """Recall for all clients. ``owner`` stands for a connection: a turn that is not detached ends with it."""

    def __init__(
        self,
        *,
        notes: Notes,
        selection: Selection | None,
        store: DeliveredStore,
        clock: Clock,
        telemetry: Telemetry,
        observer: Observer | None = None,
    ) -> None:
        self.selection = selection
        self.telemetry = telemetry
        self._notes = notes
        self._clock = clock
        self._observer = observer
        self._turns: dict[SessionKey, Turn] = {}
        self._sessions = Sessions(store, clock, kept=self._turns)
        self._owners: dict[str, object] = {}
        self._expiry: dict[str, Timer] = {}

    # Turns ----------------------------------------------------------------------------------------

    def start(self, key: SessionKey, request: RecallRequest, listener: Listener, owner: object) -> Turn:
        """Open a turn; an open one of the same session and agent is superseded.

        Raises ``TooManyTurns`` while too many are open.
        """
        if (earlier := self._turns.get(key)) is not None:
            earlier.finish("new_query")
        self._make_room()
        session = self._sessions.use(key)
        session.last_ended = None
        session.remember_tools(request.recent_tools)
        if self._observer is not None:
            listener = ObservedListener(listener, self._observer, key, request)
        turn = Turn(
            secrets.token_hex(8),
            request,
            session=session,
            listener=listener,
            services=self,
            clock=self._clock,
            selecting=self.selection is not None and self.selection.available,
        )
        self._turns[key] = turn
        session.last_turn = turn.id
        if request.detached:
            self._expiry[turn.id] = self._clock.call_later(DETACHED_TURN_S, lambda: turn.finish("expired"))
        else:
            self._owners[turn.id] = owner

        self.read(turn)
        return turn

    def tool_result(
        self,
        key: SessionKey,
        turn_id: str | None,
        tool_name: str | None,
        owner: object,
        answer: Answer,
        *,
        max_prompt_chars: int | None = None,
    ) -> None:
        """A later delivery point.

        Raises ``TurnNotYours`` for a turn that belongs to another connection.
        """
        turn = self._turns.get(key)
        if turn is not None and turn_id not in {None, turn.id}:
            turn = None
        if turn is not None:
            self._check_owner(turn, owner)
        if tool_name:
            self._sessions.use(key).remember_tools([tool_name])
        if turn is None:
            answer(self._last_state(key, turn_id), None)
            return
        if self._observer is not None:
            answer = observed_answer(answer, self._observer, key, turn.request, turn.id)
        turn.on_tool_result(answer, max_prompt_chars)

    def end(self, key: SessionKey, turn_id: str | None, owner: object) -> None:
        """No delivery point is left in this turn."""
        turn = self._turns.get(key)
        if turn is not None and turn_id in {None, turn.id} and self._owners.get(turn.id, owner) is owner:
            turn.finish("no_safe_delivery_point")

    def reset(self, key: SessionKey) -> None:
        """The context was cleared or compacted: end the turn, and forget what was delivered."""
        if (turn := self._turns.get(key)) is not None:
            turn.finish("reset")
        session = self._sessions.use(key)
        session.last_ended = None
        session.delivered.clear()

    def disconnect(self, owner: object) -> None:
        """The owner's connection is gone: its attached turns end."""
        for turn in [turn for turn in self._turns.values() if self._owners.get(turn.id) is owner]:
            turn.finish("abort")

    def discard_prompt(self, turn: Turn) -> None:
        """The client threw away the prompt of a turn that was answered already.

        A session that has gone on since has gone on with that prompt.
        """
        if turn.open:
            turn.finish("abort", prompt_discarded=True)
        elif turn.session.last_turn == turn.id:
            turn.discard_prompt()

    def shutdown(self) -> None:
        """The daemon is stopping: every open turn ends."""
        for turn in list(self._turns.values()):
            turn.finish("shutdown")

    # Outside any turn -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        project_root: str | None,
        limit: int,
        ready: Callable[[list[DeliveredDocument] | MemrecallError], None],
    ) -> None:
        """Ranked notes for a query, best first, with the reasons of each match; no session is touched."""
        terms = query_terms(strip_recalled(query))

        def rank(pool: Pool | MemrecallError) -> None:
            if isinstance(pool, MemrecallError):
                ready(pool)
                return
            now_ns = self._clock.now_ns()
            found = pool.search(terms, limit=limit, now_ns=now_ns, keep=lambda _: True)
            ready(
                [
                    describe(
                        each.document,
                        now_ns,
                        matched=pool.explain(each.document, terms).matches,
                        score=each.score,
                    )
                    for each in found
                ]
            )

        self._notes.pool(project_root, frozenset(), rank, whole=True)

    def session(self, key: SessionKey) -> Session:
        """The record of a session, for reading; one that is not held is as its last turn left it."""
        return self._sessions.peek(key)

    @property
    def session_count(self) -> int:
        """Sessions held in memory."""
        return len(self._sessions)

    @property
    def open_turns(self) -> int:
        """Turns that have not ended."""
        return len(self._turns)

    # Services of the turns ------------------------------------------------------------------------

    def read(self, turn: Turn) -> None:
        def ready(pool: Pool | MemrecallError) -> None:
            try:
                if isinstance(pool, MemrecallError):
                    turn.on_pool_failed(pool)
                else:
                    turn.on_pool(pool)
            except Exception:
                # A fault of ours, which is reported further up; nobody is to wait for this turn for ever.
                turn.finish("failed", prompt_discarded=True)
                raise

        self._notes.pool(turn.request.project_root, turn.request.exclude_layouts, ready)

    def select(self, turn: Turn, query: str, manifest: Manifest, done: Done) -> Callable[[], None]:
        if self.selection is None:  # the configuration took it away while the notes were read
            done(SelectionError("no-selector"))
            return lambda: None
        self.telemetry.count("selector.asked")
        close: Callable[[], None] | None = None

        def settle(selection: Sequence[Document] | SelectionError) -> None:
            timer.cancel()
            if isinstance(selection, SelectionError):
                self.telemetry.count(f"selector.failed.{selection}")
            else:
                self.telemetry.count("selector.answered")
            done(selection)

        def time_out() -> None:
            if close is not None:
                close()
            settle(SelectionError("timeout"))

        timer = self._clock.call_later(SELECTION_S, time_out)
        close = self.selection.select(query, manifest, settle, self._owners.get(turn.id))

        def cancel() -> None:
            timer.cancel()
            close()

        return cancel

    def reread(self, documents: Sequence[Document], done: Callable[[list[Document] | None], None]) -> None:
        self._notes.reread(documents, done)

    def ended(self, turn: Turn, outcome: Outcome) -> None:
        session = turn.session
        if self._turns.get(session.key) is turn:
            del self._turns[session.key]
        self._owners.pop(turn.id, None)
        if (timer := self._expiry.pop(turn.id, None)) is not None:
            timer.cancel()
        match outcome.discard_reason:
            case "no_relevant_results" | "already_delivered" as reason:
                session.last_ended = (turn.id, reason)
        self.telemetry.record(outcome)

    # The parts ------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        if len(self._turns) < MAX_OPEN_TURNS:
            return
        detached = next((turn for turn in self._turns.values() if turn.id in self._expiry), None)
        if detached is None:
            raise TooManyTurns(f"{MAX_OPEN_TURNS} turns are open; end some of them, or cancel them")
        detached.finish("expired")

    def _check_owner(self, turn: Turn, owner: object) -> None:
        if self._owners.get(turn.id, owner) is not owner:
            raise TurnNotYours(
                "this turn belongs to another connection; "
                "start it with detached: true to share it between processes"
            )

    def _last_state(self, key: SessionKey, turn_id: str | None) -> ToolResult:
        """What a tool result hears when no turn is open: why the last one ended empty-handed, or ``none``."""
        session = self._sessions.held(key)
        if session is not None and session.last_ended is not None:
            last_id, state = session.last_ended
            if turn_id in {None, last_id}:
                return ToolResult(turn_id=last_id, state=state)
        return ToolResult(turn_id=None, state="none")
