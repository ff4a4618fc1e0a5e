"""Watching turns from beside: what was handed over, and how it ended, told once it is so.

An observer changes nothing. It hears of a delivery after the client was given it, and of nothing that the
client was not given.
"""

from __future__ import annotations

from typing import Protocol

from memrecalld.errors import MemrecallError
from memrecalld.recall.delivery import Delivery
from memrecalld.recall.exchange import Answer, FastResult, Listener, RecallRequest, ToolResult
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.session import Handover, SessionKey


class Observer(Protocol):
    """Who is told. Both methods return soon and raise nothing: the turn waits for them."""

    def handed_over(
        self, key: SessionKey, request: RecallRequest, turn_id: str, delivery: Delivery | None
    ) -> None:
        """The initial wait is over (``delivery`` is None when it brought nothing), or a later delivery went
        out."""

    def ended(self, key: SessionKey, request: RecallRequest, outcome: Outcome) -> None:
        """The turn's one outcome."""


class ObservedListener:
    """A turn's listener whose results an observer hears of, too."""

    def __init__(
        self, listener: Listener, observer: Observer, key: SessionKey, request: RecallRequest
    ) -> None:
        self._listener = listener
        self._observer = observer
        self._key = key
        self._request = request

    def fast(self, result: FastResult, handover: Handover | None) -> bool:
        if not self._listener.fast(result, handover):
            return False
        self._observer.handed_over(self._key, self._request, result.turn_id, result.delivery)
        return True

    def ended(self, outcome: Outcome, error: MemrecallError | None) -> None:
        self._listener.ended(outcome, error)
        self._observer.ended(self._key, self._request, outcome)


def observed_answer(
    answer: Answer, observer: Observer, key: SessionKey, request: RecallRequest, turn_id: str
) -> Answer:
    """``answer``, and an observer hears of the delivery that it took."""

    def observed(result: ToolResult, handover: Handover | None) -> bool:
        if not answer(result, handover):
            return False
        if result.delivery is not None:
            observer.handed_over(key, request, turn_id, result.delivery)
        return True

    return observed
