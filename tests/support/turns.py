"""Turns for tests that are not about time."""

from __future__ import annotations

import re
from typing import Any

from memrecalld.client import Client, Turn
from memrecalld.client.aio import AsyncClient, AsyncTurn
from memrecalld.client.shapes import Fast

TOO_BUSY = re.compile(r'; recall goes on|not be read in time|"endedBy": "ceiling"|"partial": true')
"""What ``memrecall`` prints when the initial wait was too short for all notes."""

_ATTEMPTS = 100


def start(client: Client, query: str, **options: Any) -> Turn:
    """A turn that had all notes within its initial wait, as not every one has on a machine busy with tests.

    The session gets nothing from the attempts before it.
    """
    for _ in range(_ATTEMPTS):
        turn = client.start(query, **options)
        if _is_whole(turn.fast):
            return turn
        turn.cancel()
        if turn.delivery is not None:  # of a turn that had ended, which keeps what it was given
            client.reset(options["session_id"], agent_id=options.get("agent_id", ""))
    raise AssertionError("the initial wait was always too short")


async def start_async(client: AsyncClient, query: str, **options: Any) -> AsyncTurn:
    """As ``start``."""
    for _ in range(_ATTEMPTS):
        turn = await client.start(query, **options)
        if _is_whole(turn.fast):
            return turn
        await turn.cancel()
        if turn.delivery is not None:
            await client.reset(options["session_id"], agent_id=options.get("agent_id", ""))
    raise AssertionError("the initial wait was always too short")


def _is_whole(fast: Fast | None) -> bool:
    return fast is None or (fast["endedBy"] != "ceiling" and not fast["partial"])
