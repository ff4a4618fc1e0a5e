"""A client that leaves takes its own turns with it and nothing else, however it leaves."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient, frame
from tests.wire.model import Choice
from tests.wire.turns import CANCELLED, Turn, poll, titles

INVALID_REQUEST = -32600
STATUS = frame(b'{"jsonrpc":"2.0","id":1,"method":"daemon/status"}')
START = frame(
    b'{"jsonrpc":"2.0","id":1,"method":"recall/start","params":{"sessionId":"leaver","query":"deploy"}}'
)


@pytest.fixture(autouse=True)
def notes(project):
    project.write("deploy", note("Deploy", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat"))


def connected(daemon):
    """A blocking connection, which reads only when told to."""
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(WAIT_S)
    raw.connect(str(daemon.socket))
    return raw


# Ways to leave, each with an open turn


async def shut_down(daemon, project):
    client = await WireClient.connect(daemon.socket)
    turn = await Turn.start(client, "deploy", project)
    assert await client.call("shutdown") is None
    await client.notify("exit")
    await client.closed_by_daemon()
    assert (await turn.error())["code"] == CANCELLED
    await client.close()


async def exit_without_shutdown(daemon, project):
    client = await WireClient.connect(daemon.socket)
    await Turn.start(client, "deploy", project)
    await client.notify("exit")
    await client.closed_by_daemon()
    await client.abort()


async def half_close(daemon, project):
    client = await WireClient.connect(daemon.socket)
    turn = await Turn.start(client, "deploy", project)
    client.half_close()
    await client.closed_by_daemon()
    assert (await turn.error())["code"] == CANCELLED
    await client.close()


async def hang_up(daemon, project):
    client = await WireClient.connect(daemon.socket)
    await Turn.start(client, "deploy", project)
    await client.abort()


async def leave_answers_unread(daemon, project):
    """The daemon's side of such a connection is reset."""
    with connected(daemon) as raw:
        raw.sendall(START + STATUS * 100)
        raw.recv(1)


async def leave_inside_a_message(daemon, project):
    with connected(daemon) as raw:
        raw.sendall(START + b'Content-Length: 1000\r\n\r\n{"jsonrpc":')


async def get_killed(daemon, project):
    program = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        f"s.connect({str(daemon.socket)!r})\n"
        f"s.sendall({START!r})\n"
        "s.recv(1)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    async with asyncio.timeout(WAIT_S):
        assert await process.stdout.readline() == b"ready\n"
    process.kill()
    await process.wait()


@pytest.mark.parametrize(
    "leave",
    [
        shut_down,
        exit_without_shutdown,
        half_close,
        hang_up,
        leave_answers_unread,
        leave_inside_a_message,
        get_killed,
    ],
    ids=lambda leave: leave.__name__,
)
async def test_the_others_are_served_and_the_leavers_turn_ends(
    shared_model, client, project, selecting_daemon, leave
):
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    staying = await Turn.start(client, "deploy", project)
    await leave(selecting_daemon, project)
    await poll(lambda: client.call("daemon/status"), lambda now: now["connections"] == now["openTurns"] == 1)
    assert (await staying.tool_result())["state"] == "pending"
    choice.release.set()
    assert titles((await staying.settled_tool_result())["delivery"]) == ["Lunch"]
    assert (await staying.outcome())["deliveryPoint"] == "tool_result"


async def test_a_request_after_ones_own_shutdown_is_answered_with_an_error(selecting_daemon, client):
    async with await WireClient.connect(selecting_daemon.socket) as leaver:
        await leaver.call("shutdown")
        for method in ("daemon/status", "recall/start", "shutdown", "initialize"):
            error = await leaver.call_error(method, {"sessionId": "s", "query": "deploy"})
            assert error["code"] == INVALID_REQUEST
            assert "exit" in error["message"]
        await leaver.notify("recall/end", {"sessionId": "s"})
        await leaver.notify("exit")
        await leaver.closed_by_daemon()
    await client.call("daemon/status")


async def test_a_half_closed_client_gets_what_it_asked_for(client, project, selecting_daemon):
    async with await WireClient.connect(selecting_daemon.socket) as leaver:
        params = {"query": "deploy", "projectRoot": str(project.root)}
        requests = [await leaver.request("memory/search", params) for _ in range(5)]
        leaver.half_close()
        for request in requests:
            assert (await leaver.response(request))["result"]["documents"][0]["title"] == "Deploy"
        await leaver.closed_by_daemon()


async def test_two_hundred_visits_leave_no_descriptor_behind(client, project, selecting_daemon):
    async def descriptors(expected):
        return await poll(
            lambda: asyncio.to_thread(lambda: len(list(Path(f"/proc/{selecting_daemon.pid}/fd").iterdir()))),
            lambda count: expected is None or count == expected,
        )

    with connected(selecting_daemon) as raw:  # whatever is opened once and kept is open from here on
        raw.sendall(START)
        raw.recv(1)
    await poll(lambda: client.call("daemon/status"), lambda now: now["connections"] == 1)
    before = await descriptors(None)
    for number in range(200):
        with connected(selecting_daemon) as raw:
            raw.sendall((b"", STATUS, START, STATUS[:30])[number % 4])
    await poll(lambda: client.call("daemon/status"), lambda now: now["connections"] == 1)
    await descriptors(before)


async def test_a_client_that_never_reads_is_dropped_and_nobody_waits_for_it(
    client, project, selecting_daemon
):
    for number in range(30):
        project.write(f"big-{number}", note(f"Big {number}", "a big note", "word " * 250))
    params = {"projectRoot": str(project.root)}
    request = {"jsonrpc": "2.0", "id": 1, "method": "memory/list", "params": params}
    some = frame(json.dumps(request).encode()) * 40
    with connected(selecting_daemon) as deaf, pytest.raises((BrokenPipeError, ConnectionResetError)):
        # Each round asks for half a megabyte. Without a bound they would go on for ever.
        for _ in range(1000):
            deaf.sendall(some)
            assert (await client.call("memory/list", params))["documents"]
    await poll(lambda: client.call("daemon/status"), lambda now: now["connections"] == 1)
