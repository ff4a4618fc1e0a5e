"""How results reach the client that asked for them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from memrecalld.errors import MemrecallError
from memrecalld.recall.exchange import FastResult
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.session import Handover
from memrecalld.server.connection import Connection
from memrecalld.server.messages.base import MessageId
from memrecalld.server.messages.recall import FastParams, StartParams, StartResult
from memrecalld.telemetry import Telemetry

T = TypeVar("T")


class StartAnswer:
    """Sends the results of one turn to the connection that started it."""

    def __init__(
        self,
        connection: Connection,
        telemetry: Telemetry,
        request_id: MessageId,
        params: StartParams,
    ) -> None:
        self._connection = connection
        self._telemetry = telemetry
        self._request_id = request_id
        self._session_id = params.session_id
        self._detached = params.detached
        self.response: Future[StartResult] = Future()

    def fast(self, result: FastResult, handover: Handover | None) -> bool:
        if not self._connection.open:
            return False
        fast = FastParams(
            request_id=self._request_id, session_id=self._session_id, **msgspec.structs.asdict(result)
        )
        self._connection.hand_over(handover)
        self._connection.protocol.notify("recall/fast", fast)
        if self._connection.gone():
            return False
        self._telemetry.waited(result.wait_ms)
        if self._detached and result.pending:
            self.response.set_result(StartResult(turn_id=result.turn_id, outcome=None))
        return True

    def ended(self, outcome: Outcome, error: MemrecallError | None) -> None:
        if self.response.done():  # a detached turn: the telemetry has its outcome
            return
        if error is not None:
            self.response.set_exception(JsonRpcException(str(error), code=error.code, data=outcome))
        elif outcome.discard_reason == "abort":
            self.response.set_exception(JsonRpcRequestCancelled(data=outcome))
        else:
            self.response.set_result(StartResult(turn_id=outcome.turn_id, outcome=outcome))


def into(response: Future[T], convert: Callable[[Any], T]) -> Callable[[Any], None]:
    """A callback that settles ``response`` with a converted value, or with the error that came instead."""

    def ready(value: Any) -> None:  # noqa: ANN401
        if isinstance(value, MemrecallError):
            response.set_exception(value)
        else:
            response.set_result(convert(value))

    return ready
