"""Small talk brings no notes, neither at once nor later, and asks no model."""

from __future__ import annotations

import pytest

from tests.support.notes import note
from tests.wire.turns import Turn, titles

SMALL_TALK = (
    "",
    "   ",
    "ok",
    "go on",
    "yes please do that",
    "👍",
    "???",
    "的 了 吗",
    "thanks, und dann weiter",
)
GIBBERISH = "asdf qwer zxcv"
"""Nothing tells it from names, so that a model may be asked about it."""


def fill(project):
    """Notes full of the words that small talk is made of."""
    for number in range(30):
        text = f"The one and the other: please go on, do that and do not ask again, ok? Part {number}."
        project.write(f"topic-{number}", note(f"Topic {number}", "please do that and go on", text))


@pytest.mark.parametrize("query", [*SMALL_TALK, GIBBERISH])
async def test_small_talk_brings_nothing(plain_client, plain_project, query):
    fill(plain_project)
    turn = await Turn.start(plain_client, query, plain_project)
    assert turn.fast["delivery"] is None
    assert await turn.discarded() == "no_relevant_results"
    assert (await turn.tool_result())["state"] == "no_relevant_results"


@pytest.mark.parametrize("query", SMALL_TALK)
async def test_small_talk_asks_no_model(shared_model, client, project, query):
    fill(project)
    turn = await Turn.start(client, query, project)
    assert (turn.fast["endedBy"], turn.fast["delivery"], turn.fast["pending"]) == ("settled", None, False)
    assert await turn.discarded() == "no_relevant_results"
    assert shared_model.exchanges == []


async def test_of_gibberish_a_model_is_asked_and_chooses_nothing(shared_model, client, project):
    fill(project)
    await project.read(client)
    turn = await Turn.start(client, GIBBERISH, project, at_ceiling=True)
    assert titles(turn.fast["delivery"]) == []
    assert await turn.discarded() == "no_relevant_results"
    assert len(shared_model.exchanges) == 1
