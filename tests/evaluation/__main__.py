"""``python -m tests.evaluation``: print how well notes are recalled; ``delivery``: how they are delivered."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.evaluation import dataset, delivery, delivery_results, report, results, worth

HERE = Path(__file__).parent

DAEMONS = 3
"""For each speed of the model: as many as two cores bear."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("recall", "delivery"), default="recall")
    parser.add_argument(
        "--write", action="store_true", help="write the page and the picture beside this file"
    )
    parser.add_argument("--ablation", action="store_true", help="print only what each signal is worth (tune)")
    parser.add_argument("--misses", action="store_true", help="print only the queries that went wrong")
    options = parser.parse_args()
    documents = dataset.documents()
    if options.what == "delivery":
        parts = (delivery.sessions(delivery.queries(), count) for count in delivery.TOOL_RESULTS)
        records = delivery.run(delivery.mixed(*parts), daemons=DAEMONS)
        daemons = DAEMONS * len(delivery.LATENCIES_S)
        page = delivery_results.text(records, notes=len(documents), daemons=daemons)
        _publish("DELIVERY.md", page, "delivery.svg", delivery_results.picture(records), write=options.write)
        return
    if options.misses or options.ablation:
        asked = worth.ask_product(documents)
        if options.misses:
            print(report.misses([*asked.tune, *asked.development]))
        if options.ablation:
            print(worth.signals(asked, worth.run_ablation(documents)), end="")
        return
    runs = report.run_all(documents)
    page = results.text(documents, runs, report.run_typed(), worth.run_ablation(documents))
    _publish("RESULTS.md", page, "results.svg", results.picture(runs), write=options.write)


def _publish(page_name: str, page: str, picture_name: str, picture: str, *, write: bool) -> None:
    if write:
        (HERE / page_name).write_text(page, encoding="utf-8")
        (HERE / picture_name).write_text(picture, encoding="utf-8")
    print(page, end="")


if __name__ == "__main__":
    main()
