"""What is published of the delivery evaluation: one page and one picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tests.evaluation import chart, delivery
from tests.evaluation.dataset import SPLITS, Split
from tests.evaluation.delivery import Latency, Record
from tests.evaluation.report import table

_PAGE: Final = """\
# Delivery

Written by `python -m tests.evaluation delivery --write`, which takes some minutes. `RESULTS.md` says which
notes the ranker finds; this page says which of them reach a model, and when.

{queries} queries of the corpus were put to running daemons that held its {notes} notes on disk, at each of
six speeds of the model behind them, in turns without a tool result, with one and with three: {turns} turns in
{sessions} sessions of {session_turns}, the last of which asks the first query again. At most {at_once}
sessions were open at once for one daemon, and each daemon had answered some searches before.

What is real: the daemon's process, its notes in files, its socket, its HTTP to the model, and the time that
passes. What is modelled:

- **the model's choice**: of the right notes it is shown it finds nine of ten, by their labels, and it adds
  one other, the first of its list; where it is shown no right note, it chooses none. So it is better than
  most models, and what it adds makes it easier to give a session something twice.
- **the model's time**: it answers after just so long.
- **the agent**: {step_s:g} s go by from a prompt to the next tool result, or to the end of the turn, at which
  nothing can be delivered any more.

![a right note in time, held-out queries](delivery.svg)

## A right note in time

Of turns in which a note answers and the session has none of the right ones yet, the percentage with a right
note

- **in the first prompt**, of the queries that share a word with a right note;
- **by the end of the turn**, of all, so that the model's choice counts as far as it came in time.

**Given twice** counts the notes that a session was given again, in whatever turn, over all turns. Nobody has
looked at a held-out query, or at what was delivered for one.

{shares}
## How turns end

Turns by their outcome: where the settled result went, or why it went nowhere. All turns are counted, those
of small talk and those that ask again among them. `no_safe_delivery_point` is a result that nobody came for:
what was delivered fast stays delivered. Where the machine is busy, choices come later than their model's
time: some miss a tool result that they would have met, and waits are longer.

{endings}
## The initial wait

Milliseconds from the query to what goes into the first prompt, as the daemon measures it, where a word
matched; and at how many turns whose query shares a word with a right note nothing was there at the ceiling of
100 ms. Two cores ran {daemons} daemons, all clients and all models at once. Where no word matches the wait
runs to the ceiling, unless the model is faster.

{waits}"""

_NEVER: Final = "never"
_WORK: Final = {0: "in the end, no tool result", 1: "1 tool result"}


def text(records: Sequence[Record], *, notes: int, daemons: int) -> str:
    """The page. ``daemons`` ran at once."""
    turns_of_a_session = delivery.SESSION_QUERIES + 1
    return _PAGE.format(
        queries=len({record.query.id for record in records}),
        notes=notes,
        turns=len(records),
        sessions=sum(record.again for record in records),
        session_turns=turns_of_a_session,
        at_once=delivery.SESSIONS_AT_ONCE,
        step_s=delivery.STEP_S,
        shares=_shares(records),
        endings=_endings(records),
        waits=_waits(records),
        daemons=daemons,
    )


def picture(records: Sequence[Record]) -> str:
    """The held-out queries as a bar chart."""
    held_out = of_split(records, "held-out")
    counts = sorted({record.tool_results for record in records})
    groups = {}
    for latency_s in _latencies(records):
        there = at(held_out, latency_s)
        groups[_spoken(latency_s)] = [
            share(first_prompts(there), lambda record: record.first),
            *(
                share(answerable(at(there, latency_s, count)), lambda record: record.delivered)
                for count in counts
            ),
        ]
    series = ["in the first prompt", *(_WORK.get(count, f"{count} tool results") for count in counts)]
    return chart.bars(
        "Held-out queries with a right note in time, percent, by the model's time", series, groups
    )


def at(records: Iterable[Record], latency_s: Latency, tool_results: int | None = None) -> list[Record]:
    """The turns of one speed of the model, and of one number of tool results."""
    return [
        record
        for record in records
        if record.latency_s == latency_s and tool_results in {None, record.tool_results}
    ]


def of_split(records: Iterable[Record], split: Split) -> list[Record]:
    """The turns of the queries of one split."""
    return [record for record in records if record.query.split == split]


def answerable(records: Iterable[Record]) -> list[Record]:
    """The turns in which a note answers and the session has none of the right ones yet."""
    return [record for record in records if record.query.relevant and not (record.known or record.again)]


def first_prompts(records: Iterable[Record]) -> list[Record]:
    """Of those, the turns whose query shares a word with a right note."""
    return [record for record in answerable(records) if record.lexical]


def share(records: Sequence[Record], good: Callable[[Record], bool]) -> float:
    """The share of ``records`` that are ``good``; 0 of none."""
    return sum(map(good, records)) / len(records) if records else 0.0


def _shares(records: Sequence[Record]) -> str:
    heads = ["the model answers after", "tool results"]
    heads += [
        f"{when}, {split}" for when in ("in the first prompt", "by the end of the turn") for split in SPLITS
    ]
    rows = []
    for latency_s, count, some in _scenarios(records):
        splits = [of_split(some, split) for split in SPLITS]
        firsts = [share(first_prompts(each), lambda record: record.first) for each in splits]
        ends = [share(answerable(each), lambda record: record.delivered) for each in splits]
        twice = sum(record.duplicates for record in some)
        rows.append(
            [_spoken(latency_s), str(count), *(f"{100 * each:.1f}" for each in (*firsts, *ends)), str(twice)]
        )
    return table([*heads, "given twice"], rows)


def _endings(records: Sequence[Record]) -> str:
    endings = list(dict.fromkeys(record.ending for record in records))
    rows = []
    for latency_s, count, some in _scenarios(records):
        counted = Counter(record.ending for record in some)
        rows.append([_spoken(latency_s), str(count), *(str(counted[ending]) for ending in sorted(endings))])
    return table(
        ["the model answers after", "tool results", *(f"`{each}`" for each in sorted(endings))], rows
    )


def _waits(records: Sequence[Record]) -> str:
    rows = []
    for latency_s in _latencies(records):
        some = at(records, latency_s)
        waits = sorted(record.wait_ms for record in some if record.ended_by == "published")
        stalled = sum(record.ended_by == "ceiling" for record in first_prompts(some))
        quantiles = [waits[int(quantile * (len(waits) - 1))] for quantile in (0.5, 0.9, 0.99, 1.0)]
        rows.append(
            [_spoken(latency_s), str(len(waits)), *(f"{each:.1f}" for each in quantiles), str(stalled)]
        )
    return table(
        ["the model answers after", "turns", "p50", "p90", "p99", "max", "nothing at the ceiling"], rows
    )


def _scenarios(records: Sequence[Record]) -> Iterable[tuple[Latency, int, list[Record]]]:
    for latency_s in _latencies(records):
        for count in sorted({record.tool_results for record in records}):
            yield latency_s, count, at(records, latency_s, count)


def _latencies(records: Iterable[Record]) -> list[Latency]:
    """Fastest first, never last."""
    met = {record.latency_s for record in records}
    return [latency_s for latency_s in delivery.LATENCIES_S if latency_s in met]


def _spoken(latency_s: Latency) -> str:
    return _NEVER if latency_s is None else f"{1000 * latency_s:,.0f} ms"
