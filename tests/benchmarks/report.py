"""The tables and the picture of one run."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from tests.benchmarks.measure import Beside, Cold, Latency, Memory, Times
from tests.evaluation.chart import bars

_SHORTEST_S: Final = 1e-5
_LONGEST_S: Final = 10.0


class Run(NamedTuple):
    """Everything that was measured."""

    latencies: Sequence[Latency]
    memories: Sequence[Memory]
    colds: Sequence[tuple[str, Cold]]
    warming: Beside | None
    crowd: Beside | None


def text(run: Run) -> str:
    """Markdown."""
    parts = [
        "# How fast, and how large",
        "Written by `python -m tests.benchmarks --write`. All on one machine, in one run:"
        f" {os.cpu_count()} cores, Python {platform.python_version()},"
        f" Linux {platform.release().split('-')[0]}. The ratios matter; the times are those of this machine.",
        "A note has five lines of head and about 900 characters, of 30,000 words whose frequency falls with"
        " their rank. A query is made of the words of one note. *Recall* is from `recall/start` to"
        " `recall/fast` over the socket, each in a session of its own, with the files looked after by events,"
        " the delivered set written to disk, and the notes rendered. *Echo* is a bare server on such a socket"
        " that takes and gives as many bytes. *Scorer* is the plain baseline scorer over all notes, held in"
        " memory and normalised before; *index* is what the daemon has in its place, by itself; *grep* is"
        " `grep -ril` for the words over the tree, pages in the cache.",
        "![Recall beside an echo, the plain scorer, and grep](results.svg)",
        "## Start to fast",
        _table(
            ("topics", "tokens", "recall p50", "p99", "÷ p50", "echo p50", "recall ÷ echo", "answered"),
            (
                (
                    f"{each.topics:,}",
                    f"{each.tokens}",
                    _time(each.recall.p50),
                    _time(each.recall.p99),
                    f"{each.recall.p99 / each.recall.p50:.1f}",
                    _time(each.echo.p50),
                    f"{each.recall.p50 / each.echo.p50:.0f}",
                    f"{100 * each.answered:.0f} %",
                )
                for each in run.latencies
            ),
        ),
        "## Index and plain scorer",
        _table(
            ("topics", "tokens", "scorer", "index", "scorer ÷ index", "grep", "64 ÷ 6 tokens, recall"),
            (
                (
                    f"{each.topics:,}",
                    f"{each.tokens}",
                    _time(each.scorer.p50),
                    _time(each.index.p50),
                    f"{each.scorer.p50 / each.index.p50:.1f}",
                    _time(each.grep.p50),
                    _growth(each, run.latencies),
                )
                for each in run.latencies
            ),
        ),
        "## Memory",
        _table(
            ("topics", "empty daemon", "with the topics", "per topic"),
            (
                (
                    f"{each.topics:,}",
                    f"{each.empty / 1e6:.0f} MB",
                    f"{each.full / 1e6:.0f} MB",
                    f"{(each.full - each.empty) / each.topics / 1024:.1f} KiB",
                )
                for each in run.memories
            ),
        ),
        "## The first query",
        "A daemon that has not read the notes: how long the caller waited, what it was given, how long until"
        " a query was answered from all notes, and until all were indexed.",
        _table(
            ("", "topics", "waited", "partial", "notes given", "all read", "all indexed"),
            (
                (
                    name,
                    f"{each.topics:,}",
                    _time(each.fast),
                    "yes" if each.partial else "no",
                    f"{each.notes}",
                    _time(each.scanned),
                    _time(each.ready),
                )
                for name, each in run.colds
            ),
        ),
    ]
    others = [
        (name, each)
        for name, each in (
            ("while 10,000 topics of another project are read and indexed", run.warming),
            ("64 sessions asking in the same moment", run.crowd),
        )
        if each is not None
    ]
    if others:
        parts += [
            "## Beside others",
            "One session with 1,000 topics, and the same while more goes on.",
            _table(
                ("", "alone p50", "p99", "beside p50", "p99", "longest"),
                (
                    (name, *_both(each.alone), *_both(each.beside), _time(each.beside.samples[-1]))
                    for name, each in others
                ),
            ),
        ]
    return "\n\n".join(parts) + "\n"


def picture(latencies: Iterable[Latency]) -> str:
    """An SVG document: median times for queries of six tokens, on a logarithmic scale."""
    span = math.log(_LONGEST_S / _SHORTEST_S)
    groups = {
        f"{each.topics:,} topics": (each.echo.p50, each.recall.p50, each.scorer.p50, each.grep.p50)
        for each in latencies
        if each.tokens == 6
    }
    return bars(
        "One query of six words: median time, logarithmic scale",
        ("bare echo", "recall, whole", "plain scorer", "grep -ril"),
        groups,
        length=lambda seconds: math.log(max(seconds, _SHORTEST_S) / _SHORTEST_S) / span,
        written=_time,
    )


def _growth(each: Latency, latencies: Iterable[Latency]) -> str:
    short = next((other for other in latencies if other.topics == each.topics and other.tokens == 6), each)
    return "" if short is each else f"{each.recall.p50 / short.recall.p50:.1f}"


def _both(some: Times) -> tuple[str, str]:
    return _time(some.p50), _time(some.p99)


def _time(seconds: float) -> str:
    if seconds < 0.000_995:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.995 else f"{seconds:.1f} s"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
