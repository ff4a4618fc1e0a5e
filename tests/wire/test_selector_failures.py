"""A model that answers nonsense or nothing: the turn goes on without it, and the failure is counted."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from tests.selectors.model_server import hang_up, hang_up_halfway, never, raw
from tests.support.notes import note
from tests.wire.model import Choice, manifest, says, selector
from tests.wire.turns import Project, Turn, counters, happened, poll, titles

QUESTION = "how do we deploy"


@pytest_asyncio.fixture(autouse=True)
async def notes(project, client):
    """Four notes that match and two that do not, all of them read."""
    for number in range(1, 5):
        project.write(f"deploy-{number}", note(f"Deploy {number}", "how to deploy", "x" * number))
    project.write("lunch", note("Lunch", "where we eat", "noodles"))
    project.write("pets", note("Pets", "dogs in the office", "two of them"))
    await project.read(client)


def selected(*ids):
    return says(json.dumps({"selected": ids}))


def failing(status, body=b"{}"):
    return raw(status, body, headers="Connection: close\r\n")


FAILURES = {
    "http 500": (failing(500), "http-500"),
    "http 401": (failing(401), "http-401"),
    "a redirect": (failing(302), "http-302"),
    "no json": (failing(200, b"<html>welcome</html>"), "not-json"),
    "half a completion": (failing(200, b'{"choices": [{"mess'), "not-json"),
    "no choice": (failing(200, b'{"choices": []}'), "no-choice"),
    "prose": (says("I would look at the first two notes."), "wrong-shape"),
    "prose around the ids": (says('The best are {"selected": ["m1"]}, I think.'), "wrong-shape"),
    "half json": (says('{"selected": ["m1", "m'), "wrong-shape"),
    "another shape": (says('["m1", "m2"]'), "wrong-shape"),
    "numbers for ids": (says('{"selected": [1, 2]}'), "wrong-shape"),
    "silence": (says(""), "wrong-shape"),
    "an unknown id": (selected("m1", "m999"), "unknown-id"),
    "a path": (selected("../../etc/passwd"), "unknown-id"),
    "fifty ids": (selected(*(f"m{number}" for number in range(1, 51))), "too-many"),
    "a megabyte": (says("m1 " * 350_000), "too-large"),
    "a long answer": (says(" " * 70_000), "too-long"),
    "a dropped connection": (hang_up, "connection"),
    "a connection dropped halfway": (hang_up_halfway, "connection"),
}


@pytest.mark.parametrize(("answer", "reason"), FAILURES.values(), ids=FAILURES.keys())
async def test_a_failed_selection_falls_back_to_the_words_and_is_counted(
    shared_model, client, project, answer, reason
):
    shared_model.answers = [answer]
    before = await counters(client)
    turn = await Turn.start(client, QUESTION, project)
    assert len(turn.fast_titles) == 2
    result = await turn.settled_tool_result()
    assert result["state"] == "delivered"
    assert (result["delivery"]["phase"], result["delivery"]["strategy"]) == ("refined", "heuristic")
    rest = titles(result["delivery"])
    assert sorted(turn.fast_titles + rest) == ["Deploy 1", "Deploy 2", "Deploy 3", "Deploy 4"]

    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["strategy"]) == ("tool_result", "heuristic")
    assert (outcome["documents"], outcome["fastDocuments"]) == (2, 2)
    was, now = failures(before), failures(await counters(client))
    assert now.pop(reason) > was.pop(reason, 0)
    assert now == was


async def test_a_failed_selection_with_nothing_more_to_give_is_already_delivered(
    shared_model, client, project
):
    for number in (3, 4):
        (project.notes / f"deploy-{number}.md").unlink()
    shared_model.answers = [failing(500)]
    turn = await Turn.start(client, QUESTION, project)
    outcome = await turn.outcome()
    assert (outcome["discardReason"], outcome["strategy"]) == ("already_delivered", "heuristic")


async def test_a_failed_selection_on_a_query_that_matches_nothing_has_no_relevant_results(
    shared_model, client, project
):
    shared_model.answers = [failing(500)]
    turn = await Turn.start(client, "quantum chromodynamics", project, at_ceiling=True)
    outcome = await turn.outcome()
    assert (outcome["discardReason"], outcome["strategy"]) == ("no_relevant_results", "heuristic")


async def test_a_model_that_never_answers_is_hung_up_on_when_the_turn_ends(shared_model, client, project):
    shared_model.answers = [never]
    turn = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    assert (await turn.tool_result())["state"] == "pending"
    assert not shared_model.left.is_set()
    await turn.end()
    assert await turn.discarded() == "no_safe_delivery_point"
    await happened(shared_model.left)


async def test_every_failure_leaves_the_next_turn_a_working_model(shared_model, client, project):
    for answer in (failing(500), hang_up, never):
        shared_model.answers = [answer]
        turn = await Turn.start(client, QUESTION, project)
        if answer is never:
            await turn.end()
        else:
            assert (await turn.settled_tool_result())["delivery"]["strategy"] == "heuristic"
    shared_model.answers = [Choice("Lunch")]
    turn = await Turn.start(client, QUESTION, project)
    result = await turn.settled_tool_result()
    assert (result["delivery"]["strategy"], titles(result["delivery"])) == ("model", ["Lunch"])


async def test_a_server_without_schemas_is_asked_again_without_one_and_counted_once(
    start_daemon, connect_wire, shared_model, model_port, tmp_path
):
    # A daemon of its own, since it remembers what its server cannot do.
    daemon = start_daemon(selector(model_port))
    own = Project(daemon, daemon.home / "here")
    own.write("deploy", note("Deploy", "how to deploy"))
    own.write("lunch", note("Lunch", "where we eat"))
    shared_model.answers = [failing(400), Choice("Lunch")]
    client = await connect_wire(daemon)
    await own.read(client)
    turn = await Turn.start(client, QUESTION, own)
    assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]
    assert ["response_format" in each.body for each in shared_model.exchanges] == [True, False]
    counted = await counters(client)
    assert (counted["selector.asked"], counted["selector.answered"]) == (1, 1)


# What looks odd and is an answer --------------------------------------------------------------------


def lunch_id(exchange):
    return next(line_id for line_id, title in manifest(exchange) if title == "Lunch")


@pytest.mark.parametrize(
    "content",
    [
        '{{"selected": ["{id}", "{id}", "{id}"]}}',
        '```json\n{{"selected": ["{id}"]}}\n```',
        '```\n{{"selected": ["{id}"]}}\n```\n',
        '<think>Lunch it is.</think>\n{{"selected": ["{id}"]}}',
    ],
    ids=["an id named three times", "a fence", "a fence without a language", "thoughts before"],
)
async def test_an_answer_in_a_models_wrapping_is_an_answer(shared_model, client, project, content):
    async def answer(exchange):
        await says(content.format(id=lunch_id(exchange)))(exchange)

    shared_model.answers = [answer]
    before = await counters(client)
    turn = await Turn.start(client, QUESTION, project)
    result = await turn.settled_tool_result()
    assert (result["delivery"]["strategy"], titles(result["delivery"])) == ("model", ["Lunch"])
    outcome = await turn.outcome()
    assert (outcome["strategy"], outcome["documents"]) == ("model", 1)
    after = await counters(client)
    assert after["selector.answered"] == before.get("selector.answered", 0) + 1
    assert failures(after) == failures(before)


def failures(counted):
    prefix = "selector.failed."
    return {name.removeprefix(prefix): count for name, count in counted.items() if name.startswith(prefix)}


async def test_a_note_deleted_while_the_model_thinks_is_left_out(shared_model, client, project):
    choice = Choice("Lunch", "Pets", held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    (project.notes / "lunch.md").unlink()
    project.write("pets", note("Pets", "dogs in the office", "three of them by now"))
    choice.release.set()
    result = await turn.settled_tool_result()
    assert titles(result["delivery"]) == ["Pets"]
    assert "three of them by now" in result["delivery"]["prompt"]
    assert (await turn.outcome())["documents"] == 1


async def test_a_choice_whose_notes_are_all_gone_has_no_relevant_results(shared_model, client, project):
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    (project.notes / "lunch.md").unlink()
    choice.release.set()
    assert (await turn.settled_tool_result())["state"] == "no_relevant_results"
    assert await turn.discarded() == "no_relevant_results"


async def test_the_model_is_told_no_path_and_no_body(shared_model, client, project):
    project.write("secret-name", note("Deploy 5", "how to deploy", "only the body says this"))
    turn = await Turn.start(client, QUESTION, project)
    await poll(lambda: counters(client), lambda _: shared_model.asked.is_set())
    await turn.outcome()
    asked = json.dumps([each.body for each in shared_model.exchanges])
    assert "Deploy 5" in asked
    for private in ("only the body says this", "secret-name", str(project.notes)):
        assert private not in asked
