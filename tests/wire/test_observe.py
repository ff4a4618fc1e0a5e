"""A client that asked for it sees what the turns of all others hand over, and nobody else does."""

from __future__ import annotations

from tests.conftest import ConnectWire, StartDaemon
from tests.support.daemon import DaemonProcess
from tests.support.model import Model
from tests.support.notes import note
from tests.support.wire import WireClient

OBSERVED = "recall/observed"
SECRET = "only the note's body says this"
QUERY = "how does the harbour crane deploy"
CRANE = note("Harbour crane", "How the crane deploys", SECRET)


async def observe(client: WireClient) -> None:
    await client.call("initialize", {"initializationOptions": {"memrecall": {"observe": True}}})
    await client.notify("initialized")


def write_notes(daemon: DaemonProcess, *notes: str) -> None:
    """Write these, and return when they are read: no initial wait is too short for them."""
    for number, text in enumerate(notes):
        daemon.write_note("project", f"{number}.md", text)
    daemon.wait_until_read(len(notes))


async def start(client: WireClient, daemon: DaemonProcess, query: str = QUERY, **fields: object) -> int | str:
    """Start a turn of session ``s`` and return the request's id when the initial wait is over."""
    params = {"sessionId": "s", "query": query, "projectRoot": str(daemon.project), **fields}
    request = await client.request("recall/start", params)
    await client.fast(request)
    return request


async def events(client: WireClient, turn_id: str) -> list[dict]:
    """What was observed of a turn, up to its end."""
    seen = []
    while not seen or seen[-1]["event"] != "ended":
        seen.append(await client.notification(OBSERVED, turnId=turn_id))
    return seen


def observed(client: WireClient) -> list[dict]:
    return [message for message in client.messages if message.get("method") == OBSERVED]


async def test_an_observer_sees_what_another_client_was_given_and_why(daemon, connect_wire: ConnectWire):
    write_notes(daemon, CRANE)
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    outcome = (await agent.response(await start(agent, daemon)))["result"]["outcome"]

    refined, ended = await events(editor, outcome["turnId"])
    [document] = refined["documents"]
    assert (refined["event"], refined["sessionId"]) == ("refined", "s")
    assert refined["projectRoot"] == str(daemon.project)
    assert document["title"] == "Harbour crane"
    assert document["path"] == str(daemon.project_notes / "0.md")
    assert {"crane", "harbour"} <= {match["term"] for match in document["matched"]}
    assert (ended["documents"], ended["outcome"]) == ([], outcome)


async def test_an_observer_gets_neither_bodies_nor_queries(daemon, connect_wire: ConnectWire):
    write_notes(daemon, CRANE)
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    outcome = (await agent.response(await start(agent, daemon)))["result"]["outcome"]
    await events(editor, outcome["turnId"])

    assert SECRET in str(agent.messages)
    assert SECRET not in str(editor.messages)
    assert QUERY not in str(editor.messages)


async def test_a_client_that_did_not_ask_observes_nothing(daemon, connect_wire: ConnectWire):
    write_notes(daemon, CRANE)
    plain, other, agent = [await connect_wire(daemon) for _ in range(3)]
    await plain.call("initialize", {"initializationOptions": {"memrecall": {}}})
    await agent.response(await start(agent, daemon))
    for client in (plain, other):
        await client.call("daemon/status")  # its answer comes after whatever was sent before
        assert not observed(client)


async def test_fast_then_refined_then_the_end(
    start_daemon: StartDaemon, connect_wire: ConnectWire, model: Model
):
    daemon = start_daemon(model.config)
    write_notes(daemon, *(note(f"Crane {number}", "crane deploy") for number in range(4)))
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    request = await start(agent, daemon, agentId="child")
    fast = await editor.notification(OBSERVED)
    model.release()
    while (answer := await agent.call("recall/toolResult", {"sessionId": "s", "agentId": "child"}))[
        "state"
    ] == "pending":
        pass
    outcome = (await agent.response(request))["result"]["outcome"]

    refined, ended = await events(editor, outcome["turnId"])
    assert [each["event"] for each in (fast, refined, ended)] == ["fast", "refined", "ended"]
    assert {each["agentId"] for each in (fast, refined, ended)} == {"child"}
    assert len(fast["documents"]) == 2
    assert [each["path"] for each in refined["documents"]] == [
        each["path"] for each in answer["delivery"]["documents"]
    ]
    assert ended["outcome"]["deliveryPoint"] == "tool_result"


async def test_a_turn_without_notes_is_seen_to_begin_and_to_end(daemon, connect_wire: ConnectWire):
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    outcome = (await agent.response(await start(agent, daemon)))["result"]["outcome"]
    fast, ended = await events(editor, outcome["turnId"])
    assert (fast["event"], fast["documents"]) == ("fast", [])
    assert ended["outcome"]["discardReason"] == "no_relevant_results"


async def test_a_cancelled_turn_is_seen_to_end_as_one(
    start_daemon: StartDaemon, connect_wire: ConnectWire, model: Model
):
    daemon = start_daemon(model.config)
    write_notes(daemon, CRANE)
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    request = await start(agent, daemon)
    await agent.notify("$/cancelRequest", {"id": request})
    error = (await agent.response(request))["error"]
    fast, ended = await events(editor, error["data"]["turnId"])
    assert (fast["event"], ended["outcome"]["discardReason"]) == ("fast", "abort")


async def test_a_detached_turn_is_observed_across_the_processes_that_serve_it(
    start_daemon: StartDaemon, connect_wire: ConnectWire, model: Model
):
    daemon = start_daemon(model.config)
    write_notes(daemon, CRANE, note("Quay", "crane rails"), note("Rails", "crane rails of the quay"))
    editor, first, second = [await connect_wire(daemon) for _ in range(3)]
    await observe(editor)
    turn_id = (await first.response(await start(first, daemon, detached=True)))["result"]["turnId"]
    await first.close()
    model.release()
    while (await second.call("recall/toolResult", {"sessionId": "s"}))["state"] == "pending":
        pass
    assert [each["event"] for each in await events(editor, turn_id)] == ["fast", "refined", "ended"]


async def test_an_observer_that_shut_down_sees_nothing_more(daemon, connect_wire: ConnectWire):
    write_notes(daemon, CRANE)
    editor, agent = await connect_wire(daemon), await connect_wire(daemon)
    await observe(editor)
    await editor.call("shutdown")
    await agent.response(await start(agent, daemon))
    await editor.notify("exit")
    await editor.closed_by_daemon()
    assert not observed(editor)


async def test_an_observer_that_vanished_disturbs_no_turn(daemon, connect_wire: ConnectWire):
    write_notes(daemon, CRANE)
    editor, other, agent = [await connect_wire(daemon) for _ in range(3)]
    await observe(editor)
    await observe(other)
    await editor.abort()
    outcome = (await agent.response(await start(agent, daemon)))["result"]["outcome"]
    assert (await events(other, outcome["turnId"]))[-1]["outcome"] == outcome
