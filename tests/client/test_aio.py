"""The asyncio client against the real daemon."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import pytest
import pytest_asyncio

from memrecalld.client import DaemonUnavailable, ProtocolError, ResponseError
from memrecalld.client.aio import AsyncClient
from tests.support.notes import note
from tests.support.turns import start_async

DEPLOY = note("Deploy process", "How the shop is deployed", "Run the deploy script.")
TERSE = note("Terse answers", "Prefers short replies", type="user")


@pytest.fixture(scope="module")
def asked(shared_daemon):
    """A daemon with notes that no test changes."""
    shared_daemon.write_note("project", "deploy.md", DEPLOY, days_old=3)
    shared_daemon.write_note("user", "terse.md", TERSE)
    for number in range(20):
        shared_daemon.write_note("user", f"{number}.md", note(f"Marker{number:02}x", "one of many"))
    shared_daemon.wait_until_read(22)
    return shared_daemon


@pytest_asyncio.fixture
async def client(asked):
    async with await AsyncClient.connect(str(asked.socket)) as client:
        yield client


@pytest.fixture
def modelled(start_daemon, model):
    """A daemon whose model chooses every note once it is released."""
    daemon = start_daemon(model.config)
    daemon.write_note("project", "deploy.md", DEPLOY)
    daemon.write_note("user", "terse.md", TERSE)
    daemon.wait_until_read(2)
    return daemon


def titles(delivery):
    return [each["title"] for each in delivery["documents"]]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.01)


async def test_a_turn_delivers_what_matches_and_tells_how_it_ended(client, asked):
    turn = await start_async(client, "how do we deploy?", session_id="s", project_root=asked.project)
    assert turn.fast["turnId"] == turn.id
    assert titles(turn.delivery) == ["Deploy process"]
    outcome = await turn.end()
    assert (outcome["deliveryPoint"], outcome["documents"]) == ("initial", 1)
    assert await turn.end() == outcome
    assert await turn.cancel() == outcome


async def test_a_turn_in_which_nothing_fits_waits_for_a_tool_result_with_room(client, asked):
    key = {"session_id": "no room", "project_root": asked.project}
    turn = await start_async(client, "how do we deploy?", **key, max_prompt_chars=1)
    assert (turn.fast["endedBy"], turn.delivery, turn.fast["pending"]) == ("settled", None, True)
    assert (await turn.tool_result(max_prompt_chars=1))["state"] == "pending"
    assert (await client.tool_result("no room", max_prompt_chars=1))["state"] == "pending"
    result = await turn.tool_result(max_prompt_chars=10_000)
    assert (result["state"], titles(result["delivery"])) == ("delivered", ["Deploy process"])
    outcome = await turn.end()
    assert (outcome["deliveryPoint"], outcome["documents"]) == ("tool_result", 1)


async def test_the_models_choice_comes_at_a_tool_result_without_what_was_delivered(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as client:
        turn = await start_async(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        assert titles(turn.delivery) == ["Deploy process"]
        assert (await turn.tool_result("grep"))["state"] == "pending"
        model.release()
        results = []

        async def answered() -> bool:
            results.append(await turn.tool_result())
            return results[-1]["state"] != "pending"

        await until(answered)
        assert titles(results[-1]["delivery"]) == ["Terse answers"]
        assert (await turn.end())["deliveryPoint"] == "tool_result"


async def test_a_cancelled_turn_gives_its_notes_back(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as client:
        turn = await start_async(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        assert (await turn.cancel())["discardReason"] == "abort"
        again = await start_async(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        assert titles(again.delivery) == ["Deploy process"]
        await again.end()


async def test_a_cancelled_start_leaves_no_turn(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as client:
        os.kill(modelled.pid, signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.start("deploy", session_id="s", project_root=modelled.project)
        finally:
            os.kill(modelled.pid, signal.SIGCONT)

        async def no_turn() -> bool:
            return (await client.status())["openTurns"] == 0

        await until(no_turn)
        turn = await start_async(client, "deploy", session_id="s", project_root=modelled.project)
        assert titles(turn.delivery) == ["Deploy process"]
        await turn.end()


async def test_many_tasks_on_one_connection_get_their_own_answers(client):
    async def search(number: int) -> None:
        found = await client.search(f"marker{number:02}x")
        assert [each["title"] for each in found] == [f"Marker{number:02}x"]

    async def recall(number: int) -> None:
        turn = await start_async(client, f"marker{number:02}x", session_id=f"s{number}")
        assert titles(turn.delivery) == [f"Marker{number:02}x"]
        assert (await turn.end())["turnId"] == turn.id

    async with asyncio.TaskGroup() as tasks:
        for number in range(20):
            tasks.create_task(search(number))
            tasks.create_task(recall(number))


async def test_a_detached_turn_is_continued_by_the_next_connection(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as hook:
        turn = await start_async(
            hook, "how do we deploy?", session_id="s", project_root=modelled.project, detached=True
        )
    async with await AsyncClient.connect(str(modelled.socket)) as hook:
        assert (await hook.tool_result("s"))["turnId"] == turn.id
        await hook.end("s", turn_id=turn.id)

        async def ended() -> bool:
            return (await hook.status())["openTurns"] == 0

        await until(ended)


async def test_everything_outside_turns_is_there(client, asked):
    listed = await client.list(project_root=asked.project)
    assert {each["title"] for each in listed} >= {"Deploy process", "Terse answers"}
    read = await client.read(listed[0]["path"], project_root=asked.project)
    assert {**listed[0], "body": read["body"], "truncated": False} == read
    verdict = await client.explain("zebra", listed[0]["path"], project_root=asked.project, session_id="s")
    assert (verdict["reason"], verdict["document"]) == ("no_match", listed[0])
    assert (await client.status(project_root=asked.project))["pid"] == asked.pid
    await client.reset("s")


async def test_an_error_answer_is_raised(client):
    with pytest.raises(ResponseError, match="limit"):
        await client.search("deploy", limit=1000)
    with pytest.raises(ProtocolError):
        await client.search("x" * 5_000_000)
    assert await client.search("replies")


async def test_a_late_answer_is_not_taken_for_another(client, asked):
    os.kill(asked.pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.list()
    finally:
        os.kill(asked.pid, signal.SIGCONT)
    assert [each["title"] for each in await client.search("replies")] == ["Terse answers"]


async def test_a_daemon_that_stops_ends_the_turn_and_the_client_learns_how(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as client:
        turn = await start_async(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        await asyncio.to_thread(modelled.stop)
        assert (await turn.end())["discardReason"] == "shutdown"
        with pytest.raises(DaemonUnavailable):
            await client.list()


async def test_waiting_ends_when_the_daemon_is_killed(modelled, model):
    async with await AsyncClient.connect(str(modelled.socket)) as client:
        os.kill(modelled.pid, signal.SIGSTOP)
        calls = [asyncio.create_task(client.list()) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.to_thread(modelled.kill)
        for call in calls:
            with pytest.raises(DaemonUnavailable):
                await call


async def test_closing_ends_what_still_waits(modelled, model):
    client = await AsyncClient.connect(str(modelled.socket))
    os.kill(modelled.pid, signal.SIGSTOP)
    try:
        call = asyncio.create_task(client.list())
        await asyncio.sleep(0)
        await client.close()
        await client.close()
        with pytest.raises(DaemonUnavailable, match="closed"):
            await call
    finally:
        os.kill(modelled.pid, signal.SIGCONT)


async def test_without_a_daemon_connecting_fails(tmp_path):
    with pytest.raises(DaemonUnavailable, match=r"start it: .*memrecalld"):
        await AsyncClient.connect(str(tmp_path / "none"))
