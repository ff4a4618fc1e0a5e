"""Turns with a model behind the daemon: in the float, and in the Lua interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from tests.editors.neovim import PLUGIN, Neovim, running_daemon
from tests.editors.neovim_model import choose, once, selector_config
from tests.editors.neovim_text import code_block, help_example
from tests.selectors.model_server import Answer, ModelServer, model_server, never, raw
from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROMPT_OPENING = "<recalled-memory>"


class World(NamedTuple):
    """A daemon, and the model it asks. ``heron`` finds the note Heron; only a model chooses Ferry."""

    daemon: DaemonProcess
    model: ModelServer

    def answering(self, *answers: Answer) -> None:
        """What the model answers from now on."""
        self.model.answers[:] = answers
        self.model.asked.clear()
        self.model.left.clear()

    async def ended_as(self, counter: str, before: dict[str, int]) -> None:
        """Wait until no turn is open; the one that was must have been counted so."""
        async with await WireClient.connect(self.daemon.socket) as agent, asyncio.timeout(WAIT_S):
            while (status := await agent.call("daemon/status"))["openTurns"]:
                await asyncio.sleep(0.01)
        assert status["counters"].get(counter, 0) == before.get(counter, 0) + 1, status["counters"]

    async def counters(self) -> dict[str, int]:
        """The daemon's counters."""
        async with await WireClient.connect(self.daemon.socket) as agent:
            counters: dict[str, int] = (await agent.call("daemon/status"))["counters"]
        return counters


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """For the whole module, since the daemon's start takes a second."""
    async with model_server(never) as model:
        with running_daemon(tmp_path_factory.mktemp("daemon"), selector_config(model.base_url)) as daemon:
            daemon.write_note("project", "heron.md", note("Heron", "A bird", "Stands."), days_old=3)
            daemon.write_note("user", "ferry.md", note("Ferry", "A boat", "At noon."), days_old=1)
            yield World(daemon, model)


# The float ----------------------------------------------------------------------------------------------


async def test_choice_of_the_model_is_added_to_the_open_float(world):
    released = asyncio.Event()
    world.answering(once(released, choose("Ferry", "Heron")))
    before = await world.counters()
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall heron")
        first = await neovim.float_with("a model is choosing")
        await neovim.lua("T.go_to('Stands.')")
        cursor = await neovim.lua("return vim.api.nvim_win_get_cursor(T.win())")
        released.set()
        second = await neovim.float_with("Ferry")
        assert await neovim.lua("return vim.api.nvim_win_get_cursor(T.win())") == cursor
    await world.ended_as("delivery_point.tool_result", before)
    assert first.split("\n")[:4] == ["Query: heron", "1 note; a model is choosing more.", "", "1. Heron"]
    assert "Ferry" not in first
    assert second.split("\n")[:4] == ["Query: heron", "2 notes.", "", "1. Heron"]
    assert "\n2. Ferry\n   user · project · saved yesterday\n   chosen by the model\n" in second


async def test_notes_of_a_model_come_although_no_word_matches(world):
    released = asyncio.Event()
    world.answering(once(released, choose("Ferry")))
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall catamaran")
        assert "No notes yet; the search goes on." in await neovim.float_with("No notes")
        released.set()
        await neovim.float_with("1. Ferry")


async def test_choice_of_nothing_more_is_said(world):
    world.answering(choose(), choose("Heron"))
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall heron")
        assert "1. Heron" in await neovim.float_with("1 note; the model chose no others.")
        await neovim.type("q")
        # Chosen, but shown already.
        await neovim.command("MemRecall heron")
        await neovim.float_with("1 note; the model chose no others.")


async def test_model_that_fails_leaves_the_matches_and_says_so(world):
    world.answering(raw(500, b""))
    for number in range(4):
        world.daemon.write_note("user", f"{number}.md", note(f"Tern {number}"))
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall tern")
        shown = await neovim.float_with("4 notes; the model did not answer.")
    assert "chosen by the model" not in shown


async def test_closing_the_float_ends_the_turn_and_nothing_comes_later(world):
    world.answering(never)
    before = await world.counters()
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall heron")
        await neovim.float_with("a model is choosing")
        async with asyncio.timeout(WAIT_S):
            await world.model.asked.wait()
        await neovim.type("q")
        await world.ended_as("discarded.no_safe_delivery_point", before)
        # The model is not asked any longer either.
        async with asyncio.timeout(WAIT_S):
            await world.model.left.wait()
        assert await neovim.float() == ""


async def test_daemon_that_dies_meanwhile_is_said_in_the_float_and_in_the_turn(world):
    world.answering(never)
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.command("MemRecall heron")
        await neovim.float_with("a model is choosing")
        await neovim.lua("T.start({ query = 'heron' })")
        await neovim.until("T.fast")
        world.daemon.kill()
        world.daemon.start()
        shown = await neovim.float_with("the daemon closed the connection")
        assert "1. Heron" in shown
        await neovim.until("T.end_error and T.end_error.code == 'disconnected'")
        await neovim.lua("T.ask()")
        await neovim.until("T.result_error and T.result_error.code == 'disconnected'")
        await neovim.lua("T.turn:finish() T.turn:cancel()")
        assert await neovim.lua("return T.titles(T.turn.fast)") == ["Heron"], "what was delivered stays"
        log = Path(await neovim.lua("return vim.fn.stdpath('log')")) / "lsp.log"
    assert not log.exists() or "heron" not in log.read_text().lower()


@pytest.mark.parametrize("leave", [Neovim.quit, Neovim.kill])
async def test_exit_of_neovim_ends_its_turns_and_leaves_no_connection(world, leave):
    world.answering(never)
    async with await WireClient.connect(world.daemon.socket) as agent:
        async with await Neovim.beside(world.daemon) as neovim:
            await neovim.command("MemRecall heron")
            await neovim.float_with("a model is choosing")
            status = await agent.call("daemon/status")
            assert (status["connections"], status["openTurns"]) == (2, 1)
            await leave(neovim)
        async with asyncio.timeout(WAIT_S):
            while (status := await agent.call("daemon/status"))["connections"] > 1:
                await asyncio.sleep(0.01)
        assert status["openTurns"] == 0


# The Lua interface --------------------------------------------------------------------------------------


async def test_choice_of_the_model_comes_at_a_tool_result(world):
    released = asyncio.Event()
    world.answering(once(released, choose("Ferry", "Heron")))
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.lua("T.start({ query = 'heron' })")
        await neovim.until("T.fast")
        assert await neovim.lua("return { T.fast.pending, T.titles(T.fast) }") == [True, ["Heron"]]
        await neovim.lua("T.ask('grep')")
        assert await neovim.until("T.result and T.result.state") == "pending"
        released.set()
        async with asyncio.timeout(WAIT_S):
            while (state := await neovim.until("T.result and T.result.state")) == "pending":
                await neovim.lua("T.ask('grep')")
        assert state == "delivered"
        # What the first result held is not repeated.
        assert await neovim.lua("return T.titles(T.result)") == ["Ferry"]
        assert (await neovim.lua("return T.result.delivery.prompt")).startswith(PROMPT_OPENING)
        outcome = await neovim.until("T.outcome")
        assert (outcome["deliveryPoint"], outcome["strategy"]) == ("tool_result", "model")
        await neovim.lua("T.ask()")
        assert await neovim.until("T.result and T.result.state") == "none"


async def test_cancelled_turn_delivers_nothing_and_its_notes_may_come_again(world):
    world.answering(never)
    before = await world.counters()
    async with await Neovim.beside(world.daemon) as neovim:
        for _ in range(2):
            # After the first result:
            await neovim.lua("T.start({ query = 'heron' })")
            await neovim.until("T.fast")
            assert await neovim.lua("return T.titles(T.fast)") == ["Heron"]
            await neovim.lua(
                """
                T.turn:on_fast(function(err, fast) T.late = { err and err.code, fast ~= nil } end)
                T.turn:cancel()
                """
            )
            await neovim.until("T.end_error and T.end_error.code == 'cancelled'")
            assert await neovim.until("T.late") == ["cancelled", False]
            await neovim.lua("T.ask()")
            await neovim.until("T.result_error and T.result_error.code == 'cancelled'")
            # At once:
            await neovim.lua("T.counts = {} T.start({ query = 'heron' }) T.turn:cancel()")
            await neovim.until("T.counts.ended")
            assert await neovim.lua("return { T.counts.fast, T.fast_error.code, T.fast or 0 }") == [
                1,
                "cancelled",
                0,
            ]
        # An answer shows that the daemon has handled all that was sent before.
        await neovim.lua("require('memrecall').search('x', {}, function() T.count('answer') end)")
        await neovim.until("T.counts.answer")
    after = await world.counters()
    assert after["discarded.abort"] - before.get("discarded.abort", 0) == 4


async def test_finished_turn_delivers_nothing_more_and_its_notes_count_as_read(world):
    world.answering(never)
    before = await world.counters()
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.lua("T.start({ query = 'heron' })")
        await neovim.until("T.fast")
        await neovim.lua("T.turn:finish() T.turn:finish()")
        assert await neovim.lua("return T.turn:is_open()") is False
        outcome = await neovim.until("T.outcome")
        assert (outcome["discardReason"], outcome["fastDocuments"]) == ("no_safe_delivery_point", 1)
        await neovim.lua("T.ask()")
        assert await neovim.until("T.result and T.result.state") == "none"
        await neovim.lua("T.start({ query = 'heron' })")
        await neovim.until("T.fast")
        assert await neovim.lua("return T.titles(T.fast) == nil")
        await neovim.lua("T.turn:finish()")
        await neovim.until("T.outcome")
    after = await world.counters()
    assert after["discarded.no_safe_delivery_point"] - before.get("discarded.no_safe_delivery_point", 0) == 2


async def test_turn_that_a_newer_one_of_its_conversation_replaces_says_so(world):
    world.answering(never)
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.lua("T.start({ query = 'heron' }) T.older = T.turn T.start({ query = 'heron' })")
        assert await neovim.until("T.older.outcome and T.older.outcome.discardReason") == "new_query"
        assert await neovim.lua("return T.older:is_open()") is False


async def test_example_of_the_manual_puts_memory_before_the_model(world):
    example = help_example()
    assert example == code_block(PLUGIN / "README.md", "local function ask")
    released = asyncio.Event()
    world.answering(once(released, choose("Ferry")), never)
    async with await Neovim.beside(world.daemon) as neovim:
        await neovim.lua(
            f"""
            {example}
            T.sent = {{}}
            T.chat = {{ id = 'example/1', send = function(text) table.insert(T.sent, text) end }}
            T.ask_model = ask
            T.ask_model(T.chat, 'where is the heron')
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
            "T.sent = {} T.chat.on_answer() T.ask_model(T.chat, 'and the ferry') T.chat.on_abort()"
        )
        # The answer to a later question shows that the aborted one sent nothing.
        await neovim.lua("T.ask_model(T.chat, 'thanks')")
        await neovim.until("T.sent[1]")
        assert await neovim.lua("return T.sent") == ["thanks"]
    assert first.startswith(PROMPT_OPENING)
    assert "| # Heron" in first
    assert first.endswith("\n\nwhere is the heron")
    assert "| # Ferry" in later
    assert later.endswith("\n\nthree hits")
