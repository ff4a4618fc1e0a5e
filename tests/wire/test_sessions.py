"""What a session is given once, what another session is never given, and what several processes may share."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
import pytest_asyncio

from tests.support.notes import note
from tests.support.wire import WireClient, frame
from tests.wire.model import Choice, manifest
from tests.wire.turns import CANCELLED, REFUSED, Turn, cancelled_at_once, happened, new_session, poll, titles


@pytest.mark.parametrize(
    "session",
    ["s", "s/1", "s/../s", "a\nb", " ", "\u0000", "漢字 👨‍👩‍👧", "x" * 1024],
    ids=lambda session: ascii(session[:12]),
)
async def test_any_session_id_of_bounded_length_is_a_session_of_its_own(plain_client, plain_project, session):
    plain_project.write("deploy", note("Deploy", f"how to deploy, {session[:9]!r}"))
    for agent in ("", session):
        first = await Turn.start(plain_client, "deploy", plain_project, session=session, agentId=agent)
        assert first.fast_titles == ["Deploy"]
        assert first.fast["sessionId"] == session
        again = await Turn.start(plain_client, "deploy", plain_project, session=session, agentId=agent)
        assert again.fast_titles == []


async def test_twenty_turns_of_one_query_deliver_a_note_once(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    plain_project.write("lunch", note("Lunch", "where we eat"))
    session = new_session()
    first = await Turn.start(plain_client, "how do we deploy", plain_project, session=session)
    assert first.fast_titles == ["Deploy"]
    for _ in range(19):
        turn = await Turn.start(plain_client, "how do we deploy", plain_project, session=session)
        assert turn.fast["delivery"] is None
        assert await turn.discarded() == "already_delivered"
        assert (await turn.tool_result())["state"] == "already_delivered"
    nothing = await Turn.start(plain_client, "quantum chromodynamics", plain_project, session=session)
    assert await nothing.discarded() == "no_relevant_results"
    assert (await nothing.tool_result())["state"] == "no_relevant_results"


async def test_with_a_model_twenty_turns_deliver_each_note_once(shared_model, client, project):
    names = [f"Deploy {number}" for number in range(1, 8)]
    for name in names:
        project.write(name, note(name, "how to deploy", name))

    class Everything(Choice):
        def chosen(self, exchange):
            return tuple(title for _, title in manifest(exchange)[:5])

    shared_model.answers = [Everything()]
    session = new_session()
    received = []
    for _ in range(20):
        turn = await Turn.start(client, "deploy", project, session=session)
        received += turn.fast_titles
        received += titles((await turn.settled_tool_result())["delivery"])
        await turn.end()
        await client.response(turn.request_id)
    assert sorted(received) == names


async def test_the_delivered_block_pasted_back_matches_nothing(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy", "with the blue script"))
    turn = await Turn.start(plain_client, "deploy", plain_project)
    prompt = turn.fast["delivery"]["prompt"]
    for pasted in (prompt, f"{prompt}\n\nok", prompt.replace("<", "&lt;").replace(">", "&gt;")):
        again = await Turn.start(plain_client, pasted, plain_project)
        assert again.fast["delivery"] is None
        assert await again.discarded() == "no_relevant_results"
    other = await Turn.start(plain_client, f"{prompt}\nwhere is the blue script", plain_project)
    assert other.fast_titles == ["Deploy"]


async def test_parent_and_child_are_each_given_a_note_once(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    session = new_session()
    for expected in (["Deploy"], []):
        for agent in ({}, {"agentId": "child"}, {"agentId": "other child"}):
            turn = await Turn.start(plain_client, "deploy", plain_project, session=session, **agent)
            assert turn.fast_titles == expected


async def test_a_changed_note_may_come_again_and_a_touched_one_may_not(plain_client, plain_project):
    session = new_session()

    async def recalled():
        return (await Turn.start(plain_client, "deploy", plain_project, session=session)).fast_titles

    path = plain_project.write("deploy", note("Deploy", "how to deploy", "by hand"))
    assert await recalled() == ["Deploy"]
    path.touch()
    assert await recalled() == []
    path.rename(path.with_name("renamed.md"))
    assert await recalled() == []
    plain_project.write("renamed", note("Deploy", "how to deploy", "by script"))
    assert await recalled() == ["Deploy"]
    assert await recalled() == []


async def test_a_reset_makes_everything_eligible_and_needs_no_session(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    session = new_session()
    assert await plain_client.call("recall/reset", {"sessionId": session}) == {}
    for _ in range(2):
        turn = await Turn.start(plain_client, "deploy", plain_project, session=session)
        assert turn.fast_titles == ["Deploy"]
        assert await plain_client.call("recall/reset", {"sessionId": session}) == {}


async def test_a_reset_of_the_child_leaves_the_parent_as_it_was(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    session = new_session()
    for agent in ("", "child"):
        await Turn.start(plain_client, "deploy", plain_project, session=session, agentId=agent)
    await plain_client.call("recall/reset", {"sessionId": session, "agentId": "child"})
    for agent, expected in (("", []), ("child", ["Deploy"])):
        turn = await Turn.start(plain_client, "deploy", plain_project, session=session, agentId=agent)
        assert turn.fast_titles == expected


async def test_what_was_delivered_outlives_the_daemon(start_daemon):
    daemon = start_daemon()
    daemon.write_note("user", "deploy.md", note("Deploy", "how to deploy"))

    async def recalled():
        client = await WireClient.connect(daemon.socket)
        try:
            return (await Turn.start(client, "deploy", session="s")).fast_titles
        finally:
            await client.abort()

    assert await recalled() == ["Deploy"]
    await asyncio.to_thread(daemon.kill)
    await asyncio.to_thread(daemon.start)
    assert await recalled() == []


async def test_tools_in_use_keep_their_manuals_out(plain_client, plain_project):
    plain_project.write("manual", note("Jira search", "api docs and parameter schema of mcp__jira__search"))
    plain_project.write("lesson", note("Jira search gotcha", "mcp__jira__search fails on weekends"))
    tools = {"recentTools": ["mcp__jira__search"]}
    turn = await Turn.start(plain_client, "jira search", plain_project, **tools)
    assert turn.fast_titles == ["Jira search gotcha"]

    session = new_session()
    await plain_client.call("recall/toolResult", {"sessionId": session, "toolName": "mcp__jira__search"})
    turn = await Turn.start(plain_client, "jira search", plain_project, session=session)
    assert turn.fast_titles == ["Jira search gotcha"]


# Whose turn it is -----------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def two_notes(project, client):
    """They are read: no turn has one of them only."""
    project.write("deploy", note("Deploy", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat"))
    await project.read(client)


async def test_another_connection_cannot_consume_an_attached_turn(
    two_notes, shared_model, client, project, selecting_daemon
):
    shared_model.answers = [Choice("Lunch")]
    turn = await Turn.start(client, "deploy", project)
    async with await WireClient.connect(selecting_daemon.socket) as thief:
        for params in (turn.key, turn.key | {"turnId": turn.id}):
            error = await thief.call_error("recall/toolResult", params)
            assert error["code"] == REFUSED
            assert "detached: true" in error["message"]
        guess = {"sessionId": new_session(), "turnId": turn.id}
        assert (await thief.call("recall/toolResult", guess))["state"] == "none"
        await thief.notify("recall/end", turn.key)
        await thief.notify("$/cancelRequest", {"id": turn.request_id})
        await thief.call("daemon/status")
    assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]
    assert (await turn.outcome())["deliveryPoint"] == "tool_result"


async def test_a_refused_tool_result_leaves_no_trace_in_the_session(
    project, client, shared_model, selecting_daemon
):
    project.write("manual", note("Jira search", "api docs and parameter schema of the jira tool"))
    project.write("lunch", note("Lunch", "where we eat"))
    shared_model.answers = [Choice("Lunch", held=True)]
    turn = await Turn.start(client, "lunch", project)
    async with await WireClient.connect(selecting_daemon.socket) as other:
        await other.call_error("recall/toolResult", turn.key | {"toolName": "jira"})
    again = await Turn.start(client, "jira search", project, session=turn.session)
    assert await turn.discarded() == "new_query"
    assert again.fast_titles == ["Jira search"]
    await again.end()


async def test_a_detached_turn_is_finished_by_another_connection(
    two_notes, shared_model, client, project, selecting_daemon
):
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    async with await WireClient.connect(selecting_daemon.socket) as hook:
        turn = await Turn.start(hook, "deploy", project, detached=True)
        assert turn.fast_titles == ["Deploy"]
        assert await turn.outcome() is None
        fast, response = hook.messages[-2:]
        assert (fast["method"], response["id"]) == ("recall/fast", turn.request_id)
    assert (await turn.tool_result(client=client))["state"] == "pending"
    choice.release.set()
    result = await turn.settled_tool_result(client=client)
    assert (titles(result["delivery"]), result["turnId"]) == (["Lunch"], turn.id)
    assert (await turn.tool_result(client=client))["state"] == "none"


async def test_a_detached_turn_needs_no_turn_id(two_notes, shared_model, client, project):
    shared_model.answers = [Choice("Lunch")]
    turn = await Turn.start(client, "deploy", project, detached=True)
    result = await turn.settled_tool_result(client=client)
    assert result["turnId"] == turn.id
    assert (await client.call("recall/toolResult", turn.key))["state"] == "none"


@pytest.mark.parametrize("model", [True, False], ids=["with a model", "without"])
async def test_a_detached_turn_whose_client_left_at_once_goes_on(
    two_notes, shared_model, client, plain_client, project, plain_project, model
):
    shared_model.answers = [Choice("Deploy", "Lunch")]
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    asker, place = (client, project) if model else (plain_client, plain_project)
    params = {"sessionId": new_session(), "query": "deploy", "projectRoot": str(place.root), "detached": True}
    start = {"jsonrpc": "2.0", "id": 1, "method": "recall/start", "params": params}
    await place.read(asker)
    with place.daemon.paused(), socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(place.daemon.socket))
        raw.sendall(frame(json.dumps(start).encode()))
    key = {"sessionId": params["sessionId"]}
    result = await poll(
        lambda: asker.call("recall/toolResult", key),
        lambda answer: answer["state"] not in {"pending", "none"},
    )
    assert titles(result["delivery"]) == (["Deploy", "Lunch"] if model else ["Deploy"])


async def test_a_cancellation_that_crosses_the_response_gives_the_notes_back(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    session = new_session()
    for _ in range(2):
        turn = await Turn.start(plain_client, "deploy", plain_project, session=session)
        assert turn.fast_titles == ["Deploy"]
        assert (await turn.outcome())["deliveryPoint"] == "initial"
        await turn.cancel()
    again = await Turn.start(plain_client, "deploy", plain_project, session=session)
    assert again.fast_titles == ["Deploy"]
    await Turn.start(plain_client, "something else", plain_project, session=session)
    await again.cancel()  # the session has gone on with it
    assert (await Turn.start(plain_client, "deploy", plain_project, session=session)).fast_titles == []


async def test_a_note_that_only_the_model_chose_matched_nothing(two_notes, shared_model, client, project):
    shared_model.answers = [Choice("Lunch")]
    turn = await Turn.start(client, "deploy", project)
    (fast,) = turn.fast["delivery"]["documents"]
    assert fast["matched"]
    (refined,) = (await turn.settled_tool_result())["delivery"]["documents"]
    assert refined["matched"] == []


async def test_a_detached_turn_that_settles_at_once_answers_with_its_outcome(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    turn = await Turn.start(plain_client, "deploy", plain_project, detached=True)
    assert (await turn.outcome())["deliveryPoint"] == "initial"


async def test_a_detached_turn_is_ended_by_whoever_is_there_last(two_notes, shared_model, client, project):
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, "deploy", project, detached=True)
    await happened(shared_model.asked)
    await client.notify("recall/end", turn.key)
    await happened(choice.abandoned)
    assert (await turn.tool_result())["state"] == "none"


async def test_a_detached_start_can_be_cancelled_until_it_is_answered(
    two_notes, shared_model, client, project
):
    shared_model.answers = [Choice("Lunch", held=True)]
    # Nothing matches, so that the answer cannot be there already.
    params = {"sessionId": new_session(), "query": "zebra accounting", "projectRoot": str(project.root)}
    error = await cancelled_at_once(client, params | {"detached": True})
    assert (error["code"], error["data"]["discardReason"]) == (CANCELLED, "abort")
    assert (await client.call("recall/toolResult", {"sessionId": params["sessionId"]}))["state"] == "none"
