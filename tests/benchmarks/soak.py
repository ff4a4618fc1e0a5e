"""``python -m tests.benchmarks.soak --recalls 1000000``: recall for a long time, and see what stays behind.

Eight sessions at a time, each given up after some turns for a new one, while notes are edited. Prints the
daemon's memory and descriptors as it goes; exits with 1 where, since the first 50,000 recalls (or the first
half, if there are fewer), memory has grown by more than 5 % or there is a descriptor more.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import Final

from tests.benchmarks.measure import daemon
from tests.benchmarks.notes import Writer
from tests.benchmarks.process import descriptors, resident_bytes, wait_until_idle
from tests.benchmarks.wire import Wire

TOPICS: Final = 300
SETTLED_RECALLS: Final = 50_000
MOST_GROWTH: Final = 1.05

_AT_ONCE: Final = 8
_TURNS: Final = 10
_EDIT_EVERY: Final = 1_000
_REPORTS: Final = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.soak", description=__doc__)
    parser.add_argument("--recalls", type=int, default=1_000_000)
    recalls: int = parser.parse_args().recalls
    writer, chance = Writer(), random.Random(7)
    with daemon(TOPICS, writer=writer) as (process, (project,)):
        folder = process.notes_of(project)
        files = sorted(folder.rglob("*.md"))
        queries = writer.queries(folder, 6, 500)
        process.start()
        wires = [Wire(process.socket) for _ in range(_AT_ONCE)]
        wires[0].recall(queries[0], project)
        wait_until_idle(process.pid)
        settled = opened = 0
        started = time.monotonic()
        for done in range(0, recalls, _AT_ONCE):
            for number, wire in enumerate(wires):
                wire.send(
                    "recall/start",
                    {
                        "sessionId": f"{done // _AT_ONCE // _TURNS}-{number}",
                        "query": queries[(done + number) % len(queries)],
                        "projectRoot": str(project),
                    },
                )
            for wire in wires:
                message = wire.receive()
                assert message["method"] == "recall/fast"
                assert "result" in wire.outcome(message["params"])
            if done % _EDIT_EVERY < _AT_ONCE:
                edited = chance.choice(files)
                edited.write_text(edited.read_text(encoding="utf-8") + " edited", encoding="utf-8")
            if done >= min(SETTLED_RECALLS, recalls // 2) and not settled:
                wait_until_idle(process.pid)
                settled, opened = resident_bytes(process.pid), descriptors(process.pid)
            if done % max(_AT_ONCE, recalls // _REPORTS) < _AT_ONCE:
                _report(done, started, process.pid)
        wait_until_idle(process.pid)
        _report(recalls, started, process.pid)
        grown = resident_bytes(process.pid) / settled
        left = descriptors(process.pid) - opened
        for wire in wires:
            wire.close()
    print(f"memory at the end ÷ memory after the first recalls: {grown:.3f}; descriptors: {left:+}")
    return int(grown > MOST_GROWTH or left > 0)


def _report(done: int, started: float, pid: int) -> None:
    each = (time.monotonic() - started) / max(1, done)
    print(
        f"{done:>9,} recalls, {each * 1e3:.2f} ms each, {resident_bytes(pid) / 1e6:.1f} MB,"
        f" {descriptors(pid)} descriptors",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
