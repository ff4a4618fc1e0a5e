"""``python -m tests.benchmarks``: measure, and print the tables; ``--write`` keeps them beside this file.

The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.benchmarks import measure, report
from tests.benchmarks.notes import Writer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[200, 1_000, 10_000, 100_000])
    parser.add_argument("--samples", type=int, default=500, help="queries for each row (default: 500)")
    parser.add_argument("--latency", action="store_true", help="measure start to fast only")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md and results.svg")
    options = parser.parse_args()
    writer = Writer()
    colds = []
    warming = crowd = None
    if not options.latency:
        _say("first queries")
        colds = [
            ("never seen before", measure.cold(5_000, writer, restarted=False)),
            ("after a restart", measure.cold(15_000, writer, restarted=True)),
        ]
        _say("beside others")
        warming = measure.beside_warming(1_000, 10_000, writer)
        crowd = measure.sessions_at_once(1_000, 64, 20, writer)
    latencies = []
    memories = []
    for topics in options.topics:
        _say(f"{topics:,} topics")
        found, memory = measure.latencies(topics, options.samples, writer)
        latencies += found
        memories.append(memory)
    run = report.Run(latencies, memories, colds, warming, crowd)
    text = report.text(run)
    if options.write:
        here = Path(__file__).parent
        (here / "RESULTS.md").write_text(text, encoding="utf-8")
        (here / "results.svg").write_text(report.picture(latencies), encoding="utf-8")
    print(text, end="")


def _say(what: str) -> None:
    print(f"{time.strftime('%X')} measuring: {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
