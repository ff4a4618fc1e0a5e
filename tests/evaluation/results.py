"""What is published of an evaluation: one page and one picture."""

from __future__ import annotations

from collections.abc import Sequence

from memrecalld.memory.document import Document
from tests.evaluation import chart, dataset, measures, report, subject, systems, worth
from tests.evaluation.report import Runs
from tests.evaluation.worth import Ablated

_PAGE = """\
# Recall quality

Written by `python -m tests.evaluation --write`. {queries} labelled queries over {notes} notes of one
imagined company (`corpus/README.md` says how they were made), asked of the plain scorers, without a model;
`DELIVERY.md` says what of that reaches a model, and when. A
query-blind system has the only relevant note among its first five in {floor:.1f} % of cases. All numbers are
percentages or percentage points; in parentheses, where 95 of 100 samples of queries would lie (bootstrap).

- **Recall@k**: a relevant note is among the first k. Two are delivered fast, five at a tool result.
- **top-1**: the first note is relevant; **best@1**: it is the one labelled best; **MRR**: mean of one over
  the place of the first relevant note.
- **false silence**: nothing is found although a note answers. **no-result recall**: nothing is found where
  nothing should be: small talk, and questions that no note answers.

Constants and word lists were chosen on the *tune* split and on the *development* queries
(`development.jsonl`), which were written while the ranker was made and are its easiest examiners. Nobody
has looked at what was returned for a *held-out* query. The held-out numbers were computed seven
times meanwhile. The first time they showed that the ranker was silent too often in languages other than
English; what was done about it was chosen on development queries in these languages.

{systems}

![held-out queries](results.svg)

## Held-out

{held_out}
Points ahead, query by query:

{held_out_ahead}
By category, Recall@2 / Recall@5 / top-1:

{held_out_categories}
The product by category, with intervals:

{held_out_intervals}
## Tune

{tune}
Points ahead, query by query:

{tune_ahead}
By category, Recall@2 / Recall@5 / top-1:

{tune_categories}
The product by category, with intervals:

{tune_intervals}
## Development

{development}
In {spelt} of these queries English notes are asked for in Korean or Japanese, by English words spelt by their
sound and no others, as in "이미지 레지스트리", *image registry*. Recall@2 is {spelt_recall} among them, and
{others_recall} among all others. When such words counted as much as English ones, half of these notes were
found, and three of ten questions that no note answers lost their silence; so they count half, and serve
queries that name something besides.

## Small stores

Most people have few notes. Each query put to a store of its own, of as many notes as the first column says:
some that answer it, if there are any, and others by chance. Nothing was chosen by these numbers.

Held-out:

{held_out_small}
Tune:

{tune_small}
## A store about one subject

Whoever works on a product names it in nearly every note. Here each note of the corpus names one product, at
the beginning of its description or of its body in turn (`subject.py`). The queries are those above with the
same labels. Besides, {names} queries hold nothing but that name, alone or among words that carry nothing
("what about {name}?", in nine languages). All notes answer such a query as well as any other does, so
silence is right; this follows from the rule, and no note was looked at for it. Among fewer than 16 notes
such a name still recalls some: so few do not tell a subject from a coincidence.

Held-out:

{held_out_subject}
Tune:

{tune_subject}
## Words for a type

{typed_queries} queries as people type them that hold a word for a type of note (*feedback*, *rules*, *style*,
*deadline*, *dashboard*, *docs*, *link*, *background* …), put to a store of their own: {typed_notes} notes in
which most subjects have two or three notes of different types (`typed/`; more notes in the corpus would have
changed all numbers above). Notes, ages and labels were finished before any ranker ran on them. In two
queries the word for a type names the matter instead. Every third is held out, in a shuffled order.

Held-out:

{held_out_typed}
Tune:

{tune_typed}
## What each signal is worth

The points that change when one signal of the ranker is taken out; an empty cell is no change. On the tune
split; then on the same queries in small stores of {small_store} notes and in the store about one subject (the
name alone counts for its no-result recall), on the tune queries with words for a type, and on the
development queries. Each line has a cell that is worse.

{signals}"""


def text(documents: Sequence[Document], runs: Runs, typed: Runs, ablated: Sequence[Ablated]) -> str:
    """The page; ``typed`` are the answers to the queries for notes of a type."""
    developed = runs[report.DEVELOPMENT][systems.PRODUCT]
    spelt = measures.of_category(developed, dataset.SPELT)
    others = [outcome for outcome in developed if outcome.query.category != dataset.SPELT]
    return _PAGE.format(
        notes=len(documents),
        queries=sum(len(dataset.queries(split)) for split in dataset.SPLITS),
        floor=100 * report.floor(documents, 5),
        systems="\n".join(f"- **{name}**: {what}" for name, what in systems.DESCRIPTIONS.items()),
        held_out=report.overall(runs, "held-out"),
        held_out_ahead=report.advantages(runs, "held-out"),
        held_out_categories=report.by_category(runs, "held-out"),
        held_out_intervals=report.intervals(runs, "held-out"),
        tune=report.overall(runs, "tune"),
        tune_ahead=report.advantages(runs, "tune"),
        tune_categories=report.by_category(runs, "tune"),
        tune_intervals=report.intervals(runs, "tune"),
        development=report.overall(runs, report.DEVELOPMENT),
        spelt=len(spelt),
        spelt_recall=report.percent(measures.value("Recall@2", spelt)),
        others_recall=report.percent(measures.value("Recall@2", others)),
        held_out_small=report.small_stores("held-out"),
        tune_small=report.small_stores("tune"),
        name=subject.NAME,
        names=len(subject.names_alone()),
        held_out_subject=report.one_subject("held-out"),
        tune_subject=report.one_subject("tune"),
        typed_notes=len(dataset.documents(dataset.TYPED)),
        typed_queries=sum(len(dataset.queries(split, dataset.TYPED)) for split in dataset.SPLITS),
        held_out_typed=report.overall(typed, "held-out"),
        tune_typed=report.overall(typed, "tune"),
        small_store=worth.SMALL_STORE,
        signals=worth.signals(worth.ask_product(documents), ablated),
    )


def picture(runs: Runs) -> str:
    """The held-out queries as a bar chart."""
    groups = {}
    for name, outcomes in runs["held-out"].items():
        answered = measures.answerable(outcomes)
        groups[name] = [
            measures.mean(measures.ANSWERED["Recall@2"], answered),
            measures.mean(measures.ANSWERED["top-1"], answered),
            measures.mean(measures.silence, measures.unanswerable(outcomes)),
        ]
    return chart.bars("Held-out queries, percent", ["Recall@2", "top-1", measures.NO_RESULT_RECALL], groups)
