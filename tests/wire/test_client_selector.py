"""A client that has a model of its own is asked to choose, and whatever it does, turns end as they should."""

from __future__ import annotations

import json

import pytest

from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WireClient, frame
from tests.wire.turns import Project, Turn, counters, poll, titles

QUESTION = "how do we deploy"
OFFER = {"initializationOptions": {"memrecall": {"selector": True}}}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """A daemon that asks its clients."""
    daemon = DaemonProcess(tmp_path_factory.mktemp("asking") / "home", '[selector]\nkind = "client"\n')
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.close()


@pytest.fixture
def project(daemon, tmp_path):
    project = Project(daemon, daemon.home / tmp_path.name)
    for number in range(1, 5):
        project.write(f"deploy-{number}", note(f"Deploy {number}", "how to deploy", "x" * number))
    project.write("lunch", note("Lunch", "where we eat", "noodles"))
    return project


async def connected(connect_wire, daemon, *, offers):
    client = await connect_wire(daemon)
    capabilities = await client.call("initialize", OFFER if offers else {})
    assert capabilities["capabilities"]["experimental"]["memrecall"]["selector"] == "client"
    return client


async def asked(client):
    """The last question: how to answer it, and its parameters. One before may have been withdrawn."""
    await client.call("daemon/status")  # what was sent before its answer is there
    question = [message for message in client.messages if message.get("method") == "recall/select"][-1]
    return question["id"], question["params"]


def id_of(params, title):
    return next(line.split(" ")[0] for line in params["manifest"].splitlines() if f" {title} | " in line)


async def answer(client, request_id, **content):
    await client.send({"jsonrpc": "2.0", "id": request_id, **content})


async def test_the_client_that_started_the_turn_is_asked_and_its_choice_delivered(
    connect_wire, daemon, project
):
    client = await connected(connect_wire, daemon, offers=True)
    other = await connected(connect_wire, daemon, offers=True)
    turn = await Turn.start(client, QUESTION, project)
    assert turn.fast["endedBy"] == "published"
    request_id, params = await asked(client)
    assert params["query"] == QUESTION
    assert params["maxSelected"] == 5
    assert len(params["manifest"].splitlines()) == 5
    assert str(project.notes) not in params["manifest"]
    assert (await turn.tool_result())["state"] == "pending"

    chosen = [id_of(params, "Lunch"), id_of(params, turn.fast_titles[0])]
    await answer(client, request_id, result={"selected": chosen})
    delivery = (await turn.settled_tool_result())["delivery"]
    assert (delivery["strategy"], titles(delivery)) == ("model", ["Lunch"])
    assert (await turn.outcome())["strategy"] == "model"
    await other.call("daemon/status")
    assert not [message for message in other.messages if message.get("method") == "recall/select"]


async def test_for_a_client_without_a_model_the_one_that_offered_last_is_asked(connect_wire, daemon, project):
    plain = await connected(connect_wire, daemon, offers=False)
    await connected(connect_wire, daemon, offers=True)
    editor = await connected(connect_wire, daemon, offers=True)
    turn = await Turn.start(plain, QUESTION, project)
    request_id, params = await asked(editor)
    await answer(editor, request_id, result={"selected": [id_of(params, "Lunch")]})
    assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]


async def test_while_nobody_offers_there_is_no_selector(connect_wire, daemon, project):
    plain = await connected(connect_wire, daemon, offers=False)
    editor = await connected(connect_wire, daemon, offers=True)
    await editor.call("shutdown")
    turn = await Turn.start(plain, QUESTION, project)
    assert (turn.fast["endedBy"], turn.fast["delivery"]["phase"]) == ("settled", "refined")
    assert (await turn.outcome())["strategy"] == "heuristic"


FAILURES = {
    "an error": ({"error": {"code": 1, "message": "no model"}}, "client-error"),
    "null": ({"result": None}, "wrong-shape"),
    "a list": ({"result": ["m1"]}, "wrong-shape"),
    "prose": ({"result": "the first"}, "wrong-shape"),
    "an unknown id": ({"result": {"selected": ["m1", "m99"]}}, "unknown-id"),
    "too many": ({"result": {"selected": [f"m{number}" for number in range(1, 8)]}}, "too-many"),
    "a long answer": ({"result": {"selected": ["m1"], "why": "x" * 100_000}}, "too-long"),
}


@pytest.mark.parametrize(("content", "reason"), FAILURES.values(), ids=FAILURES.keys())
async def test_a_failed_choice_falls_back_to_the_words_and_is_counted(
    connect_wire, daemon, project, content, reason
):
    client = await connected(connect_wire, daemon, offers=True)
    before = (await counters(client)).get(f"selector.failed.{reason}", 0)
    turn = await Turn.start(client, QUESTION, project)
    request_id, _ = await asked(client)
    await answer(client, request_id, **content)
    delivery = (await turn.settled_tool_result())["delivery"]
    assert delivery["strategy"] == "heuristic"
    assert sorted(turn.fast_titles + titles(delivery)) == [f"Deploy {number}" for number in range(1, 5)]
    assert (await turn.outcome())["strategy"] == "heuristic"
    assert (await counters(client))[f"selector.failed.{reason}"] == before + 1


async def test_an_answer_that_is_no_text_fails_at_once(connect_wire, daemon, project):
    client = await connected(connect_wire, daemon, offers=True)
    turn = await Turn.start(client, QUESTION, project)
    request_id, _ = await asked(client)
    body = b'{"jsonrpc":"2.0","id":%b,"result":{"selected":["m1\xff"]}}' % json.dumps(request_id).encode()
    await client.send_bytes(frame(body))
    assert (await turn.settled_tool_result())["delivery"]["strategy"] == "heuristic"


async def test_an_asked_client_that_leaves_has_failed(connect_wire, daemon, project):
    plain = await connected(connect_wire, daemon, offers=False)
    editor = await connected(connect_wire, daemon, offers=True)
    turn = await Turn.start(plain, QUESTION, project)
    await asked(editor)
    before = (await counters(plain)).get("selector.failed.connection", 0)
    await editor.abort()
    assert (await turn.settled_tool_result())["delivery"]["strategy"] == "heuristic"
    assert (await counters(plain))["selector.failed.connection"] == before + 1


async def test_a_question_is_withdrawn_when_its_turn_ends_and_a_late_answer_changes_nothing(
    connect_wire, daemon, project
):
    client = await connected(connect_wire, daemon, offers=True)
    turn = await Turn.start(client, QUESTION, project)
    request_id, params = await asked(client)
    await turn.end()
    assert await turn.discarded() == "no_safe_delivery_point"
    assert await client.notification("$/cancelRequest", id=request_id)
    await answer(client, request_id, result={"selected": [id_of(params, "Lunch")]})
    assert (await turn.tool_result())["state"] == "none"


async def test_nobody_answers_for_another_client(connect_wire, daemon, project):
    client = await connected(connect_wire, daemon, offers=True)
    other = await connected(connect_wire, daemon, offers=False)
    turn = await Turn.start(client, QUESTION, project)
    request_id, params = await asked(client)
    await answer(other, request_id, result={"selected": [id_of(params, "Lunch")]})
    await other.call("daemon/status")
    assert (await turn.tool_result())["state"] == "pending"
    await answer(client, request_id, result={"selected": []})
    assert await turn.discarded() == "no_relevant_results"


async def test_a_detached_turn_is_chosen_for_after_its_process_is_gone(connect_wire, daemon, project):
    editor = await connected(connect_wire, daemon, offers=True)
    async with await WireClient.connect(daemon.socket) as hook:
        turn = await Turn.start(hook, QUESTION, project, detached=True)
        assert await turn.outcome() is None
    request_id, params = await asked(editor)
    await answer(editor, request_id, result={"selected": [id_of(params, "Lunch")]})
    result = await poll(
        lambda: editor.call("recall/toolResult", turn.key), lambda result: result["state"] != "pending"
    )
    assert titles(result["delivery"]) == ["Lunch"]
