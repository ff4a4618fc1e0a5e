"""``daemon/status`` of a real daemon: health, counters, latencies, and clients of other versions."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import memrecalld
from tests.conftest import ConnectWire, StartDaemon
from tests.support.daemon import DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.turns import Project, Turn, cancelled_at_once, titles

TOKEN = "ghp_" + "0a1B2c3D4e5F6g7H8i9J" * 2


async def health(client: WireClient) -> tuple[str, list[str]]:
    answer = (await client.call("daemon/status"))["health"]
    return answer["state"], answer["reasons"]


@pytest.fixture
def prepared(tmp_path: Path) -> Any:
    """A daemon to be started by the test, which may lay out its folders before."""
    daemon = DaemonProcess(tmp_path / "home")
    yield daemon
    daemon.stop()
    shutil.rmtree(daemon.runtime, ignore_errors=True)


async def test_turns_are_counted_by_outcome_and_their_waits_are_percentiles(
    daemon: DaemonProcess, connect_wire: ConnectWire
) -> None:
    daemon.write_note("project", "crane.md", note("Harbour crane", "crane deploy"))
    daemon.wait_until_read(1)
    client = await connect_wire(daemon)
    before = await client.call("daemon/status")
    assert before["latency"]["samples"] == 0
    daemon.notes_of(daemon.home / "broken").write_text("no folder", encoding="ascii")
    broken = {"sessionId": "s", "query": "harbour crane", "projectRoot": str(daemon.home / "broken")}
    assert (await client.call_error("recall/start", broken))["data"]["discardReason"] == "failed"
    root: dict[str, Any] = {"projectRoot": str(daemon.project)}
    make_repository(daemon.home / "fresh")  # its notes are still to be read when the cancellation comes
    fresh = {"projectRoot": str(daemon.home / "fresh"), "sessionId": "s", "query": "harbour crane"}
    await cancelled_at_once(client, fresh)
    turns = [await Turn.start(client, "harbour crane", session="s", **root) for _ in range(3)]
    outcomes = [await turn.outcome() for turn in turns]
    status = await client.call("daemon/status")
    counters, latency = status["counters"], status["latency"]
    cancelled = counters["discarded.abort"]  # more than one where the machine stalled
    assert counters["turns"] == 4 + cancelled
    assert counters["discarded.failed"] == 1
    assert (
        sum(count for name, count in counters.items() if name.startswith("delivery_point."))
        == counters["turns"]
    )
    assert counters["documents.refined"] == sum(outcome["documents"] for outcome in outcomes)
    assert latency["samples"] == sum(message.get("method") == "recall/fast" for message in client.messages)
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"]
    assert latency["max"] >= max(outcome["waitMs"] for outcome in outcomes)
    assert (status["version"], status["pid"]) == (memrecalld.__version__, daemon.pid)
    assert status["uptimeS"] >= before["uptimeS"]


async def test_a_daemon_in_order_is_healthy_and_says_what_it_can_do(plain_client: WireClient) -> None:
    status = await plain_client.call("daemon/status")
    assert status["health"] == {"state": "ok", "reasons": []}
    initialized = await plain_client.call("initialize", {})
    assert status["capabilities"] == initialized["capabilities"]["experimental"]["memrecall"]
    assert status["capabilities"]["limits"]["initialWaitMs"] == 100


@pytest.mark.parametrize(
    "params",
    [
        {"clientVersion": "0.0.1"},
        {"protocolVersion": 0, "projectRoot": None},
        {"unknown": {"deep": [1, {"er": None}]}},
        [],
    ],
)
async def test_a_client_of_another_version_is_answered(plain_client: WireClient, params: object) -> None:
    assert (await plain_client.call("daemon/status", params))["protocolVersion"] == 1


async def test_a_client_of_an_earlier_or_later_protocol_is_served_a_whole_turn(
    plain_project: Project, connect_wire: ConnectWire
) -> None:
    plain_project.write("crane", note("Harbour crane", "crane deploy"))
    for version in (0, 99):
        client = await connect_wire(plain_project.daemon)
        ours = {"protocolVersion": version, "observe": False, "later": [version]}
        await client.call(
            "initialize", {"initializationOptions": {"memrecall": ours, "other": 1}, "later": True}
        )
        later: dict[str, Any] = {"protocolVersion": version, "later": {"field": version}}
        turn = await Turn.start(client, "harbour crane", plain_project, **later)
        assert titles(turn.fast["delivery"]) == ["Harbour crane"]
        assert (await turn.tool_result(later=1))["state"] == "none"
        assert (await turn.outcome())["documents"] == 1


async def test_a_damaged_cache_is_set_aside_and_told(
    prepared: DaemonProcess, connect_wire: ConnectWire
) -> None:
    cache = prepared.home / "cache" / "memrecalld"
    cache.mkdir(parents=True, mode=0o700)
    (cache / "notes.sqlite").write_bytes(b"no database at all" * 1000)
    prepared.start()
    assert await health(await connect_wire(prepared)) == ("degraded", ["notes-set-aside"])
    prepared.restart()
    assert await health(await connect_wire(prepared)) == ("ok", [])


async def test_a_cache_of_another_version_is_set_aside_and_nothing_to_worry_about(
    prepared: DaemonProcess, connect_wire: ConnectWire
) -> None:
    cache = prepared.home / "cache" / "memrecalld"
    cache.mkdir(parents=True, mode=0o700)
    with sqlite3.connect(cache / "notes.sqlite") as other:
        other.execute("PRAGMA user_version=1")
        other.execute("CREATE TABLE notes (of_an_earlier_version TEXT)")
    other.close()
    prepared.start()
    assert await health(await connect_wire(prepared)) == ("ok", [])


async def test_a_cache_and_a_state_that_cannot_be_kept_are_told(
    prepared: DaemonProcess, connect_wire: ConnectWire
) -> None:
    for name in ("cache", "state"):
        folder = prepared.home / name / "memrecalld"
        folder.mkdir(parents=True)
        folder.chmod(0o777)
    prepared.start()
    client = await connect_wire(prepared)
    assert await health(client) == ("degraded", ["state-in-memory", "cache-off"])
    assert prepared.log().count("chmod 700") == 2


async def test_a_selector_that_fails_is_told_until_it_answers(
    start_daemon: StartDaemon, connect_wire: ConnectWire
) -> None:
    daemon = start_daemon('[selector]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n')
    for number in range(4):
        daemon.write_note("project", f"{number}.md", note(f"Crane {number}", "crane deploy"))
    daemon.wait_until_read(4)
    client = await connect_wire(daemon)
    assert await health(client) == ("ok", [])
    for _ in range(3):
        turn = await Turn.start(client, "crane", projectRoot=str(daemon.project))
        await turn.settled_tool_result()
        await turn.outcome()
    assert await health(client) == ("degraded", ["selector-failing"])
    assert (await client.call("daemon/status"))["counters"]["selector.failed.connection"] == 3


async def test_a_repositorys_note_with_a_secret_is_counted_and_named_and_not_delivered(
    start_daemon: StartDaemon, connect_wire: ConnectWire
) -> None:
    daemon = start_daemon('[memory]\ntrusted_projects = ["~/project"]\n')
    team = daemon.project / ".qwen" / "team-memory"
    team.mkdir(parents=True)
    leak = team / "crane.md"
    leak.write_text(note("Harbour crane", "crane deploy", TOKEN), encoding="utf-8")
    own = daemon.write_note("project", "own.md", note("Harbour quay", "crane of my own", TOKEN))
    client = await connect_wire(daemon)
    root: dict[str, Any] = {"projectRoot": str(daemon.project)}
    found = await client.call("memory/search", root | {"query": "harbour crane"})
    assert [document["path"] for document in found["documents"]] == [str(own)]
    status = await client.call("daemon/status", root)
    assert status["skipped"] == {"secret-github-token": 1}
    assert status["project"]["skipped"] == [{"path": str(leak), "reason": "secret-github-token"}]

    leak.write_text(note("Harbour crane", "crane deploy", "$TOKEN"), encoding="utf-8")
    found = await client.call("memory/search", root | {"query": "harbour crane"})
    assert {document["path"] for document in found["documents"]} == {str(own), str(leak)}
    leak.write_text(note("Harbour crane", "crane deploy", TOKEN), encoding="utf-8")
    turn = await Turn.start(client, "how does the harbour crane deploy?", **root)
    assert turn.fast_titles == ["Harbour quay"]
