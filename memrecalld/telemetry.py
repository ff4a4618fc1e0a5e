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
"""Waits kept for the percentiles: twenty beyond the p99, so that it is no accident of one turn, in 64 KiB."""

_FAILED_SELECTIONS: Final = 3
"""In a row; one is the network's, three are for somebody to look at."""


class Latency(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Percentiles of the initial wait over the last turns, milliseconds; zero when there was none."""

    samples: int
    p50: float
    p90: float
    p99: float
    max: float


class Telemetry:
    """Counters since the start of the process, one log record per outcome, and what is failing now."""

    def __init__(self) -> None:
        self._counters: Counter[str] = Counter()
        self._waits: deque[float] = deque(maxlen=_LATENCY_SAMPLES)
        self._failed_selections = 0
        self._state_fails = False

    def record(self, outcome: Outcome) -> None:
        """Count and log the end of a recall."""
        self._counters["turns"] += 1
        self._counters[f"delivery_point.{outcome.delivery_point}"] += 1
        if outcome.discard_reason is not None:
            self._counters[f"discarded.{outcome.discard_reason}"] += 1
        self._counters["documents.fast"] += outcome.fast_documents
        self._counters["documents.refined"] += outcome.documents
        if _log.isEnabledFor(logging.INFO):
            _log.info("recall ended: %s", msgspec.json.encode(outcome).decode())

    def waited(self, milliseconds: float) -> None:
        """A turn's fast result went out so long after its start; one that ended before has no such wait."""
        self._waits.append(milliseconds)

    def count(self, name: str) -> None:
        """Add one to a counter. The first words of some names tell what fails, or works again."""
        self._counters[name] += 1
        match name.split(".")[:2]:
            case ["selector", "failed"]:
                self._failed_selections += 1
            case ["selector", "answered"]:
                self._failed_selections = 0
            case ["state", "failed"]:
                self._state_fails = True
            case ["state", "recovered"]:
                self._state_fails = False

    @property
    def counters(self) -> Mapping[str, int]:
        """All counters, by name."""
        return dict(sorted(self._counters.items()))

    @property
    def troubles(self) -> list[str]:
        """What is failing at the moment: ``state-in-memory``, ``selector-failing``."""
        found = ["state-in-memory"] if self._state_fails else []
        return found if self._failed_selections < _FAILED_SELECTIONS else [*found, "selector-failing"]

    def latency(self) -> Latency:
        """Percentiles by the nearest-rank method: of n ordered waits the one at place ceil(p · n).

        It is the first of the definitions in Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
        American Statistician 50 (1996): always a wait that was, never one between two.
        """
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
