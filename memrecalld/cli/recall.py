"""``memrecall recall``: one turn, from the query to its outcome."""

from __future__ import annotations

import argparse
import contextlib
import secrets
import time
from typing import TYPE_CHECKING, Final

from memrecalld.cli.command import connect, project_of
from memrecalld.cli.notes import note_lines
from memrecalld.cli.text import counted, printable_json
from memrecalld.client import ClientError, Turn

if TYPE_CHECKING:
    from memrecalld.client.shapes import Delivery, Fast, Outcome, ToolResult

POLL_S: Final = 0.05
"""Pause between two questions for the model's choice."""
_CANCEL_S: Final = 1.0

_NOTHING_REFINED: Final = {
    "pending": "The model has not answered in time.",
    "already_delivered": "The model chose nothing beyond these notes.",
    "no_relevant_results": "The model chose no notes.",
    "none": "The turn was ended from elsewhere.",
}

_OUTCOMES: Final = {
    "initial": "delivered with the first prompt",
    "tool_result": "delivered at a tool result",
    "no_relevant_results": "no relevant notes",
    "already_delivered": "every note chosen had already been delivered",
    "no_safe_delivery_point": "the turn ended before the choice could be delivered",
    "new_query": "another query of this session took over",
    "reset": "the session was reset",
    "abort": "cancelled",
    "shutdown": "the daemon stopped",
    "expired": "nobody came back to the turn",
    "failed": "the project's notes could not be read",
}


def run(arguments: argparse.Namespace) -> None:
    """Recall, wait for a model's choice if there is one to come, end the turn, and print it all."""
    session = arguments.session or f"memrecall-{secrets.token_hex(8)}"
    project = project_of(arguments)
    with connect(arguments) as client:
        turn = client.start(arguments.query, session_id=session, project_root=project)
        try:
            pending = turn.fast is not None and turn.fast["pending"]
            if pending and not arguments.json:
                print_fast(turn.fast)
            refined = wait_for_choice(turn, arguments.wait) if pending else None
            outcome = turn.end()
        except KeyboardInterrupt:
            _cancel(turn)
            raise
    if arguments.json:
        print(printable_json({"fast": turn.fast, "toolResult": refined, "outcome": outcome}))
        return
    if refined is None:
        print_fast(turn.fast)
    else:
        print_refined(refined, shown=len(turn.delivery["documents"]) if turn.delivery else 0)
    print_outcome(outcome)


def wait_for_choice(turn: Turn, seconds: float) -> ToolResult:
    """Ask as at one tool result after the other, until there is an answer or the time is over."""
    deadline = time.monotonic() + seconds
    while (result := turn.tool_result())["state"] == "pending" and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return result


def print_fast(fast: Fast | None) -> None:
    """Print what goes into the first prompt, and how long that took."""
    if fast is None:
        return
    waited = f"{fast['waitMs']:.1f} ms"
    if fast["delivery"] is not None:
        _print_delivery(fast["delivery"], f"for the first prompt, after {waited}")
    elif fast["endedBy"] == "ceiling":
        print(f"Nothing for the first prompt within {waited}; recall goes on.")
    elif fast["pending"]:
        print(f"Nothing for the first prompt after {waited}.")
    else:
        print(f"No relevant notes, after {waited}.")
    if fast["partial"]:
        print("Some notes could not be read in time and were left out.")


def print_refined(result: ToolResult, *, shown: int, model: str = "the model") -> None:
    """Print what a later delivery point brought, numbered on from the notes ``shown`` before.

    ``model`` is what is said to have chosen, where a model has.
    """
    if result["delivery"] is None:
        print(_NOTHING_REFINED[result["state"]])
    else:
        _print_delivery(result["delivery"], "at a tool result", shown, model)


def print_outcome(outcome: Outcome | None) -> None:
    """Print how the turn ended."""
    if outcome is None:
        return
    reason = outcome.get("discardReason", outcome["deliveryPoint"])
    print(f"Outcome: {_OUTCOMES.get(reason, reason)}.")


def _print_delivery(delivery: Delivery, when: str, shown: int = 0, model: str = "the model") -> None:
    documents = delivery["documents"]
    chooser = model if delivery["strategy"] == "model" else "the scorer"
    more = "more " if shown else ""
    notes = counted(len(documents), f"{more}note")
    print(f"{notes}, chosen by {chooser}, {when}:\n")
    for number, document in enumerate(documents, start=shown + 1):
        print("\n".join(note_lines(document, number)), end="\n\n")


def _cancel(turn: Turn) -> None:
    """What was printed is thrown away: it may be delivered again."""
    with contextlib.suppress(ClientError):  # the end of the connection would end the turn too
        turn.cancel(timeout=_CANCEL_S)
