"""A whole turn with a model over HTTP: the first prompt at once, the model's choice at a tool result."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.support.notes import note
from tests.wire.model import Choice, manifest, query
from tests.wire.turns import CANCELLED, Turn, cancelled_at_once, counters, happened, new_session, poll, titles

QUESTION = "how do we deploy"
MODEL_S = 0.3
"""What a small local model takes."""


@pytest_asyncio.fixture(autouse=True)
async def notes(project, client):
    """Four notes that match, newest last, and two that do not, all of them read."""
    for number in range(1, 5):
        project.write(f"deploy-{number}", note(f"Deploy {number}", "how to deploy", "x" * number))
    project.write("lunch", note("Lunch", "where we eat", "noodles"))
    project.write("pets", note("Pets", "dogs in the office", "two of them"))
    await project.read(client)


def choose(shared_model, *chosen, **when):
    """Let the model choose these notes."""
    shared_model.answers = [Choice(*chosen, **when)]
    return shared_model.answers[0]


async def settled(client, before):
    """Return when the daemon has one more answer of the model than ``before``."""
    await poll(lambda: counters(client), lambda now: answered(now) > answered(before))


def answered(counted):
    return counted.get("selector.answered", 0)


async def test_the_models_choice_comes_at_a_tool_result_without_what_the_first_prompt_had(
    shared_model, client, project
):
    choice = choose(shared_model, held=True, after_s=MODEL_S)
    before = await counters(client)
    turn = await Turn.start(client, QUESTION, project)

    assert turn.fast["requestId"] == turn.request_id
    assert turn.fast["sessionId"] == turn.session
    assert (turn.fast["endedBy"], turn.fast["pending"]) == ("published", True)
    fast = turn.fast["delivery"]
    assert (fast["phase"], fast["strategy"]) == ("fast", "heuristic")
    assert len(fast["documents"]) == 2
    assert all(title.startswith("Deploy") for title in turn.fast_titles)

    others = [f"Deploy {number}" for number in range(1, 5) if f"Deploy {number}" not in turn.fast_titles]
    choice.titles = ("Lunch", turn.fast_titles[1], others[0], turn.fast_titles[0])
    assert await turn.tool_result() == {"turnId": turn.id, "state": "pending", "delivery": None}
    choice.release.set()
    result = await turn.settled_tool_result()

    refined = result["delivery"]
    assert (result["state"], result["turnId"]) == ("delivered", turn.id)
    assert (refined["phase"], refined["strategy"]) == ("refined", "model")
    assert titles(refined) == ["Lunch", others[0]]
    assert not any(title in refined["prompt"] for title in turn.fast_titles)

    outcome = await turn.outcome()
    assert outcome["selectMs"] >= MODEL_S * 1000
    assert {name: value for name, value in outcome.items() if not name.endswith("Ms")} == {
        "turnId": turn.id,
        "deliveryPoint": "tool_result",
        "strategy": "model",
        "phase": "refined",
        "documents": 2,
        "fastDocuments": 2,
        "scanned": 6,
        "candidates": 6,
        "queryLength": len(QUESTION),
    }
    assert (await turn.tool_result())["state"] == "none"
    after = await counters(client)
    assert after["delivery_point.tool_result"] == before.get("delivery_point.tool_result", 0) + 1


async def test_the_model_is_asked_once_with_the_query_and_every_note(shared_model, client, project):
    choice = choose(shared_model, "Lunch", held=True)
    turn = await Turn.start(client, QUESTION, project)
    asked = (await counters(client))["selector.asked"]
    for _ in range(3):
        await turn.tool_result()
    choice.release.set()
    await turn.settled_tool_result()
    assert (await counters(client))["selector.asked"] == asked
    question = shared_model.exchanges[-1]
    assert query(question) == QUESTION
    assert sorted(title for _, title in manifest(question)) == [
        *(f"Deploy {number}" for number in range(1, 5)),
        "Lunch",
        "Pets",
    ]


async def test_a_turn_that_ends_before_the_model_answers_had_no_safe_delivery_point(
    shared_model, client, project
):
    choice = choose(shared_model, "Lunch", held=True)
    turn = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    await turn.end()
    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["discardReason"]) == ("discarded", "no_safe_delivery_point")
    assert (outcome["strategy"], outcome["documents"], outcome["fastDocuments"]) == ("none", 0, 2)
    await happened(choice.abandoned)


@pytest.mark.parametrize("overlap", [False, True], ids=["nothing in common", "one in common"])
async def test_a_turn_without_a_tool_result_had_no_safe_delivery_point(
    shared_model, client, project, overlap
):
    choice = choose(shared_model, held=True)
    before = await counters(client)
    turn = await Turn.start(client, QUESTION, project)
    choice.titles = ("Lunch", turn.fast_titles[0]) if overlap else ("Lunch",)
    choice.release.set()
    await settled(client, before)
    await turn.end()
    outcome = await turn.outcome()
    assert (outcome["discardReason"], outcome["strategy"]) == ("no_safe_delivery_point", "model")

    # What was chosen and reached nobody may come in a later turn.
    again = await Turn.start(client, "where is lunch", project, session=turn.session)
    assert again.fast_titles == ["Lunch"]
    await again.end()


@pytest.mark.parametrize("with_tool_result", [False, True])
async def test_a_choice_of_nothing_but_the_first_prompts_notes_is_already_delivered(
    shared_model, client, project, with_tool_result
):
    choice = choose(shared_model, held=True)
    turn = await Turn.start(client, QUESTION, project)
    choice.titles = tuple(reversed(turn.fast_titles))
    choice.release.set()
    if with_tool_result:
        result = await turn.settled_tool_result()
        assert result == {"turnId": turn.id, "state": "already_delivered", "delivery": None}
    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["discardReason"]) == ("discarded", "already_delivered")
    assert (outcome["strategy"], outcome["documents"], outcome["fastDocuments"]) == ("model", 0, 2)


@pytest.mark.parametrize("with_tool_result", [False, True])
async def test_an_empty_choice_has_no_relevant_results(shared_model, client, project, with_tool_result):
    choose(shared_model)
    turn = await Turn.start(client, QUESTION, project)
    if with_tool_result:
        result = await turn.settled_tool_result()
        assert result == {"turnId": turn.id, "state": "no_relevant_results", "delivery": None}
    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["discardReason"]) == ("discarded", "no_relevant_results")
    assert outcome["strategy"] == "model"


async def test_a_choice_made_within_the_wait_goes_into_the_first_prompt_when_nothing_matched(
    shared_model, client, project
):
    choose(shared_model, "Lunch")
    # One of the turns is quick enough; whether a given one is, only the machine knows.
    for _ in range(50):
        turn = await Turn.start(client, "quarterly zebra accounting", project, at_ceiling=True)
        if turn.fast["endedBy"] == "settled":
            break
        assert (turn.fast["endedBy"], turn.fast["delivery"]) == ("ceiling", None)
        await turn.end()
    delivery = turn.fast["delivery"]
    assert (delivery["phase"], delivery["strategy"], turn.fast["pending"]) == ("refined", "model", False)
    assert titles(delivery) == ["Lunch"]
    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["documents"], outcome["fastDocuments"]) == ("initial", 1, 0)


async def test_a_wait_with_nothing_to_deliver_ends_at_the_ceiling_and_recall_goes_on(
    shared_model, client, project
):
    choice = choose(shared_model, "Lunch", held=True)
    turn = await Turn.start(client, "quarterly zebra accounting", project, at_ceiling=True)
    assert (turn.fast["endedBy"], turn.fast["delivery"], turn.fast["pending"]) == ("ceiling", None, True)
    assert turn.fast["waitMs"] > 99  # the event loop counts whole milliseconds
    choice.release.set()
    assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]
    assert (await turn.outcome())["deliveryPoint"] == "tool_result"


async def test_a_query_without_a_usable_word_asks_no_model(shared_model, client, project):
    for text in ("", "   ", "ok", "👍", "???", "的 了 吗"):
        turn = await Turn.start(client, text, project)
        assert (turn.fast["endedBy"], turn.fast["delivery"], turn.fast["pending"]) == ("settled", None, False)
        outcome = await turn.outcome()
        assert (outcome["discardReason"], outcome["strategy"]) == ("no_relevant_results", "none")
    assert not shared_model.asked.is_set()


async def test_a_turn_cancelled_at_once_sends_no_first_prompt(shared_model, client, project):
    choose(shared_model, "Lunch", held=True)
    params = {"sessionId": new_session(), "query": "zebra accounting", "projectRoot": str(project.root)}
    error = await cancelled_at_once(client, params)
    assert error["code"] == CANCELLED
    assert (error["data"]["deliveryPoint"], error["data"]["discardReason"]) == ("discarded", "abort")
    await client.call("daemon/status")
    assert not [message for message in client.messages if message.get("method") == "recall/fast"]
    again = await Turn.start(client, QUESTION, project, session=params["sessionId"])
    assert len(again.fast_titles) == 2
    await again.end()
