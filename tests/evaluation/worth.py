"""What each signal of the product's ranker is worth: a table of what changes without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from memrecalld.memory.document import Document
from tests.evaluation import ablation, dataset, measures, report, small, systems
from tests.evaluation.measures import Measure, Outcome

_ELSEWHERE: Final[dict[str, tuple[Measure, Callable[[list[Outcome]], list[Outcome]]]]] = {
    "Recall@2": (measures.recall_at(2), measures.answerable),
    measures.NO_RESULT_RECALL: (measures.silence, measures.unanswerable),
}
"""What the ablation shows besides all measures on the tune split."""

SMALL_STORE: Final = 3
"""Notes of the small stores for which signals are taken out."""


class Asked(NamedTuple):
    """How the product's ranker does on what it was made with."""

    tune: list[Outcome]
    small: list[Outcome]
    """The same queries, put to small stores."""
    development: list[Outcome]


class Ablated(NamedTuple):
    """How the ranker does without one signal."""

    signal: ablation.Signal
    asked: Asked


def ask_product(documents: Sequence[Document]) -> Asked:
    """Ask the product's ranker as it is at this moment."""
    product = systems.product(documents)
    return Asked(
        tune=measures.run(product, dataset.queries("tune")),
        small=small.run(systems.product, "tune", SMALL_STORE),
        development=measures.run(product, dataset.queries(report.DEVELOPMENT)),
    )


def run_ablation(documents: Sequence[Document]) -> list[Ablated]:
    """Ask the product's ranker, each time with one signal taken out."""
    found = []
    for signal in ablation.SIGNALS:
        with ablation.taken_out(signal):
            found.append(Ablated(signal, ask_product(documents)))
    return found


def signals(whole: Asked, ablated: Iterable[Ablated]) -> str:
    """What each signal is worth: the change, in points, when it is taken out."""
    heads = ["without", *measures.ANSWERED, measures.NO_RESULT_RECALL]
    heads += [f"{label}, {where}" for where in ("small stores", report.DEVELOPMENT) for label in _ELSEWHERE]
    before = _means(whole)
    rows = [["(nothing)", *map(report.percent, before)]]
    for signal, asked in ablated:
        changes = [after - value for after, value in zip(_means(asked), before, strict=True)]
        rows.append(
            [signal.name, *(report.percent(change, sign=True) if change else "" for change in changes)]
        )
    return report.table(heads, rows)


def costs(whole: Asked, without: Asked) -> bool:
    """Without a signal something got worse: a measure over all queries, or over those of a category."""
    return any(_costs(before, after) for before, after in zip(whole, without, strict=True))


def _means(asked: Asked) -> list[float]:
    answered = measures.answerable(asked.tune)
    return [
        *(measures.mean(measure, answered) for measure in measures.ANSWERED.values()),
        measures.mean(measures.silence, measures.unanswerable(asked.tune)),
        *(
            measures.mean(measure, choose(outcomes))
            for outcomes in (asked.small, asked.development)
            for measure, choose in _ELSEWHERE.values()
        ),
    ]


def _costs(whole: Sequence[Outcome], outcomes: Sequence[Outcome]) -> bool:
    pairs = [(whole, outcomes)]
    for category in {outcome.query.category for outcome in whole}:
        pairs.append((measures.of_category(whole, category), measures.of_category(outcomes, category)))
    for before, after in pairs:
        answered = measures.answerable(before), measures.answerable(after)
        for label, measure in measures.ANSWERED.items():
            gain = measures.mean(measure, answered[0]) - measures.mean(measure, answered[1])
            if (-gain if label == "false silence" else gain) > 0:
                return True
        unanswered = measures.unanswerable(before), measures.unanswerable(after)
        if measures.mean(measures.silence, unanswered[0]) > measures.mean(measures.silence, unanswered[1]):
            return True
    return False
