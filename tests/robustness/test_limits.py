"""The limits that the protocol states: each is where its table says, and beyond comes what that says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import time
from pathlib import Path

import pytest

from memrecalld.memory import project
from memrecalld.recall import engine, maintenance, session, sessions
from memrecalld.server import connection, framing, protocol
from memrecalld.server.messages.base import MAX_ID_CHARS
from memrecalld.server.messages.lsp import MAX_FOLDERS
from tests.robustness.messages import request, take_messages
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient, frame

INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
PARSE_ERROR = -32700
FAILED = -32803

TABLE = (Path(__file__).parents[2] / "editor-clients" / "PROTOCOL.md").read_text(encoding="utf-8")
MIB = 1024 * 1024

STATED = {
    "a message": framing.MAX_MESSAGE_BYTES // MIB,
    "a message that is passed over": framing.MAX_PASSED_OVER_BYTES // MIB,
    "a header": framing.MAX_HEADER_BYTES // 1024,
    "from a message's first byte to its last": connection.MESSAGE_S,
    "a string id": MAX_ID_CHARS,
    "requests of a connection without an answer": protocol.MAX_OPEN_REQUESTS,
    "messages handled in one go": connection._SLICE_S * 1000,
    "what a client leaves unread": connection.MAX_UNREAD_BYTES // MIB,
    "connections": connection.MAX_CONNECTIONS,
    "last words of a connection that closes": connection._CLOSE_S,
    "workspace folders of a connection": MAX_FOLDERS,
    "`projectRoot`": project.MAX_PATH_BYTES,
    "open turns in all": engine.MAX_OPEN_TURNS,
    "a detached turn": engine.DETACHED_TURN_S / 60,
    "sessions in memory": sessions.HELD_SESSIONS,
    "notes in a session's record": session.REMEMBERED_NOTES,
    "the record of all sessions": maintenance.KEPT_ENTRIES,
}


@pytest.mark.parametrize("what", STATED)
def test_the_table_states_the_limit_that_holds(what):
    row = next(line for line in TABLE.splitlines() if line.startswith(f"| {what} |"))
    (number, *_) = re.findall(r"[\d,.]*\d", row.removeprefix(f"| {what} |"))
    assert float(number.replace(",", "")) == STATED[what]
    assert framing.BEGINNING_BYTES == 1024


@pytest.fixture(scope="module")
def limited(shared_daemon):
    """A daemon with a note, which it has read: no initial wait is too short for it."""
    shared_daemon.write_note("project", "deploy.md", note("Deploy", "how to deploy"))
    shared_daemon.wait_until_read(1)
    return shared_daemon


def connected(daemon):
    """A blocking connection."""
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(WAIT_S)
    raw.connect(str(daemon.socket))
    return raw


def said_until_closed(raw):
    """Everything that comes before the end of a connection."""
    arrived = bytearray()
    try:
        while data := raw.recv(1 << 16):
            arrived += data
    except ConnectionResetError:
        pass
    return take_messages(arrived)


HALF = {
    "a header": b"Content-Length: 5",
    "a body": b'Content-Length: 100\r\n\r\n{"jsonrpc":',
    "what is passed over": b"Content-Length: 5000000\r\n\r\n" + b"x" * 2000,
    "after a whole one": request(1, "daemon/status") + b"Content-Le",
}


def test_half_a_message_is_waited_for_so_long_and_a_client_that_says_nothing_for_ever(limited):
    began = time.monotonic()
    halves = [connected(limited) for _ in HALF]
    drop_by_drop, silent = connected(limited), connected(limited)
    for raw, data in zip(halves, HALF.values(), strict=True):
        raw.sendall(data)
    drop_by_drop.settimeout(0.5)
    body = frame(b" " * 1000)
    with drop_by_drop, silent:
        for at in range(len(body)):
            with contextlib.suppress(ConnectionError):  # just closed, and what it said is there to be read
                drop_by_drop.sendall(body[at : at + 1])
            try:
                said = drop_by_drop.recv(1 << 16)
            except TimeoutError:
                continue
            break
        (error,) = take_messages(bytearray(said))
        assert error["error"]["code"] == PARSE_ERROR
        for raw in halves:
            with raw:
                error = said_until_closed(raw)[-1]
                assert (error["id"], error["error"]["code"]) == (None, PARSE_ERROR)
                assert "10 s" in error["error"]["message"]
        assert time.monotonic() - began >= connection.MESSAGE_S
        silent.sendall(request(1, "daemon/status"))
        assert silent.recv(1)


async def test_a_long_id_is_refused(limited):
    async with await WireClient.connect(limited.socket) as client:
        client.expect_answer("x" * MAX_ID_CHARS)
        for length in (MAX_ID_CHARS, MAX_ID_CHARS + 1):
            await client.send_bytes(request("x" * length, "daemon/status"))
        await client.response("x" * MAX_ID_CHARS)
        assert (await client.unattributed_error())["code"] == INVALID_REQUEST


async def test_open_requests_are_bounded_and_the_others_of_the_daemon_are_served(start_daemon, model):
    daemon = start_daemon(model.config)
    daemon.write_note("user", "deploy.md", note("Deploy", "how to deploy"))
    async with (
        await WireClient.connect(daemon.socket) as client,
        await WireClient.connect(daemon.socket) as other,
    ):
        for number in range(protocol.MAX_OPEN_REQUESTS):
            await client.request(
                "recall/start", {"sessionId": f"s{number}", "query": "deploy"}, msg_id=number
            )
        error = await client.call_error("daemon/status")
        assert error["code"] == FAILED
        assert "256 requests are open" in error["message"]
        assert (await other.call("daemon/status"))["openTurns"] == protocol.MAX_OPEN_REQUESTS
        await client.notify("recall/end", {"sessionId": "s0"})
        await client.response(0)
        await client.call("daemon/status")
        for number in range(1, protocol.MAX_OPEN_REQUESTS):
            await client.notify("recall/end", {"sessionId": f"s{number}"})


async def test_a_hundred_thousand_requests_at_once_are_answered_and_hold_up_nobody(limited):
    flood = b"".join(request(number, "no/such/method") for number in range(100_000))

    async def answers():
        reader, writer = await asyncio.open_unix_connection(str(limited.socket))
        writer.write(flood)
        arrived, count = bytearray(), 0
        while count < 100_000:
            arrived += await reader.read(1 << 20)
            count += len(take_messages(arrived))
        writer.transport.abort()

    flooding = asyncio.create_task(answers())
    waits = []
    async with await WireClient.connect(limited.socket) as client:
        while not flooding.done():
            began = time.perf_counter()
            await client.call("memory/search", {"query": "deploy"})
            waits.append(time.perf_counter() - began)
    await flooding
    # Without a turn in between it would be a second and more. To read the answers takes this process time.
    assert sorted(waits)[len(waits) // 2] < 0.1


async def test_a_query_of_two_megabytes_costs_no_more_than_a_page(limited):
    page = "how do we deploy the shop on a friday " * 110
    assert len(page) > 4_096
    costs = {}
    async with await WireClient.connect(limited.socket) as client:
        for query in (page, page * 480, page, page * 480):
            params = {"sessionId": f"long {len(costs)}", "query": query, "projectRoot": str(limited.project)}
            outcome = (await client.call("recall/start", params))["outcome"]
            assert outcome["queryLength"] == len(query)
            costs.setdefault(len(query), []).append(outcome["rankMs"])
    short, long = (min(each) for _, each in sorted(costs.items()))
    assert long < 10 * short + 5


@pytest.mark.parametrize(
    "spoilt",
    [
        {"sessionId": "s" * 1025},
        {"agentId": "a" * 1025},
        {"recentTools": ["t" * 257]},
        {"recentTools": ["t"] * 257},
        {"projectRoot": "/" + "p" * 4096},
    ],
    ids=lambda spoilt: next(iter(spoilt)),
)
async def test_what_is_too_long_is_named_and_opens_no_turn(limited, spoilt):
    async with await WireClient.connect(limited.socket) as client:
        turns = (await client.call("daemon/status"))["counters"].get("turns", 0)
        error = await client.call_error("recall/start", {"sessionId": "s", "query": "deploy"} | spoilt)
        assert error["code"] == INVALID_PARAMS
        assert (await client.call("daemon/status"))["counters"].get("turns", 0) == turns
        assert not [message for message in client.messages if message.get("method")]


async def test_more_folders_than_that_are_not_read_ahead(limited, tmp_path):
    folders = [{"uri": (tmp_path / f"folder{number}").as_uri()} for number in range(10_000)]
    async with await WireClient.connect(limited.socket) as client:
        await client.call("initialize", {"workspaceFolders": folders})
        threads = len(list(Path(f"/proc/{limited.pid}/task").iterdir()))
        assert threads <= 2 * MAX_FOLDERS
        await client.call("daemon/status")


def test_a_client_that_does_not_read_its_last_words_is_gone_after_a_while(limited):
    with connected(limited) as deaf:
        ask = json.dumps({"jsonrpc": "2.0", "id": "x" * 10_000, "method": "daemon/status"}).encode()
        deaf.sendall(frame(ask) * 100 + frame(b'{"jsonrpc":"2.0","method":"exit"}'))
        until = time.monotonic() + WAIT_S
        with connected(limited) as other:
            other.sendall(request(1, "daemon/status"))
            arrived = bytearray()
            while time.monotonic() < until:
                arrived += other.recv(1 << 16)
                answers = take_messages(arrived)
                if answers and answers[-1]["result"]["connections"] == 1:
                    return
                if answers:
                    time.sleep(0.1)
                    other.sendall(request(1, "daemon/status"))
    raise AssertionError("the connection is still there")
