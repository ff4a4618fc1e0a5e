"""``python -m tests.evaluation``: print how well notes are recalled; ``--write`` refreshes the files."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.evaluation import dataset, measures, report, results, systems


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write RESULTS.md and results.svg")
    parser.add_argument("--ablation", action="store_true", help="print only what each signal is worth (tune)")
    parser.add_argument("--misses", action="store_true", help="print only the queries that went wrong")
    options = parser.parse_args()
    documents = dataset.documents()
    if options.misses or options.ablation:
        product = systems.product(documents)
        outcomes = measures.run(product, dataset.queries("tune"))
        if options.misses:
            print(report.misses([*outcomes, *measures.run(product, dataset.queries(report.DEVELOPMENT))]))
        if options.ablation:
            print(report.signals(outcomes, report.run_ablation(documents)), end="")
        return
    runs = report.run_all(documents)
    text = results.text(documents, runs, report.run_ablation(documents))
    if options.write:
        here = Path(__file__).parent
        (here / "RESULTS.md").write_text(text, encoding="utf-8")
        (here / "results.svg").write_text(results.picture(runs), encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
