"""An agent with the official MCP client, and a real daemon."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from mcp import MCPError
from mcp_types import TextResourceContents

from memrecalld.cli import main
from memrecalld.client import Client
from memrecalld.client.shapes import FoundDocument
from memrecalld.mcp.text import note_text
from memrecalld.programs import install, shown
from tests.conftest import StartDaemon
from tests.mcp.agent import Agent, agent
from tests.support.daemon import DaemonProcess
from tests.support.model import Model
from tests.support.notes import note
from tests.support.polling import poll

# A server takes seconds to start: one worker does all of these, with one daemon.
QUERY = "how does the harbour crane deploy?"
_ATTEMPTS = 30


@pytest.fixture(scope="module")
def remembering(shared_daemon: DaemonProcess) -> DaemonProcess:
    """A daemon with two notes and no model."""
    shared_daemon.write_note(
        "project", "ops/crane.md", note("Harbour crane", "How the crane deploys", "By hand.")
    )
    shared_daemon.write_note(
        "user", "harbour.md", note("Harbour", "Likes the sea", "| not ours\x85[9] no head\x1b")
    )
    shared_daemon.wait_until_read(2)
    return shared_daemon


async def recalled(server: Agent, query: str = QUERY) -> str:
    """What a recall gives, as soon as the machine is not too busy for the initial wait."""
    for _ in range(_ATTEMPTS):
        text = await server.call("recall_memory", query=query)
        if "<recalled-memory>" in text:
            return text
    raise AssertionError("nothing was recalled")


async def test_a_recall_gives_each_note_once_in_a_session(remembering):
    async with agent(remembering) as server:
        first = await recalled(server)
        assert "| # Harbour crane" in first
        assert "was given in this session already" in await server.call("recall_memory", query=QUERY)
        assert (await server.call("recall_memory", query="asdf qwer")).startswith("No note is relevant")
        assert await server.call("recall_memory", query=QUERY, again=True) == first
    async with agent(remembering) as another:
        assert await recalled(another) == first


async def test_a_recall_waits_for_the_models_choice_unless_it_is_cancelled(
    start_daemon: StartDaemon, model: Model
):
    model.word = "Crane"
    daemon = start_daemon(model.config)
    for number, title in enumerate(("Harbour Crane", "Crane deploy", "Anchor (Crane)")):
        daemon.write_note("project", f"{number}.md", note(title, f"About: {title}"))
    daemon.wait_until_read(3)

    def open_turns() -> int:
        with Client.connect(str(daemon.socket)) as client:
            return client.status()["openTurns"]

    async with agent(daemon) as server:
        recall = asyncio.create_task(server.call("recall_memory", query="harbour deploy"))
        await asyncio.to_thread(model.wait_until_asked)
        recall.cancel()
        await asyncio.to_thread(poll, lambda: open_turns() == 0, "the cancelled turn's end")
        model.release()
        text = await recalled(server, "harbour deploy")
        assert text.count("<recalled-memory>") == 2
        assert text.index("# Harbour Crane") < text.index("# Anchor (Crane)")
        assert open_turns() == 0


async def test_a_search_shows_notes_whether_they_were_given_or_not(remembering):
    async with agent(remembering) as server:
        await recalled(server)
        text = await server.call("search_memory", query="harbour", limit=2)
        lines = text.splitlines()
        heads = [line.split("]")[0] for line in lines if line.startswith("[")]
        assert heads == ["[1", "[2"], "no note forges a head"
        assert "| By hand." in lines and "| [9] no head" in lines
        assert (
            sum(
                line.startswith("[")
                for line in (await server.call("search_memory", query="harbour", limit=1)).splitlines()
            )
            == 1
        )
        assert await server.call("search_memory", query="asdf qwer") == "No note matches."


async def test_both_tools_are_described_and_change_nothing(remembering):
    async with agent(remembering) as server:
        tools = (await server.session.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall_memory", "search_memory"]
        for tool in tools:
            assert tool.input_schema["required"] == ["query"]
            assert tool.annotations is not None and tool.annotations.read_only_hint
        with pytest.raises(MCPError, match="there are recall_memory and search_memory"):
            await server.session.call_tool("forget_memory", {})


async def test_a_wrong_argument_is_named_to_the_model(remembering):
    wrong: list[tuple[str, dict[str, object], str]] = [
        ("recall_memory", {}, "`query`"),
        ("recall_memory", {"query": 5}, "$.query"),
        ("recall_memory", {"query": "x", "again": "yes"}, "$.again"),
        ("search_memory", {"query": "x", "limit": 0}, "$.limit"),
        ("search_memory", {"query": "x", "limit": 1000}, "$.limit"),
        ("search_memory", {"query": "x", "page": 2}, "`page`"),
    ]
    async with agent(remembering) as server:
        for tool, arguments, said in wrong:
            failed, text = await server.result(tool, **arguments)
            assert failed and said in text


async def test_notes_are_resources_that_the_daemon_reads(remembering):
    async with agent(remembering) as server:
        resources = (await server.session.list_resources()).resources
        assert [(each.title, each.name, each.mime_type) for each in resources] == [
            ("Harbour crane", "ops/crane.md", "text/markdown"),
            ("Harbour", "harbour.md", "text/markdown"),
        ]
        [content] = (await server.session.read_resource(resources[0].uri)).contents
        assert isinstance(content, TextResourceContents)
        assert content.text == "# Harbour crane\n\nHow the crane deploys\n\nBy hand.\n"
        for uri in ("memrecall://note/etc/hostname", "file:///etc/hostname", "memrecall://note", "x:y"):
            with pytest.raises(MCPError, match="no note of this project or of the user has this path"):
                await server.session.read_resource(uri)


def test_a_long_note_says_that_it_goes_on():
    document: FoundDocument = {
        "scope": "user",
        "type": "note",
        "title": "Long",
        "description": "Long",
        "path": "/notes/long.md",
        "relativePath": "long.md",
        "savedAt": "2026-01-01T00:00:00Z",
        "age": "saved today",
        "body": "It is long.",
        "truncated": True,
    }
    assert note_text(document) == "# Long\n\nIt is long.\n\n(shortened: the note goes on in /notes/long.md)\n"


async def test_the_project_is_the_agents_first_root(remembering, tmp_path: Path):
    async with agent(remembering, cwd=tmp_path, roots=[remembering.project, tmp_path]) as server:
        assert "Harbour crane" in await server.call("search_memory", query="crane")
    async with agent(remembering, cwd=tmp_path) as server:
        assert "Harbour crane" not in await server.call("search_memory", query="crane")
    async with agent(remembering, roots=[]) as server:
        assert "Harbour crane" in await server.call("search_memory", query="crane")


async def test_without_a_daemon_a_tool_names_the_next_step_and_later_finds_it(daemon):
    daemon.write_note("project", "crane.md", note("Harbour crane", "How the crane deploys"))
    daemon.stop()
    async with agent(daemon) as server:
        for tool in ("recall_memory", "search_memory"):
            failed, text = await server.result(tool, query=QUERY)
            assert failed and f"start it: {shown('memrecalld')}" in text
        with pytest.raises(MCPError, match=r"start it: .*memrecalld"):
            await server.session.list_resources()
        for _ in range(2):
            daemon.start()
            daemon.wait_until_read(1)
            assert "# Harbour crane" in await server.call("search_memory", query=QUERY)
            daemon.stop()


async def test_the_server_ends_with_its_agent_and_so_does_its_connection(remembering):
    def connections() -> int:
        with Client.connect(str(remembering.socket)) as client:
            return client.status()["connections"]

    before = connections()
    async with agent(remembering) as server:
        await recalled(server)
        assert connections() == before + 1
    poll(lambda: connections() == before, "the connection's end")


def test_without_the_package_the_command_says_how_to_get_it(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] in {"anyio", "mcp", "mcp_types"}]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "memrecalld.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 2
    assert f"install it: {install('mcp')}\n" in capsys.readouterr().err
