"""The product's ranker keeps what it promises on the labelled queries, above all on those held out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.evaluation import chart, dataset, measures, report, results, small, subject, systems, worth
from tests.evaluation.dataset import NOTHING_TO_RECALL, SPLITS, Split
from tests.evaluation.measures import Outcome, value
from tests.evaluation.report import Runs
from tests.evaluation.worth import Ablated

HERE = Path(__file__).parent

OTHERS = (systems.GREP, systems.BEFORE, systems.BASELINE, systems.BM25, systems.BM25_KEYS)


@cache
def runs() -> Runs:
    return report.run_all(dataset.documents())


@cache
def ablated() -> tuple[Ablated, ...]:
    return tuple(worth.run_ablation(dataset.documents()))


def outcomes(split: Split, system: str, category: str | None = None) -> list[Outcome]:
    found = runs()[split][system]
    return found if category is None else measures.of_category(found, category)


@cache
def typed_runs() -> Runs:
    return report.run_typed()


def silent(found: list[Outcome]) -> float:
    return value(measures.NO_RESULT_RECALL, found)


def categories() -> list[str]:
    return sorted({query.category for query in dataset.queries("tune")})


def test_the_notes_are_read_as_the_daemon_reads_them() -> None:
    documents = dataset.documents()
    named = {path for split in SPLITS for query in dataset.queries(split) for path in query.relevant}
    assert named <= {dataset.name(document) for document in documents}
    assert all(document.problem != "frontmatter-unclosed" for document in documents)


def test_a_query_blind_system_stays_far_below() -> None:
    assert report.floor(dataset.documents(), 5) <= 0.25
    for split in SPLITS:
        assert value("Recall@5", outcomes(split, systems.RANDOM)) <= 0.25
        assert value("Recall@5", outcomes(split, systems.PRODUCT)) >= 0.9


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("other", OTHERS)
def test_the_product_is_behind_no_other_system(split: Split, other: str) -> None:
    ours, theirs = outcomes(split, systems.PRODUCT), outcomes(split, other)
    for label in ("Recall@2", "Recall@5", "top-1", "best@1", "MRR"):
        assert value(label, ours) >= value(label, theirs), label
    assert silent(ours) >= silent(theirs)


@pytest.mark.parametrize("split", SPLITS)
def test_the_product_is_behind_the_baseline_in_no_category(split: Split) -> None:
    for category in categories():
        ours, theirs = (outcomes(split, name, category) for name in (systems.PRODUCT, systems.BASELINE))
        if category in NOTHING_TO_RECALL:
            assert silent(ours) > silent(theirs), category
            continue
        for label in ("Recall@2", "Recall@5", "top-1", "MRR"):
            assert value(label, ours) >= value(label, theirs), (category, label)


def test_the_product_is_well_ahead_of_the_baseline_on_held_out_queries() -> None:
    ours, theirs = outcomes("held-out", systems.PRODUCT), outcomes("held-out", systems.BASELINE)
    assert value("Recall@2", ours) >= value("Recall@2", theirs) + 0.10
    assert value("top-1", ours) >= value("top-1", theirs) + 0.15
    assert value("false silence", ours) <= 0.06


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("category", ["english", "chinese", "japanese", "korean", "mixed", "nfkc"])
def test_nearly_every_answer_is_among_five(category: str, split: Split) -> None:
    assert value("Recall@5", outcomes(split, systems.PRODUCT, category)) >= 0.98


def test_silence_where_silence_is_right() -> None:
    for split in SPLITS:
        assert silent(outcomes(split, systems.PRODUCT, "small-talk")) == 1.0
        assert silent(outcomes(split, systems.PRODUCT)) >= 0.97


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("size", small.SIZES)
def test_a_small_store_is_searched_as_well_and_as_silent(split: Split, size: int) -> None:
    ours = small.run(systems.product, split, size)
    theirs = small.run(systems.baseline, split, size)
    for label in ("Recall@2", "Recall@5", "top-1", "MRR"):
        assert value(label, ours) >= value(label, theirs), label
    assert value("Recall@2", ours) >= 0.91
    assert silent(ours) >= 0.95


@pytest.mark.parametrize("split", SPLITS)
def test_the_subject_of_a_store_is_no_reason_to_recall_a_note(split: Split) -> None:
    found = subject.run(systems.product, split)
    assert value("Recall@2", found) >= value("Recall@2", outcomes(split, systems.PRODUCT)) - 0.01
    assert silent(measures.of_category(found, dataset.NAME_ALONE)) == 1.0
    assert silent(found) >= 0.97


def test_the_subject_of_a_store_is_a_name_that_nothing_else_holds() -> None:
    name = subject.NAME.lower()
    for document in dataset.documents():
        assert name not in f"{document.title}\n{document.description}\n{document.body}".lower()
    for split in (*SPLITS, report.DEVELOPMENT):
        assert not any(name in query.text.lower() for query in dataset.queries(split))
    for document in subject.documents():
        assert document.unfilled or subject.NAME in f"{document.description}\n{document.body}"


@pytest.mark.parametrize("split", SPLITS)
def test_words_for_a_type_bring_the_note_of_that_type(split: Split) -> None:
    ours, theirs = (typed_runs()[split][name] for name in (systems.PRODUCT, systems.BASELINE))
    for label in ("Recall@2", "Recall@5", "top-1", "MRR"):
        assert value(label, ours) >= value(label, theirs), label
    assert value("top-1", ours) >= 0.9


def test_development_queries_are_none_of_the_corpus() -> None:
    corpus = {query.text.strip().lower() for split in SPLITS for query in dataset.queries(split)}
    assert corpus.isdisjoint(query.text.strip().lower() for query in dataset.queries(report.DEVELOPMENT))


def test_development_queries_stay_answered_and_silent() -> None:
    found = outcomes(report.DEVELOPMENT, systems.PRODUCT)
    spelt = measures.of_category(found, dataset.SPELT)
    others = [outcome for outcome in found if outcome.query.category != dataset.SPELT]
    assert value("Recall@2", others) >= 0.94
    assert value("Recall@2", spelt) > value(
        "Recall@2", outcomes(report.DEVELOPMENT, systems.BM25, dataset.SPELT)
    )
    assert silent(found) >= 0.9


def test_without_any_signal_something_in_the_table_is_worse() -> None:
    whole = worth.ask_product(dataset.documents())
    assert [each.signal.name for each in ablated() if not worth.costs(whole, each.asked)] == []


def test_taking_a_signal_out_leaves_nothing_behind() -> None:
    ablated()
    again = measures.run(systems.product(dataset.documents()), dataset.queries("tune"))
    assert again == outcomes("tune", systems.PRODUCT)


def test_what_is_published_is_what_comes_out() -> None:
    page = results.text(dataset.documents(), runs(), typed_runs(), ablated())
    assert (HERE / "RESULTS.md").read_text(encoding="utf-8") == page, "python -m tests.evaluation --write"
    assert (HERE / "results.svg").read_text(encoding="utf-8") == results.picture(runs())


def test_intervals_are_the_same_every_time_and_hold_the_mean() -> None:
    values = [1.0] * 30 + [0.0] * 10
    low, high = measures.interval(values)
    measures._samples.cache_clear()
    assert measures.interval(values) == (low, high)
    assert low < 0.75 < high
    assert measures.interval([1.0] * 40) == (1.0, 1.0)
    assert measures.interval([]) == (0.0, 0.0)


def test_held_out_queries_are_not_shown_one_by_one() -> None:
    assert report.misses(outcomes("tune", systems.PRODUCT))
    with pytest.raises(ValueError, match="one by one"):
        report.misses(outcomes("held-out", systems.PRODUCT))


def test_a_chart_has_a_bar_for_each_value_and_escapes_its_labels() -> None:
    picture = chart.bars("A & B", ["one", "two"], {"x<y": [0.5, 1.0]})
    assert picture.count("<rect") == 1 + 2 + 2
    assert "A &amp; B" in picture
    assert "x&lt;y" in picture
