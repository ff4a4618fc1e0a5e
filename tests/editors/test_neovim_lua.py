"""The Lua interface: what plugins that talk to a model are promised."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.editors.neovim import PLUGIN, LuaError, Neovim, running_daemon
from tests.editors.neovim_model import choose, once, selector_config
from tests.editors.neovim_text import code_block, help_example
from tests.selectors.model_server import model_server, never
from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient

PROMPT_OPENING = "<recalled-memory>"

START = """
  local options = ...
  T.turn = require('memrecall').start(options, function(err, fast)
    T.count('fast')
    T.fast_error, T.fast = err, fast
  end)
  T.turn:on_end(function(err, outcome)
    T.count('ended')
    T.end_error, T.outcome = err, outcome
  end)
"""
ASK = (
    "T.result = nil T.turn:tool_result(..., function(err, result) T.result_error, T.result = err, result end)"
)
TITLES = "vim.tbl_map(function(each) return each.title end, T.%s.delivery.documents)"


@pytest.fixture(scope="module")
def herons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon without a model and with one note."""
    with running_daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        daemon.write_note("project", "heron.md", note("Heron", "", "Stands."))
        yield daemon


async def start(neovim: Neovim, query: str = "heron", **options: Any) -> None:
    await neovim.lua(START, {"query": query, **options})


async def test_turn_without_a_model_delivers_all_at_once_and_ends(herons):
    async with await Neovim.beside(herons) as neovim:
        await start(neovim)
        await neovim.until("T.counts.ended")
        fast, outcome, error = await neovim.lua(
            "return { T.fast, T.outcome, T.fast_error or T.end_error or false }"
        )
        is_open = await neovim.lua("return T.turn:is_open()")
    assert error is False
    assert fast["delivery"]["prompt"].startswith(PROMPT_OPENING)
    assert [each["title"] for each in fast["delivery"]["documents"]] == ["Heron"]
    assert fast["pending"] is False
    assert outcome["deliveryPoint"] == "initial"
    assert outcome["turnId"] == fast["turnId"]
    assert is_open is False


async def test_conversation_gets_a_note_once_and_another_gets_it_too(herons):
    async with await Neovim.beside(herons) as neovim:
        got = []
        for agent_id in ("chat/1", "chat/1", "chat/2"):
            await start(neovim, agent_id=agent_id)
            got.append(
                await neovim.lua(f"T.turn:wait(5000) return T.turn.fast.delivery and #{TITLES % 'turn.fast'}")
            )
        await neovim.lua(
            "require('memrecall').reset({ agent_id = 'chat/1' }, function(err) T.count(err or 'reset') end)"
        )
        await neovim.until("T.counts.reset")
        await start(neovim, agent_id="chat/1")
        got.append(await neovim.lua(f"T.turn:wait(5000) return #{TITLES % 'turn.fast'}"))
    assert got == [1, None, 1, 1]


async def test_wait_returns_what_the_callback_gets(herons):
    async with await Neovim.beside(herons) as neovim:
        waited = await neovim.lua(
            "local err, fast = require('memrecall').start({ query = 'heron' }):wait(5000)"
            "return { err or false, fast.delivery.documents[1].title }"
        )
    assert waited == [False, "Heron"]


async def test_callbacks_come_later_and_once_also_when_added_late(herons):
    async with await Neovim.beside(herons) as neovim:
        await start(neovim)
        await neovim.until("T.counts.ended")
        inside = await neovim.lua(
            "T.turn:on_fast(function(_, fast) T.count('late ' .. fast.turnId) end)"
            "T.turn:on_end(function(_, outcome) T.count('late end ' .. outcome.turnId) end)"
            "return T.counts['late ' .. T.turn.id] or 0"
        )
        counts = await neovim.until("T.counts['late end ' .. T.turn.id] and T.counts")
    assert inside == 0
    assert sorted(counts.values()) == [1, 1, 1, 1]


async def test_error_in_a_callback_hurts_no_other(herons):
    async with await Neovim.beside(herons) as neovim:
        await neovim.lua(
            """
            local turn = require('memrecall').start({ query = 'heron' }, function() error('of my own') end)
            turn:on_fast(function() T.count('second') end)
            """
        )
        await neovim.until("T.counts.second")
        neovim.expected_complaint = "of my own"


async def test_model_choice_comes_at_a_tool_result(start_daemon):
    released = asyncio.Event()
    async with model_server(once(released, choose("Ferry", "Heron"))) as model:
        daemon = start_daemon(selector_config(model.base_url))
        daemon.write_note("project", "heron.md", note("Heron", "stands"))
        daemon.write_note("user", "ferry.md", note("Ferry", "floats"))
        async with await Neovim.beside(daemon) as neovim:
            await start(neovim)
            await neovim.until("T.counts.fast")
            assert await neovim.lua(f"return {{ T.fast.pending, {TITLES % 'fast'} }}") == [True, ["Heron"]]
            await neovim.lua(ASK, "grep")
            assert await neovim.until("T.result and T.result.state") == "pending"
            released.set()
            async with asyncio.timeout(WAIT_S):
                while (state := await neovim.until("T.result and T.result.state")) == "pending":
                    await neovim.lua(ASK, "grep")
            assert state == "delivered"
            # What the first result held is not repeated.
            assert await neovim.lua(f"return {TITLES % 'result'}") == ["Ferry"]
            assert (await neovim.lua("return T.result.delivery.prompt")).startswith(PROMPT_OPENING)
            outcome = await neovim.until("T.outcome")
            assert (outcome["deliveryPoint"], outcome["strategy"]) == ("tool_result", "model")
            await neovim.lua(ASK, None)
            assert await neovim.until("T.result and T.result.state") == "none"


async def test_finished_and_cancelled_turns(start_daemon):
    async with model_server(never) as model:
        daemon = start_daemon(selector_config(model.base_url))
        daemon.write_note("project", "heron.md", note("Heron", "stands"))
        async with (
            await Neovim.beside(daemon) as neovim,
            await WireClient.connect(daemon.socket) as agent,
        ):
            # Cancelled, at once or after the first result: its notes may come again.
            for _ in range(2):
                await start(neovim)
                await neovim.until("T.fast")
                assert await neovim.lua(f"return {TITLES % 'fast'}") == ["Heron"]
                await neovim.lua("T.counts, T.fast, T.end_error = {}, nil, nil T.turn:cancel()")
                await neovim.until("T.end_error and T.end_error.code == 'cancelled'")
                await neovim.lua(ASK, None)
                await neovim.until("T.result_error and T.result_error.code == 'cancelled'")
                await neovim.lua(f"{START} T.turn:cancel()", {"query": "heron"})
                await neovim.until("T.counts.fast")
                assert await neovim.lua("return { T.fast_error.code, T.fast or 0 }") == ["cancelled", 0]
                await neovim.lua("T.counts = {}")
            # Finished: the note counts as read, and nothing comes later.
            await start(neovim)
            await neovim.until("T.counts.fast")
            await neovim.lua("T.outcome = nil T.turn:finish() T.turn:finish()")
            outcome = await neovim.until("T.outcome")
            assert outcome["discardReason"] == "no_safe_delivery_point"
            await neovim.lua(ASK, None)
            assert await neovim.until("T.result and T.result.state") == "none"
            status = await agent.call("daemon/status")
            assert status["openTurns"] == 0
            assert status["counters"]["discarded.abort"] == 4
            # A turn that a newer one of the same conversation replaces says so.
            daemon.write_note("user", "tern.md", note("Tern", "dives"))
            await start(neovim, "tern")
            await neovim.lua("T.older = T.turn")
            await start(neovim, "tern")
            await neovim.until("T.older.outcome and T.older.outcome.discardReason == 'new_query'")


@pytest.mark.parametrize("end", ["cancel", "finish"])
async def test_turn_ended_before_its_first_result_delivers_nothing(herons, end):
    async with await Neovim.beside(herons) as neovim:
        # Before the connection stands, and over one that does.
        for _ in range(2):
            await neovim.lua(f"{START} T.turn:{end}()", {"query": "heron"})
            await neovim.until("T.counts.ended")
            errors = await neovim.lua(
                "return { T.fast_error.code, T.end_error.code, T.counts.fast, T.fast or 0 }"
            )
            assert errors == ["cancelled", "cancelled", 1, 0]
            await neovim.lua("T.counts = {} T.turn = nil")
            assert await neovim.lua(
                "return { require('memrecall').start({ query = 'zeppelin' }):wait(5000) == nil }"
            )


async def test_daemon_that_dies_ends_the_turn_with_an_error_value(start_daemon):
    async with model_server(never) as model:
        daemon = start_daemon(selector_config(model.base_url))
        daemon.write_note("project", "heron.md", note("Heron", "stands"))
        async with await Neovim.beside(daemon) as neovim:
            await start(neovim)
            await neovim.until("T.counts.fast")
            daemon.kill()
            await neovim.until("T.end_error and T.end_error.code == 'disconnected'")
            await neovim.lua(ASK, None)
            await neovim.until("T.result_error and T.result_error.code == 'disconnected'")
            await neovim.lua("T.turn:finish() T.turn:cancel()")
            assert await neovim.lua("return T.turn.fast ~= nil"), "what was delivered stays"


async def test_without_a_daemon_every_call_gets_an_error_value(tmp_path):
    environment = {"PATH": "", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    async with await Neovim.start(environment, tmp_path) as neovim:
        await neovim.lua(
            """
            local memrecall = require('memrecall')
            local function note(err) T.count(err.code) T.message = tostring(err) end
            memrecall.start({ query = 'q' }, note)
            memrecall.search('q', {}, note)
            memrecall.status({}, note)
            memrecall.reset({}, note)
            """
        )
        await neovim.until("T.counts.unavailable == 4")
        assert "start it with" in await neovim.lua("return T.message")


async def test_error_answer_of_the_daemon_is_an_error_value(herons):
    async with await Neovim.beside(herons) as neovim:
        await start(neovim, project_root="not/absolute")
        error = await neovim.until("T.end_error")
        assert await neovim.lua("return T.fast.delivery == nil")
    assert (error["code"], error["rpc_code"]) == ("request", -32602)
    assert "expected an absolute path" in error["message"]


@pytest.mark.parametrize(
    "options",
    ["{}", "{ query = 1 }", "{ query = 'q', agentId = 'a' }", "{ query = 'q', recent_tools = 'grep' }"],
)
async def test_wrong_options_raise(herons, options):
    async with await Neovim.beside(herons) as neovim:
        with pytest.raises(LuaError, match="memrecall: "):
            await neovim.lua(f"require('memrecall').start({options})")


@pytest.mark.parametrize(
    "query",
    [
        r"'heron \255\254 \237\160\128'",
        r"'heron \0 \27'",
        "('x '):rep(3e6) .. 'heron'",
        "('é'):rep(1e6) .. ' heron'",
    ],
)
async def test_query_of_any_bytes_and_any_length_is_answered(herons, query):
    async with await Neovim.beside(herons) as neovim:
        title = await neovim.lua(
            f"local err, fast = require('memrecall').start({{ query = {query} }}):wait(10000)"
            "return err and err.message or fast.delivery.documents[1].title"
        )
    assert title == "Heron"


async def test_project_whose_path_is_no_text_is_an_error_value(herons):
    async with await Neovim.beside(herons) as neovim:
        code = await neovim.lua(
            r"""
            local turn = require('memrecall').start({ query = 'q', project_root = '/\255' })
            return turn:wait(5000).code
            """
        )
    assert code == "invalid"


async def test_tools_that_were_used_leave_their_notes_out(herons):
    herons.write_note("user", "grep.md", note("Kestrel", "Tool usage of grep"))
    async with await Neovim.beside(herons) as neovim:
        for tools, found in (["grep"], False), (["sed"], True):
            await start(neovim, "kestrel", recent_tools=tools, agent_id=tools[0])
            assert await neovim.until("T.fast and { T.fast.delivery ~= nil }") == [found]
            await neovim.lua("T.fast = nil")


async def test_layouts_that_the_agent_reads_itself_are_left_out(herons):
    async with await Neovim.beside(herons) as neovim:
        await start(neovim, exclude_layouts=["native"])
        assert await neovim.until("T.fast and { T.fast.delivery == nil }") == [True]


async def test_search_and_status_answer_outside_any_session(herons):
    async with await Neovim.beside(herons) as neovim:
        await neovim.lua(
            """
            local memrecall = require('memrecall')
            memrecall.search('heron', { limit = 1 }, function(_, documents) T.found = documents end)
            memrecall.status({}, function(_, status) T.status = status end)
            """
        )
        (found,) = await neovim.until("T.found")
        status = await neovim.until("T.status")
    assert found["title"] == "Heron"
    assert found["matched"][0]["term"] == "heron"
    assert status["project"]["root"] == str(herons.project.resolve())


async def test_example_of_the_manual_puts_memory_before_the_model(start_daemon):
    example = help_example()
    assert example == code_block(PLUGIN / "README.md", "local function ask")
    released = asyncio.Event()
    async with model_server(once(released, choose("Ferry"))) as model:
        daemon = start_daemon(selector_config(model.base_url))
        daemon.write_note("project", "heron.md", note("Heron", "stands"))
        daemon.write_note("user", "ferry.md", note("Ferry", "floats"))
        async with await Neovim.beside(daemon) as neovim:
            await neovim.lua(
                f"""
                {example}
                T.sent = {{}}
                T.chat = {{ id = 'example/1', send = function(text) table.insert(T.sent, text) end }}
                T.ask = ask
                T.ask(T.chat, 'where is the heron')
                """
            )
            first = await neovim.until("T.sent[1]")
            released.set()
            async with asyncio.timeout(WAIT_S):
                later = ""
                while PROMPT_OPENING not in later:
                    await neovim.lua("T.sent = {} T.chat.on_tool_used('grep', 'three hits')")
                    later = await neovim.until("T.sent[1]")
            await neovim.lua(
                "T.sent = {} T.chat.on_answer() T.ask(T.chat, 'and the ferry') T.chat.on_abort()"
            )
            # The answer to a later question shows that the aborted one sent nothing.
            await neovim.lua("T.ask(T.chat, 'thanks')")
            await neovim.until("T.sent[1]")
            assert await neovim.lua("return T.sent") == ["thanks"]
    assert first.startswith(PROMPT_OPENING)
    assert "| # Heron" in first
    assert first.endswith("\n\nwhere is the heron")
    assert "| # Ferry" in later
    assert later.endswith("\n\nthree hits")
