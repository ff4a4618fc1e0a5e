"""What a turn and its client say to each other: the request, and the results that come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from memrecalld.errors import MemrecallError
from memrecalld.recall.delivery import Delivery
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.session import Handover

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
    last_delivery: str | None = None
    """Id of the last delivery that the client received; see ``DeliveredSet.settle``."""


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
