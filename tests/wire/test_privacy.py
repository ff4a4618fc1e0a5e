"""What is in notes, queries and keys never reaches the log, at any level, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.selectors.model_server import hang_up, raw
from tests.support.daemon import REPOSITORY, DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.wire import WireClient, frame
from tests.wire.model import Choice, says, selector
from tests.wire.model import query as asked
from tests.wire.turns import Turn, cancelled_at_once, poll

# Each of them one word, so that they are searchable and cannot be there by accident.
TITLE, DESCRIPTION, BODY, FILE, FOLDER = "qtitlex", "qdescriptionx", "qbodyx", "qfilex", "qfolderx"
QUERY, SESSION, AGENT, TOOL, METHOD, KEY = "qqueryx", "qsessionx", "qagentx", "qtoolx", "qmethodx", "qkeyx"
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
    """Neither the log nor the state nor the process's arguments hold anything private.

    Only the cache of notes holds what notes say, and nothing of what was asked.
    """
    log = daemon.log()
    assert "recall ended" in log  # it is as talkative as it gets
    assert private_words(log) == []
    for path in (*(daemon.home / "state").rglob("*"), *(daemon.home / "cache").rglob("*")):
        assert private_words(str(path.relative_to(daemon.home))) == []
        if path.is_file():
            allowed = OF_NOTES if path.name.startswith("notes.sqlite") else ()
            assert set(private_words(path.read_bytes().decode("latin-1"))) <= set(allowed)
    assert private_words(Path(f"/proc/{daemon.pid}/cmdline").read_bytes().decode()) == []


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
    failed = await Turn.start(client, query, session=SESSION, projectRoot=str(daemon.home / f"{FOLDER}2"))
    assert private_words((await failed.error())["message"]) == []


async def test_nothing_private_is_logged_at_any_level(verbose, shared_model, connect_wire):
    daemon = verbose()
    async with await WireClient.connect(daemon.socket) as client:
        await everything_that_can_happen(daemon, shared_model, client)
        assert f"Bearer {KEY}" in {each.headers.get("authorization") for each in shared_model.exchanges}
        assert KEY not in json.dumps(client.messages)
    assert_discreet(daemon)
    await asyncio.to_thread(daemon.stop)
    assert "internal error" not in daemon.log()


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
