"""The tables of an evaluation, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from memrecalld.memory.document import Document
from tests.evaluation import ablation, dataset, measures, systems
from tests.evaluation.dataset import NOTHING_TO_RECALL, SPLITS, Split
from tests.evaluation.measures import Measure, Outcome

_COMPARED: Final = (systems.BASELINE, systems.BM25, systems.BM25_KEYS, systems.PRODUCT)
_DEPTHS: Final = ("Recall@2", "Recall@5", "top-1")
_WITH_INTERVAL: Final = ("Recall@2", "Recall@5", "top-1")

DEVELOPMENT: Final[Split] = "development"

Runs = dict[Split, dict[str, list[Outcome]]]


class Ablated(NamedTuple):
    """How the ranker does on the queries for tuning without one signal."""

    signal: ablation.Signal
    outcomes: list[Outcome]


def run_all(documents: Sequence[Document]) -> Runs:
    """Ask every system every query."""
    compared = systems.all_systems(documents)
    return {
        split: {system.name: measures.run(system, dataset.queries(split)) for system in compared}
        for split in (*SPLITS, DEVELOPMENT)
    }


def run_ablation(documents: Sequence[Document]) -> list[Ablated]:
    """Ask the product's ranker the queries for tuning, each time with one signal taken out."""
    found = []
    for signal in ablation.SIGNALS:
        with ablation.taken_out(signal):
            found.append(Ablated(signal, measures.run(systems.product(documents), dataset.queries("tune"))))
    return found


def floor(documents: Sequence[Document], depth: int) -> float:
    """The share of queries with one relevant note that a query-blind system finds within ``depth``."""
    return depth / len(documents)


def overall(runs: Runs, split: Split) -> str:
    """All systems over all queries of ``split``, in percent, with intervals."""
    heads = ["", *measures.ANSWERED, measures.NO_RESULT_RECALL]
    rows = []
    for name, outcomes in runs[split].items():
        answered = measures.answerable(outcomes)
        cells = [
            _with_interval([measure(outcome) for outcome in answered])
            if label in _WITH_INTERVAL
            else _percent(measures.mean(measure, answered))
            for label, measure in measures.ANSWERED.items()
        ]
        rows.append(
            [name, *cells, _percent(measures.mean(measures.silence, measures.unanswerable(outcomes)))]
        )
    return _table(heads, rows)


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
    return _table(["ahead of", *_DEPTHS, measures.NO_RESULT_RECALL], rows)


def by_category(runs: Runs, split: Split) -> str:
    """Recall@2 / Recall@5 / top-1 by category; the share of silence where there is nothing to recall."""
    rows = []
    for category in _categories(runs, split):
        cells = []
        for name in _COMPARED:
            outcomes = measures.of_category(runs[split][name], category)
            if category in NOTHING_TO_RECALL:
                cells.append(f"silent {_percent(measures.mean(measures.silence, outcomes))}")
            else:
                each = (measures.mean(measures.ANSWERED[label], outcomes) for label in _DEPTHS)
                cells.append(" / ".join(_percent(value) for value in each))
        count = len(measures.of_category(runs[split][systems.PRODUCT], category))
        rows.append([category, str(count), *cells])
    return _table(["", "queries", *_COMPARED], rows)


def signals(whole: Sequence[Outcome], ablated: Iterable[Ablated]) -> str:
    """What each signal is worth: the change, in points, when it is taken out."""
    columns: dict[str, tuple[Measure, bool]] = {
        **{label: (measure, True) for label, measure in measures.ANSWERED.items()},
        measures.NO_RESULT_RECALL: (measures.silence, False),
    }

    def means(outcomes: Sequence[Outcome]) -> list[float]:
        answered, unanswered = measures.answerable(outcomes), measures.unanswerable(outcomes)
        return [
            measures.mean(measure, answered if of_answered else unanswered)
            for measure, of_answered in columns.values()
        ]

    before = means(whole)
    rows = [["(nothing)", *map(_percent, before)]]
    for signal, outcomes in ablated:
        changes = [after - value for after, value in zip(means(outcomes), before, strict=True)]
        rows.append([signal.name, *(_percent(change, sign=True) if change else "" for change in changes)])
    return _table(["without", *columns], rows)


def costs(whole: Sequence[Outcome], outcomes: Sequence[Outcome]) -> bool:
    """Without a signal something got worse: a measure over all queries, or over those of a category."""
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
    return f"{_percent(middle, sign=sign)} ({_percent(low, sign=sign)} … {_percent(high, sign=sign)})"


def _percent(value: float, *, sign: bool = False) -> str:
    return f"{100 * value:{'+' if sign else ''}.1f}".replace("-", "−")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
