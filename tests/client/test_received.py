"""Programs that outlive their daemon are given what it recorded and never sent, without their doing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from memrecalld.client import Client, DaemonUnavailable
from memrecalld.client.aio import AsyncClient
from memrecalld.client.received import MAX_SESSIONS, Received
from tests.support.dying import DyingDaemon
from tests.support.notes import note
from tests.support.turns import start, start_async


@pytest.fixture(scope="module")
def dying_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DyingDaemon]:
    """One for all tests; each has a session of its own."""
    daemon = DyingDaemon(tmp_path_factory.mktemp("dying") / "home")
    for word in ("heron", "lapwing"):
        daemon.write_note("user", f"{word}.md", note(word.title(), f"about the {word}"))
    with contextlib.closing(daemon):
        daemon.start()
        yield daemon


def titles(turn):
    return [] if turn.delivery is None else [each["title"] for each in turn.delivery["documents"]]


def test_a_killed_daemon_loses_and_repeats_nothing(dying_daemon):
    daemon, socket = dying_daemon, str(dying_daemon.socket)
    with Client.connect(socket) as client:
        assert titles(start(client, "heron", session_id="sync")) == ["Heron"]
        daemon.die_at_next_handover()
        with pytest.raises(DaemonUnavailable):
            client.start("lapwing", session_id="sync")
    daemon.return_from_death()
    with Client.connect(socket) as client:
        assert titles(start(client, "heron", session_id="sync")) == []
        assert titles(start(client, "lapwing", session_id="sync")) == ["Lapwing"]


async def test_a_killed_daemon_loses_and_repeats_nothing_for_asyncio(dying_daemon):
    daemon, socket = dying_daemon, str(dying_daemon.socket)
    async with await AsyncClient.connect(socket) as client:
        assert titles(await start_async(client, "heron", session_id="async")) == ["Heron"]
        daemon.die_at_next_handover()
        with pytest.raises(DaemonUnavailable):
            await client.start("lapwing", session_id="async")
    daemon.return_from_death()
    async with await AsyncClient.connect(socket) as client:
        assert titles(await start_async(client, "heron", session_id="async")) == []
        assert titles(await start_async(client, "lapwing", session_id="async")) == ["Lapwing"]


def test_a_session_that_begins_loses_not_even_its_first_delivery(dying_daemon):
    daemon, socket = dying_daemon, str(dying_daemon.socket)
    daemon.die_at_next_handover()
    with Client.connect(socket) as client, pytest.raises(DaemonUnavailable):
        client.start("heron", session_id="begins", last_delivery="")
    daemon.return_from_death()
    with Client.connect(socket) as client:
        # The program need not say it again; and where it does, that is not believed once it is wrong.
        assert titles(start(client, "heron", session_id="begins")) == ["Heron"]
    daemon.kill()
    daemon.start()
    with Client.connect(socket) as client:
        assert titles(start(client, "heron", session_id="begins", last_delivery="")) == []


def test_what_was_received_last_is_known_by_session_and_agent():
    received = Received()
    received.add("s", "", {"id": "1.1"})
    received.add("s", "child", {"id": "2.2"})
    received.add("s", "", None)
    received.add("s", "", {"id": "1.3"})
    assert received.last("s", "", None) == "1.3"
    assert received.last("s", "child", "") == "2.2"
    assert received.last("other", "", None) is None
    assert received.last("other", "", "9.9") == received.last("other", "", None) == "9.9"


def test_what_was_received_last_is_remembered_of_a_bounded_number_of_sessions():
    received = Received()
    for number in range(MAX_SESSIONS + 2):
        received.add(f"s{number}", "", {"id": "1.1"})
        assert received.last("s0", "", None) == ("1.1" if number < MAX_SESSIONS else None)
    assert received.last("s2", "", None) == "1.1"
