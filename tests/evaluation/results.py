"""What is published of an evaluation: one page and one picture."""

from __future__ import annotations

from collections.abc import Sequence

from memrecalld.memory.document import Document
from tests.evaluation import chart, dataset, measures, report, systems
from tests.evaluation.report import Ablated, Runs

_PAGE = """\
# Recall quality

Written by `python -m tests.evaluation --write`. {queries} labelled queries over {notes} notes of one
imagined company (`corpus/README.md` says how they were made), asked of the plain scorers, without a model. A
query-blind system has the only relevant note among its first five in {floor:.1f} % of cases. All numbers are
percentages or percentage points; in parentheses, where 95 of 100 samples of queries would lie (bootstrap).

- **Recall@k**: a relevant note is among the first k. Two are delivered fast, five at a tool result.
- **top-1**: the first note is relevant; **best@1**: it is the one labelled best; **MRR**: mean of one over
  the place of the first relevant note.
- **false silence**: nothing is found although a note answers. **no-result recall**: nothing is found where
  nothing should be: small talk, and questions that no note answers.

Constants and word lists were chosen on the *tune* split and on the *development* queries
(`development.jsonl`), which were written while the ranker was made and are its easiest examiners. Nobody
has looked at a *held-out* query, or at what was returned for one. The held-out numbers were computed four
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
## Tune

{tune}
Points ahead, query by query:

{tune_ahead}
By category, Recall@2 / Recall@5 / top-1:

{tune_categories}
## Development

{development}
## What each signal is worth

On the tune split: the points that change when one signal of the ranker is taken out; an empty cell is no
change. Some signals serve what no query of the corpus asks for; a test in `tests/ranking` shows what they are
for:

{guards}

{signals}"""


def text(documents: Sequence[Document], runs: Runs, ablated: Sequence[Ablated]) -> str:
    """The page."""
    guards = "\n".join(
        f"- {each.signal.name}: `{each.signal.guard}`" for each in ablated if each.signal.guard
    )
    return _PAGE.format(
        notes=len(documents),
        queries=sum(len(dataset.queries(split)) for split in dataset.SPLITS),
        floor=100 * report.floor(documents, 5),
        systems="\n".join(f"- **{name}**: {what}" for name, what in systems.DESCRIPTIONS.items()),
        held_out=report.overall(runs, "held-out"),
        held_out_ahead=report.advantages(runs, "held-out"),
        held_out_categories=report.by_category(runs, "held-out"),
        tune=report.overall(runs, "tune"),
        tune_ahead=report.advantages(runs, "tune"),
        tune_categories=report.by_category(runs, "tune"),
        development=report.overall(runs, report.DEVELOPMENT),
        guards=guards,
        signals=report.signals(runs["tune"][systems.PRODUCT], ablated),
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
