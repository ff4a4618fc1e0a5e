"""What is in notes, queries and keys goes to whoever asked and to nobody else, whatever goes wrong.

Not into the log at any level, not into files but the cache of notes, not to other clients, and not to where
any user of the machine could see it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import msgspec
import pytest

from memrecalld.server.messages import METHODS
from tests.selectors.model_server import hang_up, raw
from tests.support.daemon import REPOSITORY, DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient, frame
from tests.wire.model import Choice, says, selector
from tests.wire.model import query as asked
from tests.wire.turns import Turn, cancelled_at_once, poll

# Each of them one word, so that they are searchable and cannot be there by accident.
TITLE, DESCRIPTION, BODY, FILE, FOLDER = "qtitlex", "qdescriptionx", "qbodyx", "qfilex", "qfolderx"
QUERY, SESSION, AGENT, TOOL, METHOD, KEY = "qqueryx", "qsessionx", "qagentx", "qtoolx", "qmethodx", "qkeyx"
INVALID_PARAMS = -32602
OF_NOTES = (TITLE, DESCRIPTION, BODY, FILE, FOLDER)
PRIVATE = (*OF_NOTES, QUERY, SESSION, AGENT, TOOL, METHOD, KEY)


@pytest.fixture
def verbose(tmp_path, model_port):
    """A function that starts a daemon at the most talkative level, with a project of private things."""
    daemons = []

    def start(config=None, **environment):
        config = f'{selector(model_port)}api_key_file = "~/key"\n' if config is None else config
        daemon = DaemonProcess(tmp_path / "home", config, environment)
        daemons.append(daemon)
        key = daemon.home / "key"
        key.write_text(KEY, encoding="ascii")
        key.chmod(0o600)
        daemon.project = daemon.home / FOLDER
        make_repository(daemon.project)
        for number in range(3):
            daemon.write_note(
                "project", f"{FILE}-{number}.md", note(f"{TITLE} {number}", DESCRIPTION, f"{BODY} {number}")
            )
        daemon.write_note("project", f"{FILE}-lunch.md", note("Lunch", "noodles"))
        daemon.start("--log-level", "debug")
        return daemon

    yield start
    for daemon in daemons:
        daemon.stop()
        shutil.rmtree(daemon.runtime, ignore_errors=True)


def private_words(text):
    return [word for word in PRIVATE if word in text]


def assert_discreet(daemon):
    """Neither the log nor the state nor what is seen of processes holds anything private.

    Only the cache of notes holds what notes say, and nothing of what was asked.
    """
    log = daemon.log()
    assert "recall ended" in log  # it is as talkative as it gets
    assert private_words(log) == []
    folders = [daemon.home / "state", daemon.home / "cache", daemon.runtime]
    for path in (path for folder in folders for path in (folder, *folder.rglob("*"))):
        assert private_words(str(path)) == []
        if path.is_file():
            found = set(private_words(path.read_bytes().decode("latin-1")))
            assert found <= (set(OF_NOTES) if path.name.startswith("notes.sqlite") else set())
    assert {TITLE, BODY} <= set(private_words(cached(daemon)))  # so that the search could find it elsewhere
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ", "comm"):
            with contextlib.suppress(OSError):  # it has ended, or cannot be looked at
                assert private_words((process / name).read_bytes().decode("latin-1")) == []


def cached(daemon):
    return "".join(
        path.read_bytes().decode("latin-1") for path in (daemon.home / "cache").rglob("notes.sqlite*")
    )


async def everything_that_can_happen(daemon, model, client):
    """Turns of every outcome, and requests of every kind, good and bad."""
    root = {"projectRoot": str(daemon.project)}
    key = {"sessionId": SESSION, "agentId": AGENT}
    query = f"{QUERY} {TITLE}"
    answers = [
        Choice("Lunch"),
        Choice(),
        hang_up,
        says(f"{QUERY} {BODY}"),
        says(f'{{"selected": ["{TITLE}"]}}'),
        raw(500, BODY.encode(), headers="Connection: close\r\n"),
        raw(200, BODY.encode(), headers=f"Connection: close\r\nX-{KEY}: {KEY}\r\n"),
    ]
    for number, answer in enumerate(answers):
        model.answers = [answer]
        turn = await Turn.start(
            client, query, session=f"{SESSION}{number}", **root, agentId=AGENT, recentTools=[TOOL]
        )
        await turn.settled_tool_result()
        await turn.end()
        await client.response(turn.request_id)
    model.answers = [Choice(held=True)]
    cancelled = await Turn.start(client, query, session=SESSION, **root)
    await cancelled.cancel()
    await cancelled.error()
    await cancelled_at_once(client, key | root | {"query": query})
    left = await WireClient.connect(daemon.socket)
    await Turn.start(left, query, session=SESSION, **root)
    await left.abort()
    await client.call("recall/toolResult", key | {"toolName": TOOL, "turnId": SESSION})
    await client.call("recall/reset", key)
    await client.call("memory/search", root | {"query": query})
    await client.call("memory/explain", root | {"query": query, "path": f"/{QUERY}", "sessionId": SESSION})
    await client.call("memory/list", root)
    await client.call_error("memory/read", root | {"path": f"/{QUERY}"})
    await client.call("daemon/status", root)
    await client.call("initialize", {"rootUri": f"file://{daemon.project}", "clientInfo": {"name": QUERY}})
    for method, params in (
        (METHOD, {QUERY: QUERY}),
        ("recall/start", {"sessionId": SESSION * 1000, "query": query}),
        ("recall/start", {"sessionId": SESSION, "query": {QUERY: QUERY}}),
        ("recall/start", key | {"query": query, "projectRoot": FOLDER}),
        ("recall/start", key | {"query": query, "excludeLayouts": [QUERY]}),
        ("memory/search", {"query": query, "limit": QUERY}),
    ):
        await client.call_error(method, params)
    for body in (QUERY.encode(), b'{"jsonrpc":"' + QUERY.encode() + b'"}', b'["' + QUERY.encode() + b'"]'):
        await client.send_bytes(frame(body))
        await client.unattributed_error()
    await client.notify(METHOD, {QUERY: QUERY})
    lost = await WireClient.connect(daemon.socket)
    await lost.send_bytes(f"Content-Length: {QUERY}\r\n\r\n".encode())
    await lost.unattributed_error()
    await lost.abort()
    broken = daemon.notes_of(daemon.home / f"{FOLDER}2")
    broken.write_text(BODY, encoding="utf-8")
    failing = key | {"query": query, "projectRoot": str(daemon.home / f"{FOLDER}2")}
    assert private_words((await client.call_error("recall/start", failing))["message"]) == []


async def wrong_in_every_field(daemon, client, root):
    """For each field of each request, something of another type that holds what is private."""
    valid = {"sessionId": SESSION, "query": QUERY, "path": f"/{QUERY}", **root}
    wrong = [{QUERY: [QUERY, {QUERY: QUERY}]}]
    for method, spec in METHODS.items():
        if spec.result is None or method in {"shutdown", "recall/select"}:
            continue
        names = [field.encode_name for field in msgspec.structs.fields(spec.params)]
        for name in names:
            params = {each: valid[each] for each in names if each in valid} | {name: wrong}
            error = await client.call_error(method, params)
            assert error["code"] == INVALID_PARAMS
            assert private_words(error["message"]) == []
        for params in (QUERY, [QUERY], {QUERY: wrong}):
            response = await client.response(await client.request(method, params))
            assert private_words(response.get("error", {"message": ""})["message"]) == []
    envelopes = [
        {"jsonrpc": QUERY, "id": 1},
        {"jsonrpc": "2.0", "id": wrong, "method": "daemon/status"},
        {"jsonrpc": "2.0", "id": None, "method": wrong},
        {"jsonrpc": "2.0", "id": QUERY * 1000, "method": "daemon/status"},
        {"jsonrpc": "2.0", "id": QUERY, "result": wrong},
        {"jsonrpc": "2.0", "id": QUERY, "error": {"code": QUERY, "message": QUERY}},
        {"jsonrpc": "2.0", "method": "recall/start", "params": wrong},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": QUERY}},
        {"jsonrpc": "2.0", "method": "recall/end", "params": wrong},
        wrong,
        {"jsonrpc": "2.0", "id": 424242, "method": "daemon/status"},
    ]
    reader, writer = await asyncio.open_unix_connection(str(daemon.socket))
    writer.writelines(frame(json.dumps(envelope).encode()) for envelope in envelopes)
    async with asyncio.timeout(WAIT_S):
        await reader.readuntil(b"424242")
    writer.close()


async def stranger_asks(stranger):
    """What another client gets to see that asks for nothing of its own."""
    await stranger.call("daemon/status")
    await stranger.call_error("no/method")
    await stranger.call_error("memory/read", {"path": "/no/note"})
    await stranger.call("recall/toolResult", {"sessionId": "a stranger's"})
    await stranger.call_error("recall/start", {"sessionId": "a stranger's"})
    assert private_words(json.dumps(stranger.messages)) == []


async def test_nothing_private_is_logged_at_any_level(verbose, shared_model, connect_wire):
    daemon = verbose()
    onlooker, stranger = await connect_wire(daemon), await connect_wire(daemon)
    await onlooker.call("initialize", {"initializationOptions": {"memrecall": {"observe": True}}})
    async with await WireClient.connect(daemon.socket) as client:
        await everything_that_can_happen(daemon, shared_model, client)
        await wrong_in_every_field(daemon, client, {"projectRoot": str(daemon.project)})
        assert f"Bearer {KEY}" in {each.headers.get("authorization") for each in shared_model.exchanges}
        assert KEY not in json.dumps(client.messages)
        shared_model.answers = [Choice(held=True)]
        turn = await Turn.start(client, f"{QUERY} {TITLE}", session=SESSION, projectRoot=str(daemon.project))
        error = await stranger.call_error("recall/toolResult", {"sessionId": SESSION})
        assert private_words(json.dumps(error)) == []
        await turn.cancel()
    await stranger_asks(stranger)
    observed = json.dumps(onlooker.messages)
    assert TITLE in observed
    assert not {QUERY, BODY, TOOL, METHOD, KEY} & set(private_words(observed))
    daemon.configure(f'[memory]\nlayouts = "{FOLDER}"\n[selector]\nmodel = ["{QUERY}"]\n')
    os.kill(daemon.pid, signal.SIGHUP)
    await poll(lambda: stranger.call("daemon/status"), lambda status: "configError" in status)
    await stranger_asks(stranger)
    assert_discreet(daemon)
    await asyncio.to_thread(daemon.stop)
    assert "internal error" not in daemon.log()


async def test_sessions_and_notes_are_digests_in_the_state(verbose, shared_model):
    daemon = verbose()
    shared_model.answers = [Choice(held=True)]
    async with await WireClient.connect(daemon.socket) as client:
        for number in range(3):
            turn = await Turn.start(
                client, TITLE, session=f"{SESSION}{number}", agentId=AGENT, projectRoot=str(daemon.project)
            )
            assert turn.fast_titles
            await turn.end()
            await turn.discarded()
    await asyncio.to_thread(daemon.stop)
    state = daemon.home / "state" / "memrecalld" / "sessions.sqlite"
    with contextlib.closing(sqlite3.connect(state)) as connection:
        [table] = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        rows = connection.execute(f"SELECT session, identity, content FROM {table[0]}").fetchall()
    assert len({session for session, _, _ in rows}) == 3
    assert {len(value) for row in rows for value in row} == {16}
    assert private_words(state.read_bytes().decode("latin-1")) == []


PLANT = """
import concurrent.futures
import memrecalld.memory.entry as entry
from memrecalld.recall.engine import Engine
from memrecalld.recall.turn import Turn
from memrecalld.selectors.openai import OpenAISelector
from memrecalld.server import codec
from memrecalld.server.connection import Connection
from memrecalld.server.handlers import Handlers
from memrecalld.server.protocol import RecallProtocol

def plant(owner, name):
    error = type(f"Planted_{name}", (Exception,), {})
    real = getattr(owner, name)

    def fail(*arguments, **named):
        if name == "encode" and "documents" not in repr(arguments):
            return real(*arguments)
        raise error(f"WORDS {arguments} {named}")

    setattr(owner, name, fail)

for place in PLACES:
    owner, _, name = place.rpartition(".")
    plant(globals()[owner], name)
"""

FAULTS = {
    "handlers": ("Handlers.list_", "Engine.search", "Turn.on_pool", "Connection.connection_lost"),
    "turns": ("Turn._on_ceiling", "Turn._deliver_tool_result"),
    "answers": ("Turn._on_selection", "codec.encode"),
    "the model": ("OpenAISelector.select", "RecallProtocol._send_handler_result"),
    "the notes": ("entry.parse",),
}


@pytest.mark.parametrize("places", FAULTS.values(), ids=FAULTS.keys())
async def test_a_crash_tells_where_and_nothing_else(verbose, shared_model, tmp_path, places):
    plant = PLANT.replace("WORDS", " ".join(PRIVATE)).replace("PLACES", repr(places))
    (tmp_path / "sitecustomize.py").write_text(plant, encoding="utf-8")
    daemon = verbose(PYTHONPATH=f"{tmp_path}:{REPOSITORY}")
    root = {"projectRoot": str(daemon.project)}
    query = f"{QUERY} {TITLE}"
    key = {"sessionId": SESSION, "agentId": AGENT}

    chosen, held = Choice("Lunch"), Choice(held=True)
    shared_model.answers = [lambda exchange: (chosen if TITLE in asked(exchange) else held)(exchange)]
    client = await WireClient.connect(daemon.socket)
    await client.request("memory/list", root)
    await client.request("memory/search", root | {"query": query})
    await client.request("recall/toolResult", key | {"toolName": TOOL})
    await client.request("recall/start", key | root | {"query": query})
    await client.request("recall/start", {"sessionId": f"{SESSION}2", "query": QUERY, **root})

    async def go_on():
        await client.request("recall/toolResult", key)
        await (await WireClient.connect(daemon.socket)).abort()

    await poll(
        go_on, lambda _: all(f"Planted_{place.rpartition('.')[2]}" in daemon.log() for place in places)
    )
    await client.abort()
    log = daemon.log()
    assert private_words(log) == []
    assert "Traceback" not in log
    for message in client.messages:
        assert private_words(message.get("error", {"message": ""})["message"]) == []
