"""What the daemon tells about itself: numbers, enums and ids, never a query, a note's text, a path or a
title."""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Mapping
from typing import Final

import msgspec

from memrecalld.recall.outcome import Outcome

_log = logging.getLogger("memrecalld.recall")

_LATENCY_SAMPLES: Final = 2_048
"""Waits kept for the percentiles: enough for a p99 of the recent past, 16 KiB."""


class Latency(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Percentiles of the initial wait over the last turns, milliseconds; zero when there was none."""

    samples: int
    p50: float
    p90: float
    p99: float
    max: float


class Telemetry:
    """Counters since the start of the process, and one log record per outcome."""

    def __init__(self) -> None:
        self._counters: Counter[str] = Counter()
        self._waits: deque[float] = deque(maxlen=_LATENCY_SAMPLES)

    def record(self, outcome: Outcome) -> None:
        """Count and log the end of a recall."""
        self._counters["turns"] += 1
        self._counters[f"delivery_point.{outcome.delivery_point}"] += 1
        if outcome.discard_reason is not None:
            self._counters[f"discarded.{outcome.discard_reason}"] += 1
        self._counters["documents.fast"] += outcome.fast_documents
        self._counters["documents.refined"] += outcome.documents
        self._waits.append(outcome.wait_ms)
        if _log.isEnabledFor(logging.INFO):
            _log.info("recall ended: %s", msgspec.json.encode(outcome).decode())

    def count(self, name: str) -> None:
        """Add one to a counter."""
        self._counters[name] += 1

    @property
    def counters(self) -> Mapping[str, int]:
        """All counters, by name."""
        return dict(sorted(self._counters.items()))

    def latency(self) -> Latency:
        """Percentiles by the nearest-rank method."""
        waits = sorted(self._waits)
        if not waits:
            return Latency(samples=0, p50=0.0, p90=0.0, p99=0.0, max=0.0)

        def percentile(share: float) -> float:
            return waits[math.ceil(share * len(waits)) - 1]

        return Latency(
            samples=len(waits),
            p50=percentile(0.50),
            p90=percentile(0.90),
            p99=percentile(0.99),
            max=waits[-1],
        )
