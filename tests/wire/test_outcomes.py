"""Every way in which a turn can end, each with its one record."""

from __future__ import annotations

import asyncio
import shutil

from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.model import Choice, selector
from tests.wire.turns import CANCELLED, FAILED, Project, Turn, counters, happened, new_session, poll, titles

QUESTION = "how do we deploy"


def write_deploy_notes(project, count=3):
    for number in range(1, count + 1):
        project.write(f"deploy-{number}", note(f"Deploy {number}", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat", "noodles"))


async def status_until(client, **wanted):
    """The status, once its counters are these."""
    return await poll(
        lambda: counters(client),
        lambda now: all(now.get(name.replace("__", "."), 0) >= count for name, count in wanted.items()),
    )


# Without a selector ---------------------------------------------------------------------------------


async def test_without_a_selector_the_best_five_are_the_first_prompt(plain_client, plain_project):
    write_deploy_notes(plain_project, 7)
    turn = await Turn.start(plain_client, QUESTION, plain_project)
    delivery = turn.fast["delivery"]
    assert (turn.fast["endedBy"], turn.fast["pending"]) == ("settled", False)
    assert (delivery["phase"], delivery["strategy"]) == ("refined", "heuristic")
    assert len(titles(delivery)) == 5
    outcome = await turn.outcome()
    assert (outcome["deliveryPoint"], outcome["strategy"]) == ("initial", "heuristic")
    assert (outcome["documents"], outcome["fastDocuments"], outcome["candidates"]) == (5, 0, 0)
    assert "discardReason" not in outcome
    assert (await turn.tool_result())["state"] == "none"


async def test_what_matches_nothing_ends_at_once_and_says_so_at_a_tool_result(plain_client, plain_project):
    write_deploy_notes(plain_project)
    turn = await Turn.start(plain_client, "quantum chromodynamics", plain_project)
    assert (turn.fast["endedBy"], turn.fast["delivery"], turn.fast["pending"]) == ("settled", None, False)
    assert await turn.discarded() == "no_relevant_results"
    assert (await turn.tool_result())["state"] == "no_relevant_results"


async def test_a_document_is_described_in_full(plain_client, plain_project):
    path = plain_project.write("long", note("Deploy", "how we do it", "word " * 400, type="reference"))
    turn = await Turn.start(plain_client, QUESTION, plain_project)
    [document] = turn.fast["delivery"]["documents"]
    body, saved_at, matched = (document.pop(name) for name in ("body", "savedAt", "matched"))
    assert document == {
        "scope": "project",
        "type": "reference",
        "title": "Deploy",
        "description": "how we do it",
        "path": str(path),
        "relativePath": "long.md",
        "age": "saved today",
        "truncated": True,
    }
    assert len(body) <= 1200 and body.startswith("word word")
    assert saved_at.endswith("Z")
    assert [(match["term"], match["field"]) for match in matched] == [("deploy", "title")]
    assert matched[0]["weight"] > 0


async def test_a_tool_result_of_a_session_without_a_turn_has_nothing(plain_client):
    result = await plain_client.call("recall/toolResult", {"sessionId": new_session(), "toolName": "bash"})
    assert result == {"turnId": None, "state": "none", "delivery": None}


# Superseded, reset ----------------------------------------------------------------------------------


async def test_a_new_query_ends_the_turn_and_gets_nothing_of_it(shared_model, client, project):
    write_deploy_notes(project)
    project.write("pets", note("Pets", "dogs in the office"))
    await project.read(client)
    first_choice, second_choice = Choice("Lunch", held=True), Choice("Lunch", "Pets", held=True)
    shared_model.answers = [first_choice]
    first = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    shared_model.answers = [second_choice]
    second = await Turn.start(client, "who brought the dogs", project, session=first.session)
    assert await first.discarded() == "new_query"
    await happened(first_choice.abandoned)
    assert second.fast_titles == ["Pets"]

    second_choice.release.set()
    assert (await first.tool_result())["state"] == "none"
    result = await second.settled_tool_result()
    assert (result["turnId"], titles(result["delivery"])) == (second.id, ["Lunch"])
    assert (await second.outcome())["deliveryPoint"] == "tool_result"


async def test_turns_of_two_agents_in_one_session_run_side_by_side(shared_model, client, project):
    write_deploy_notes(project)
    shared_model.answers = [Choice("Lunch", held=True)]
    parent = await Turn.start(client, QUESTION, project)
    child = await Turn.start(client, QUESTION, project, session=parent.session, agentId="child")
    assert parent.fast_titles == child.fast_titles
    shared_model.answers[0].release.set()
    for turn in (parent, child):
        assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]
        assert (await turn.outcome())["deliveryPoint"] == "tool_result"


async def test_a_reset_ends_the_turn_and_everything_may_come_again(shared_model, client, project):
    write_deploy_notes(project)
    shared_model.answers = [Choice("Lunch", held=True)]
    turn = await Turn.start(client, QUESTION, project)
    assert await client.call("recall/reset", {"sessionId": turn.session}) == {}
    assert await turn.discarded() == "reset"
    again = await Turn.start(client, QUESTION, project, session=turn.session)
    assert again.fast_titles == turn.fast_titles
    await again.end()


async def test_what_was_delivered_wins_over_a_later_reason(shared_model, client, project):
    write_deploy_notes(project)
    choice = Choice(held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, QUESTION, project)
    choice.titles = tuple(turn.fast_titles)
    choice.release.set()
    assert await turn.discarded() == "already_delivered"
    await turn.end()
    await client.call("recall/reset", {"sessionId": turn.session})
    await turn.cancel()
    await client.call("daemon/status")  # whatever a late reason would have sent comes before this answer


# Cancelled, disconnected, stopped -------------------------------------------------------------------


async def test_a_cancelled_turn_answers_with_its_record_and_gives_back_its_prompt(
    shared_model, client, project
):
    write_deploy_notes(project)
    await project.read(client)
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, QUESTION, project)
    await happened(shared_model.asked)
    await turn.cancel()
    error = await turn.error()
    assert error["code"] == CANCELLED
    data = error["data"]
    assert (data["turnId"], data["deliveryPoint"], data["discardReason"]) == (turn.id, "discarded", "abort")
    assert (data["documents"], data["fastDocuments"], data["phase"]) == (0, 2, "refined")
    await happened(choice.abandoned)
    assert (await turn.tool_result())["state"] == "none"

    again = await Turn.start(client, QUESTION, project, session=turn.session)
    assert again.fast_titles == turn.fast_titles
    await again.end()


async def test_a_cancellation_after_the_end_gives_back_what_the_discarded_prompt_had(
    plain_client, plain_project
):
    write_deploy_notes(plain_project, 1)
    turn = await Turn.start(plain_client, QUESTION, plain_project)
    assert (await turn.outcome())["deliveryPoint"] == "initial"
    await plain_client.notify("$/cancelRequest", {"id": 123456})
    await turn.cancel()
    again = await Turn.start(plain_client, QUESTION, plain_project, session=turn.session)
    assert again.fast_titles == turn.fast_titles
    assert (await again.outcome())["deliveryPoint"] == "initial"
    # That was a new prompt, which nobody has thrown away.
    await turn.cancel()
    third = await Turn.start(plain_client, QUESTION, plain_project, session=turn.session)
    assert third.fast["delivery"] is None


async def test_a_lost_connection_ends_its_turn(shared_model, client, project, selecting_daemon):
    write_deploy_notes(project)
    await project.read(client)
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    leaver = await WireClient.connect(selecting_daemon.socket)
    turn = await Turn.start(leaver, QUESTION, project)
    await happened(shared_model.asked)
    before = await counters(client)
    await leaver.abort()
    await status_until(client, discarded__abort=before.get("discarded.abort", 0) + 1)
    await happened(choice.abandoned)
    assert (await client.call("recall/toolResult", {"sessionId": turn.session}))["state"] == "none"
    # What it read before it left is in its context, should it come back.
    again = await Turn.start(client, QUESTION, project, session=turn.session)
    assert len(again.fast_titles) == 1
    await again.end()


async def test_a_shutdown_request_ends_the_turns_of_its_connection(shared_model, project, selecting_daemon):
    write_deploy_notes(project)
    shared_model.answers = [Choice("Lunch", held=True)]
    async with await WireClient.connect(selecting_daemon.socket) as client:
        turn = await Turn.start(client, QUESTION, project)
        assert await client.call("shutdown") is None
        error = await turn.error()
        assert (error["code"], error["data"]["discardReason"]) == (CANCELLED, "abort")
        await client.notify("exit")
        await client.closed_by_daemon()


async def test_a_stopping_daemon_ends_every_turn_with_a_record(
    start_daemon, connect_wire, shared_model, model_port
):
    daemon = start_daemon(selector(model_port))
    project = Project(daemon, daemon.home / "here")
    write_deploy_notes(project)
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    client = await connect_wire(daemon)
    await project.read(client)
    attached = [await Turn.start(client, QUESTION, project) for _ in range(3)]
    detached = await Turn.start(client, QUESTION, project, detached=True)
    assert await detached.outcome() is None
    await happened(shared_model.asked)
    await asyncio.to_thread(daemon.stop)
    assert [await turn.discarded() for turn in attached] == ["shutdown"] * 3
    await client.closed_by_daemon()
    await happened(choice.abandoned)


# Failed ---------------------------------------------------------------------------------------------


async def test_project_notes_that_cannot_be_read_fail_the_turn(plain_client, plain_project):
    plain_project.notes.parent.mkdir(parents=True, exist_ok=True)
    plain_project.notes.write_text("a file in place of the folder", encoding="utf-8")
    turn = await Turn.start(plain_client, QUESTION, plain_project)
    assert (turn.fast["endedBy"], turn.fast["delivery"], turn.fast["pending"]) == ("settled", None, False)
    error = await turn.error()
    assert error["code"] == FAILED
    assert "memory folder cannot be read" in error["message"]
    assert str(plain_project.notes) not in error["message"]
    data = error["data"]
    assert (data["turnId"], data["deliveryPoint"], data["discardReason"]) == (turn.id, "discarded", "failed")

    # It recovers by itself.
    plain_project.notes.unlink()
    write_deploy_notes(plain_project, 1)
    assert (await Turn.start(plain_client, QUESTION, plain_project)).fast_titles == ["Deploy 1"]


async def test_a_project_without_notes_is_an_empty_project(plain_client, plain_project):
    turn = await Turn.start(plain_client, QUESTION, plain_project)
    assert await turn.discarded() == "no_relevant_results"
    write_deploy_notes(plain_project, 1)
    assert (await Turn.start(plain_client, QUESTION, plain_project)).fast_titles == ["Deploy 1"]
    shutil.rmtree(plain_project.notes)
    assert (await Turn.start(plain_client, QUESTION, plain_project)).fast_titles == []


async def test_each_outcome_is_counted_once(plain_client, plain_project):
    write_deploy_notes(plain_project, 2)
    await plain_project.read(plain_client)
    before = await counters(plain_client)
    turns = [await Turn.start(plain_client, text, plain_project) for text in (QUESTION, "nothing like it")]
    for turn in turns:
        await turn.outcome()
    after = await counters(plain_client)
    points = [name for name in after if name.startswith("delivery_point.")]
    assert sum(after[name] for name in points) == after["turns"]
    assert after["delivery_point.initial"] == before.get("delivery_point.initial", 0) + 1
    assert after["documents.refined"] == before.get("documents.refined", 0) + 2
