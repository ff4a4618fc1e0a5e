"""What the answers to labelled queries are worth, and how sure one can be of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple

from tests.evaluation.dataset import NOTHING_TO_RECALL, LabelledQuery
from tests.evaluation.systems import System

RESAMPLES: Final = 1_000
CONFIDENCE: Final = 0.95
BOOTSTRAP_SEED: Final = 20_260_809


class Outcome(NamedTuple):
    """How one query went. ``rank`` counts from 1; ``None`` where no relevant note was found."""

    query: LabelledQuery
    rank: int | None
    best_first: bool
    silent: bool
    """Nothing was handed over."""


Measure = Callable[[Outcome], float]


def recall_at(depth: int) -> Measure:
    """A relevant note is among the first ``depth``."""

    def measure(outcome: Outcome) -> float:
        return float(outcome.rank is not None and outcome.rank <= depth)

    return measure


def reciprocal_rank(outcome: Outcome) -> float:
    """One over the place of the first relevant note; 0 without one."""
    return 0.0 if outcome.rank is None else 1 / outcome.rank


def best_first(outcome: Outcome) -> float:
    """The first note is the one that a careful person would put first."""
    return float(outcome.best_first)


def silence(outcome: Outcome) -> float:
    """Nothing was handed over: right where nothing is to be recalled, false elsewhere."""
    return float(outcome.silent)


FALSE_SILENCE: Final = "false silence"

ANSWERED: Final[dict[str, Measure]] = {
    "Recall@2": recall_at(2),
    "Recall@5": recall_at(5),
    "top-1": recall_at(1),
    "best@1": best_first,
    "MRR": reciprocal_rank,
    FALSE_SILENCE: silence,
}
"""Measures over the queries that a note answers."""

NO_RESULT_RECALL: Final = "no-result recall"
"""``silence`` over the queries that none answers, small talk among them."""


def run(system: System, queries: Iterable[LabelledQuery]) -> list[Outcome]:
    """Ask ``system`` every query."""
    outcomes = []
    for query in queries:
        found = system.search(query.text)
        relevant = set(query.relevant)
        rank = next((place for place, note in enumerate(found, 1) if note in relevant), None)
        outcomes.append(Outcome(query, rank, bool(found) and found[0] == query.best, not found))
    return outcomes


def answerable(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes of queries that a note answers."""
    return [outcome for outcome in outcomes if outcome.query.category not in NOTHING_TO_RECALL]


def unanswerable(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes of queries that none answers."""
    return [outcome for outcome in outcomes if outcome.query.category in NOTHING_TO_RECALL]


def of_category(outcomes: Iterable[Outcome], category: str) -> list[Outcome]:
    """The outcomes of the queries of one category."""
    return [outcome for outcome in outcomes if outcome.query.category == category]


def mean(measure: Measure, outcomes: Sequence[Outcome]) -> float:
    """Mean of ``measure``; 0 over nothing."""
    return sum(map(measure, outcomes)) / len(outcomes) if outcomes else 0.0


def value(label: str, outcomes: Iterable[Outcome]) -> float:
    """The mean of a measure, by its name, over those of ``outcomes`` that it is for."""
    if label == NO_RESULT_RECALL:
        return mean(silence, unanswerable(outcomes))
    return mean(ANSWERED[label], answerable(outcomes))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Where the mean of ``values`` would lie in 95 of 100 samples of queries: percentile bootstrap, seeded.

    Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13. For paired differences, give
    the differences.
    """
    count = len(values)
    if not count:
        return 0.0, 0.0
    means = sorted(sum(values[place] for place in sample) / count for sample in _samples(count))
    cut = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    return means[cut], means[-1 - cut]


def differences(measure: Measure, ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> list[float]:
    """How much better, query by query, one system did than another on the same queries."""
    return [measure(one) - measure(other) for one, other in zip(ours, theirs, strict=True)]


@cache
def _samples(count: int) -> list[list[int]]:
    """The same resamples for every system and measure, so that equal answers give equal intervals."""
    generator = random.Random(f"{BOOTSTRAP_SEED} {count}")
    return [[int(generator.random() * count) for _ in range(count)] for _ in range(RESAMPLES)]
