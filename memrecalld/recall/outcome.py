"""The one record in which every recall ends."""

from __future__ import annotations

from typing import Literal

import msgspec

DeliveryPoint = Literal["initial", "tool_result", "discarded"]
"""Where the settled result went: into the first prompt, to a tool result, or nowhere."""

Strategy = Literal["none", "heuristic", "model"]
"""Who chose the settled result: nobody (yet), the scorer, or the model."""

DiscardReason = Literal[
    "no_relevant_results",
    "already_delivered",
    "no_safe_delivery_point",
    "new_query",
    "reset",
    "abort",
    "shutdown",
    "expired",
    "failed",
]


class Outcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Numbers, enums and ids only: it may be logged, counted and sent anywhere.

    Times are in milliseconds. ``documents`` counts what the refined delivery handed over, ``fast_documents``
    what the fast one did; ``scanned`` is the size of the pool, ``candidates`` that of the model's manifest.
    """

    turn_id: str
    delivery_point: DeliveryPoint
    discard_reason: DiscardReason | None = None
    strategy: Strategy
    phase: Literal["refined"]
    documents: int
    fast_documents: int
    scanned: int
    candidates: int
    query_length: int
    scan_ms: float
    rank_ms: float
    select_ms: float
    wait_ms: float
