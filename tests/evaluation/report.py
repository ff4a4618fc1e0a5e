"""The tables of an evaluation, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memrecalld.memory.document import Document
from tests.evaluation import dataset, measures, small, subject, systems
from tests.evaluation.dataset import NAME_ALONE, NOTHING_TO_RECALL, SPLITS, Split
from tests.evaluation.measures import Outcome

_COMPARED: Final = (
    systems.GREP,
    systems.BEFORE,
    systems.BASELINE,
    systems.BM25,
    systems.BM25_KEYS,
    systems.PRODUCT,
)
_DEPTHS: Final = ("Recall@2", "Recall@5", "top-1")
_WITH_INTERVAL: Final = ("Recall@2", "Recall@5", "top-1")
_BRIEFLY: Final = ("Recall@2", "top-1", measures.FALSE_SILENCE, measures.NO_RESULT_RECALL)
_BASELINE_AND_PRODUCT: Final = (
    (systems.BASELINE, systems.baseline),
    (systems.PRODUCT, systems.product),
)

DEVELOPMENT: Final[Split] = "development"

Runs = dict[Split, dict[str, list[Outcome]]]


def run_all(documents: Sequence[Document]) -> Runs:
    """Ask every system every query of the corpus and of its makers."""
    compared = systems.all_systems(documents)
    return {
        split: {system.name: measures.run(system, dataset.queries(split)) for system in compared}
        for split in (*SPLITS, DEVELOPMENT)
    }


def run_typed() -> Runs:
    """Ask every system for notes of a type."""
    compared = systems.all_systems(dataset.documents(dataset.TYPED))
    return {
        split: {
            system.name: measures.run(system, dataset.queries(split, dataset.TYPED)) for system in compared
        }
        for split in SPLITS
    }


def floor(documents: Sequence[Document], depth: int) -> float:
    """The share of queries with one relevant note that a query-blind system finds within ``depth``."""
    return depth / len(documents)


def overall(runs: Runs, split: Split) -> str:
    """All systems over all queries of ``split``, in percent, with intervals."""
    silences = any(map(measures.unanswerable, runs[split].values()))
    heads = ["", *measures.ANSWERED, *[measures.NO_RESULT_RECALL] * silences]
    rows = []
    for name, outcomes in runs[split].items():
        answered = measures.answerable(outcomes)
        cells = [
            _with_interval([measure(outcome) for outcome in answered])
            if label in _WITH_INTERVAL
            else percent(measures.mean(measure, answered))
            for label, measure in measures.ANSWERED.items()
        ]
        if silences:
            cells.append(percent(measures.value(measures.NO_RESULT_RECALL, outcomes)))
        rows.append([name, *cells])
    return table(heads, rows)


def advantages(runs: Runs, split: Split) -> str:
    """How many points the product's ranker is ahead of each other system, query by query."""
    ours = runs[split][systems.PRODUCT]
    rows = []
    for name, theirs in runs[split].items():
        if name == systems.PRODUCT:
            continue
        answered = (measures.answerable(ours), measures.answerable(theirs))
        unanswered = (measures.unanswerable(ours), measures.unanswerable(theirs))
        gains = [measures.differences(measures.ANSWERED[label], *answered) for label in _DEPTHS]
        gains.append(measures.differences(measures.silence, *unanswered))
        rows.append([name, *(_with_interval(each, sign=True) for each in gains)])
    return table(["ahead of", *_DEPTHS, measures.NO_RESULT_RECALL], rows)


def by_category(runs: Runs, split: Split) -> str:
    """Recall@2 / Recall@5 / top-1 by category; the share of silence where there is nothing to recall."""
    rows = []
    for category in _categories(runs, split):
        cells = []
        for name in _COMPARED:
            outcomes = measures.of_category(runs[split][name], category)
            if category in NOTHING_TO_RECALL:
                cells.append(f"silent {percent(measures.mean(measures.silence, outcomes))}")
            else:
                each = (measures.mean(measures.ANSWERED[label], outcomes) for label in _DEPTHS)
                cells.append(" / ".join(percent(value) for value in each))
        count = len(measures.of_category(runs[split][systems.PRODUCT], category))
        rows.append([category, str(count), *cells])
    return table(["", "queries", *_COMPARED], rows)


def intervals(runs: Runs, split: Split) -> str:
    """The product's ranker by category, with intervals."""
    heads = ["", *_DEPTHS, "MRR", measures.NO_RESULT_RECALL]
    rows = []
    for category in _categories(runs, split):
        outcomes = measures.of_category(runs[split][systems.PRODUCT], category)
        if category in NOTHING_TO_RECALL:
            cells = [*[""] * (len(heads) - 2), _with_interval([measures.silence(each) for each in outcomes])]
        else:
            cells = [
                _with_interval([measures.ANSWERED[label](each) for each in outcomes]) for label in heads[1:-1]
            ]
            cells.append("")
        rows.append([category, *cells])
    return table(heads, rows)


def small_stores(split: Split) -> str:
    """The product's ranker and the baseline in small stores."""
    rows = []
    for size in small.SIZES:
        for name, system in _BASELINE_AND_PRODUCT:
            outcomes = small.run(system, split, size)
            rows.append([str(size), name, *(percent(measures.value(label, outcomes)) for label in _BRIEFLY)])
    return table(["notes", "", *_BRIEFLY], rows)


def one_subject(split: Split) -> str:
    """The product's ranker and the baseline in a store about one subject."""
    rows = []
    for name, system in _BASELINE_AND_PRODUCT:
        outcomes = subject.run(system, split)
        corpus = [outcome for outcome in outcomes if outcome.query.category != NAME_ALONE]
        alone = measures.of_category(outcomes, NAME_ALONE)
        values = [measures.value(label, corpus) for label in _BRIEFLY]
        values.append(measures.value(measures.NO_RESULT_RECALL, alone))
        rows.append([name, *map(percent, values)])
    return table(["", *_BRIEFLY, "silence at the name alone"], rows)


def misses(outcomes: Iterable[Outcome]) -> str:
    """One line for each query that went wrong. Raises ``ValueError`` for a held-out one."""
    lines = []
    for query, rank, _, silent in outcomes:
        if query.split == "held-out":
            raise ValueError("held-out queries are not looked at one by one")
        if query.category in NOTHING_TO_RECALL:
            if not silent:
                lines.append(f"{query.id}: not silent: {query.text[:80]!r}")
        elif rank != 1:
            where = "silent" if silent else "not found" if rank is None else f"place {rank}"
            lines.append(f"{query.id}: {where}: {query.text[:80]!r}")
    return "\n".join(lines)


def _categories(runs: Runs, split: Split) -> list[str]:
    return list(dict.fromkeys(outcome.query.category for outcome in runs[split][systems.PRODUCT]))


def _with_interval(values: Sequence[float], *, sign: bool = False) -> str:
    low, high = measures.interval(values)
    middle = sum(values) / len(values)
    return f"{percent(middle, sign=sign)} ({percent(low, sign=sign)} … {percent(high, sign=sign)})"


def percent(value: float, *, sign: bool = False) -> str:
    """A number as the tables show it; ``sign`` shows a plus too."""
    return f"{100 * value:{'+' if sign else ''}.1f}".replace("-", "−")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all but the first column are set to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
