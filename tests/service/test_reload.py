"""A configuration that is read again: in effect for the next recall, and under nothing that is open."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import pytest

from memrecalld.client import Client
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.turns import start
from tests.support.wire import WireClient

NATIVE_ONLY = '[memory]\nlayouts = ["native"]\n'


def reload(daemon, client, counter="config.reloaded"):
    """Send the signal, and return when the daemon has taken it."""
    before = client.status()["counters"].get(counter, 0)
    os.kill(daemon.pid, signal.SIGHUP)
    poll(lambda: client.status()["counters"].get(counter, 0) == before + 1, counter)


def titles(delivery):
    return [] if delivery is None else sorted(each["title"] for each in delivery["documents"])


def found(client, daemon, query):
    return sorted(each["title"] for each in client.search(query, project_root=daemon.project))


@pytest.fixture
def daemon(shared_daemon):
    """One for all tests, with the default configuration and no notes again after each."""
    yield shared_daemon
    for folder in (shared_daemon.user_notes, shared_daemon.home / ".qwen"):
        shutil.rmtree(folder, ignore_errors=True)
    shared_daemon.configure("")
    with Client.connect(str(shared_daemon.socket)) as client:
        reload(shared_daemon, client)


@pytest.fixture
def client(daemon):
    with Client.connect(str(daemon.socket), call_timeout=60.0) as client:
        yield client


def test_roots_come_and_go_and_what_a_session_was_given_stays_given(daemon, client):
    extra = daemon.home / "extra"
    extra.mkdir()
    (extra / "extra.md").write_text(note("Extra deploy"), encoding="utf-8")
    qwen = daemon.home / ".qwen" / "memories"
    qwen.mkdir(parents=True)
    (qwen / "q.md").write_text(note("Qwen deploy"), encoding="utf-8")
    daemon.write_note("user", "own.md", note("Own deploy"))
    turn = start(client, "deploy", session_id="s", project_root=str(daemon.project))
    assert titles(turn.delivery) == ["Own deploy", "Qwen deploy"]
    turn.end()

    daemon.configure(f'{NATIVE_ONLY}extra_user_roots = ["{extra}"]\n')
    reload(daemon, client)
    assert found(client, daemon, "deploy") == ["Extra deploy", "Own deploy"]
    assert client.status()["topics"] == 2
    turn = start(client, "deploy", session_id="s", project_root=str(daemon.project))
    assert titles(turn.delivery) == ["Extra deploy"]
    turn.end()

    daemon.configure("")
    reload(daemon, client)
    assert found(client, daemon, "deploy") == ["Own deploy", "Qwen deploy"]


def test_changes_are_seen_with_and_without_events_and_with_them_again(daemon, client):
    for number, watch in enumerate(("false", "true", "false", "true")):
        daemon.configure(f"[memory]\nwatch = {watch}\n")
        reload(daemon, client)
        assert len(found(client, daemon, "deploy")) == min(number, 5)
        path = daemon.write_note("user", f"{number}.md", note(f"Deploy {number}"))
        assert f"Deploy {number}" in found(client, daemon, "deploy")
        path.write_text(note(f"Deploy {number}", body="changed"), encoding="utf-8")
        assert len(found(client, daemon, "changed")) == number + 1


def test_an_open_turn_ends_with_the_selector_and_the_roots_that_it_began_with(start_daemon, model):
    daemon = start_daemon(model.config)
    qwen = daemon.home / ".qwen" / "memories"
    qwen.mkdir(parents=True)
    for number in range(4):
        (qwen / f"{number}.md").write_text(note(f"Deploy {number}"), encoding="utf-8")
    daemon.wait_until_read(4)
    with Client.connect(str(daemon.socket), call_timeout=60.0) as client:
        turn = start(client, "deploy", session_id="s", project_root=str(daemon.project))
        model.wait_until_asked()
        fast = titles(turn.delivery)
        daemon.configure(NATIVE_ONLY)
        reload(daemon, client)
        assert client.status()["selector"]["kind"] == "none"
        assert client.status()["openTurns"] == 1
        assert found(client, daemon, "deploy") == []
        model.release()
        poll(lambda: client.status()["counters"].get("selector.answered") == 1, "the model answers")
        refined = turn.tool_result()
        assert refined["state"] == "delivered" and refined["delivery"]["strategy"] == "model"
        assert sorted(fast + titles(refined["delivery"])) == [f"Deploy {number}" for number in range(4)]
        assert turn.end()["deliveryPoint"] == "tool_result"

        # And the next one is asked for again.
        daemon.configure(model.config)
        reload(daemon, client)
        turn = start(client, "deploy", session_id="t", project_root=str(daemon.project))
        assert turn.fast["pending"]
        model.wait_until_asked()
        turn.end()


async def test_a_client_that_offered_its_model_before_is_asked_once_the_configuration_says_so(daemon, client):
    daemon.write_note("user", "own.md", note("Own deploy"))
    async with await WireClient.connect(daemon.socket) as offering:
        options = {"memrecall": {"selector": True}}
        await offering.call("initialize", {"capabilities": {}, "initializationOptions": options})
        daemon.configure('[selector]\nkind = "client"\n')
        await asyncio.to_thread(reload, daemon, client)
        turn = await offering.request("recall/start", {"sessionId": "c", "query": "deploy"})
        asked = await offering.daemon_request("recall/select")
        await offering.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"selected": []}})
        await offering.notify("recall/end", {"sessionId": "c"})
        await offering.response(turn)


def test_a_broken_file_changes_nothing_and_says_so_once_without_its_values(daemon, client):
    daemon.write_note("user", "own.md", note("Own deploy"))
    daemon.configure("[selector]\nkind = 'a-secret-value'\n")
    reload(daemon, client, "config.refused")
    status = client.status()
    assert "selector.kind" in status["configError"] and status["selector"]["kind"] == "none"
    assert found(client, daemon, "deploy") == ["Own deploy"]
    assert daemon.log().count("the configuration stays as it was") == 1
    assert "a-secret-value" not in daemon.log() + status["configError"]

    daemon.configure("")
    reload(daemon, client)
    assert "configError" not in client.status()
