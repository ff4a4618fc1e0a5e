"""``memrecall demo``: one whole turn, played with invented notes on a private daemon."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Final, NoReturn

from memrecalld.cli.recall import POLL_S, print_fast, print_outcome, print_refined
from memrecalld.cli.text import counted, printable
from memrecalld.client import Client
from memrecalld.demo.model import ANSWER_S, model_stand_in
from memrecalld.demo.stage import Stage, stage
from memrecalld.programs import shown

_QUERY: Final = "How do we deploy a hotfix on a Friday?"
_OTHER_QUERIES: Final = (
    "数据库怎么备份？",
    "как накатывать миграции?",
    "Wie wird die Umsatzsteuer gerundet?",
)
_SMALL_TALK: Final = "ok, go on"

_OPENING: Final = """\
A private daemon runs in {home}, with invented notes:
{project} of a project, {user} of its user. It sees nothing of yours, and nothing of it will stay.
A small local program stands in for the model: it answers after {answer_s:g} s, by a simple rule."""

_CLOSING: Final = """
Start the real daemon for your own notes:

    {daemon}

and ask it, in a project's folder:

    {recall}"""

_MODEL_WAIT_S: Final = 5.0
_STAND_IN: Final = "the stand-in for a model"


def run(_arguments: argparse.Namespace) -> None:
    """Set the stage, play, and clear it away whatever happens."""
    with _stopped_by_signals(), stage() as world, model_stand_in() as model:
        world.copy_notes()
        world.configure(model.base_url)
        with world.daemon() as client:
            scopes = Counter(each["scope"] for each in client.list(project_root=world.project))
            print(
                _OPENING.format(
                    home=world.home, answer_s=ANSWER_S, project=scopes["project"], user=scopes["user"]
                )
            )
            _play_turn(client, world)
            _play_languages(client, world)
            _play_small_talk(client, world)
    print(_CLOSING.format(daemon=shown("memrecalld"), recall=shown('memrecall recall "how do we deploy?"')))


def _play_turn(client: Client, world: Stage) -> None:
    print(f"\n> {_QUERY}\n")
    turn = client.start(_QUERY, session_id="demo", project_root=world.project)
    print_fast(turn.fast)
    started = time.monotonic()
    result = turn.tool_result("read_file")
    print(f"First tool result: {result['state']}.")
    while result["state"] == "pending" and time.monotonic() - started < _MODEL_WAIT_S:
        time.sleep(POLL_S)
        result = turn.tool_result("read_file")
    print(f"Tool result after {time.monotonic() - started:.1f} s: {result['state']}.\n")
    print_refined(result, shown=len(turn.delivery["documents"]) if turn.delivery else 0, model=_STAND_IN)
    print_outcome(turn.end())


def _play_languages(client: Client, world: Stage) -> None:
    print("\nIn other languages, the first note for the first prompt:\n")
    for number, query in enumerate(_OTHER_QUERIES):
        turn = client.start(query, session_id=f"demo-{number}", project_root=world.project)
        documents = turn.delivery["documents"] if turn.delivery else []
        title = printable(documents[0]["title"]) if documents else "no note"
        waited = turn.fast["waitMs"] if turn.fast else 0.0
        print(f"> {query}\n    {title} ({waited:.1f} ms)")
        turn.end()


def _play_small_talk(client: Client, world: Stage) -> None:
    asked = _questions(client)
    turn = client.start(_SMALL_TALK, session_id="demo-talk", project_root=world.project)
    found = counted(len(turn.delivery["documents"]), "note") if turn.delivery else "no note"
    turn.end()
    model_was = "not asked" if _questions(client) == asked else "asked, too"
    print(f"\nSmall talk:\n\n> {_SMALL_TALK}\n    {found}; the model was {model_was}")


def _questions(client: Client) -> int:
    """How often the daemon has asked the model, which may not have heard the last question yet."""
    return client.status()["counters"].get("selector.asked", 0)


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """A demonstration that is told to end clears away too, as after Ctrl-C."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
