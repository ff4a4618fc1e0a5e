"""How what a turn has chosen reaches its client, and what is recorded of it.

The turn decides what goes out, and when. Its notes count as given to the session from the moment they are
prepared, so that no other turn gives them too, and no longer once it shows that nobody was there to get them
or that the prompt which held them was thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from memrecalld.memory.document import Document
from memrecalld.ranking.scorer import Match
from memrecalld.recall.clock import Clock
from memrecalld.recall.delivery import Delivery, Phase, compose
from memrecalld.recall.exchange import Answer, EndedBy, FastResult, Listener, ToolResult
from memrecalld.recall.prompt import fitting
from memrecalld.recall.session import Handover, Session

INITIAL_WAIT_S: Final = 0.100
"""Ceiling of the initial wait. A ceiling and not a cost: most waits end with the fast result, in a few ms."""


class Prepared(NamedTuple):
    """A delivery, and the record that it went out: written last, so that a crash before loses nothing."""

    delivery: Delivery
    handover: Handover


class Deliverer:
    """All that one turn gives its client: the end of the initial wait, once, and answers at tool results."""

    def __init__(
        self,
        turn_id: str,
        *,
        session: Session,
        listener: Listener,
        clock: Clock,
        on_ceiling: Callable[[], None],
        series: int | None,
        detached: bool,
    ) -> None:
        """``series`` is of the deliveries to the turn's client, where that told it."""
        self.waiting = True
        """The initial wait is not over. Until it is, ``on_ceiling`` may be called."""
        self.wait_ms = 0.0
        """How long the initial wait took, in milliseconds."""
        self.fast_documents = 0
        """Documents in the fast delivery, if there was one."""
        self._turn_id = turn_id
        self._session = session
        self._listener = listener
        self._clock = clock
        self._series = series
        self._detached = detached
        self._handovers: list[Handover] = []
        self._started = clock.monotonic()
        self._ceiling = clock.call_later(INITIAL_WAIT_S, on_ceiling)

    @property
    def handed_over(self) -> bool:
        """The client was given something that was not taken back."""
        return bool(self._handovers)

    def undelivered(self, documents: Sequence[Document]) -> list[Document]:
        """Those that the session does not have."""
        return [document for document in documents if document not in self._session.delivered]

    def prepare(
        self,
        phase: Phase,
        strategy: Literal["heuristic", "model"],
        documents: Sequence[Document],
        *,
        max_prompt_chars: int | None,
        matched: Callable[[Document], tuple[Match, ...]],
    ) -> Prepared | None:
        """The delivery of those ``documents``, best first, that fit; None where not one of them does.

        It goes out with ``end_wait`` or ``answer``, in the call that prepared it.
        """
        now_ns = self._clock.now_ns()
        documents = fitting(documents, now_ns, max_prompt_chars)
        if not documents:
            return None
        delivered = self._session.delivered
        # Anybody may ask for a detached turn's later delivery: its receiver has a series of its own.
        delivery_id = delivered.next_delivery(None if self._detached and not self.waiting else self._series)
        delivery = compose(str(delivery_id), phase, strategy, documents, now_ns=now_ns, matched=matched)
        self._series = delivery_id.series
        handover = delivered.hand_over(documents, delivery_id)
        self._handovers.append(handover)
        return Prepared(delivery, handover)

    def end_wait(self, ended_by: EndedBy, prepared: Prepared | None, *, pending: bool, partial: bool) -> bool:
        """The initial wait is over, with what goes into the first prompt.

        ``False`` says that nobody is there any more.
        """
        self.stop_waiting()
        delivery, handover = prepared or (None, None)
        result = FastResult(
            turn_id=self._turn_id,
            ended_by=ended_by,
            delivery=delivery,
            pending=pending,
            partial=partial,
            wait_ms=round(self.wait_ms, 3),
        )
        if self._listener.fast(result, handover):
            if delivery is not None and delivery.phase == "fast":
                self.fast_documents = len(delivery.documents)
            return True
        if handover is not None:
            self._take_back(handover)
        return False

    def stop_waiting(self) -> None:
        """The initial wait is over; harmless when it already was."""
        if self.waiting:
            self.waiting = False
            self.wait_ms = (self._clock.monotonic() - self._started) * 1e3
            self._ceiling.cancel()

    def answer(self, answer: Answer, prepared: Prepared) -> bool:
        """Deliver at a tool result. ``False`` says that nobody is there any more."""
        delivery, handover = prepared
        if answer(ToolResult(turn_id=self._turn_id, state="delivered", delivery=delivery), handover):
            return True
        self._take_back(handover)
        return False

    def discard_prompt(self) -> None:
        """What was handed over may be delivered again: the prompt that it went into was thrown away."""
        for handover in reversed(self._handovers):
            handover.take_back()
        self._handovers.clear()

    def _take_back(self, handover: Handover) -> None:
        handover.take_back()
        self._handovers.remove(handover)
