"""What each signal of the product's ranker is worth: a table of what changes without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from memrecalld.memory.document import Document
from tests.evaluation import ablation, dataset, measures, report, small, subject, systems
from tests.evaluation.measures import Outcome

SMALL_STORE: Final = 3
"""Notes of the small stores for which signals are taken out."""


class Asked(NamedTuple):
    """How the product's ranker does on what it was made with."""

    tune: list[Outcome]
    small: list[Outcome]
    """The same queries, put to small stores."""
    subject: list[Outcome]
    """The same queries, put to a store about one subject, and the name of that subject alone."""
    typed: list[Outcome]
    """The queries for tuning that ask for notes of a type."""
    development: list[Outcome]


_RECALL_AND_SILENCE: Final = ("Recall@2", measures.NO_RESULT_RECALL)
_COLUMNS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("tune", "", (*measures.ANSWERED, measures.NO_RESULT_RECALL)),
    ("small", ", small stores", _RECALL_AND_SILENCE),
    ("subject", ", one subject", _RECALL_AND_SILENCE),
    ("typed", ", words for a type", ("Recall@2", "top-1")),
    ("development", ", development", _RECALL_AND_SILENCE),
)
"""What the table shows: a field of ``Asked``, how the heads of its columns end, and the measures."""

_LABELS: Final = [label for _, _, labels in _COLUMNS for label in labels]


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
        subject=subject.run(systems.product, "tune"),
        typed=measures.run(
            systems.product(dataset.documents(dataset.TYPED)), dataset.queries("tune", dataset.TYPED)
        ),
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
    heads = ["without", *(label + ending for _, ending, labels in _COLUMNS for label in labels)]
    before = _means(whole)
    rows = [["(nothing)", *map(report.percent, before)]]
    for signal, asked in ablated:
        changes = [after - value for after, value in zip(_means(asked), before, strict=True)]
        rows.append(
            [signal.name, *(report.percent(change, sign=True) if change else "" for change in changes)]
        )
    return report.table(heads, rows)


def costs(whole: Asked, without: Asked) -> bool:
    """Without a signal some number of its line in the table is worse."""
    return any(
        after > before if label == measures.FALSE_SILENCE else after < before
        for label, before, after in zip(_LABELS, _means(whole), _means(without), strict=True)
    )


def _means(asked: Asked) -> list[float]:
    return [measures.value(label, getattr(asked, where)) for where, _, labels in _COLUMNS for label in labels]
