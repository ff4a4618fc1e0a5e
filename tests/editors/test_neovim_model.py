"""What a model chooses, arriving in the float while it is open."""

from __future__ import annotations

import asyncio

from tests.editors.neovim import Neovim
from tests.editors.neovim_model import choose, once, selector_config
from tests.selectors.model_server import model_server, never, raw
from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient

FAST = "Deploy from main only"
CHOSEN = "Ferry timetable"


def write_notes(daemon: DaemonProcess) -> None:
    """One note that matches ``deploy`` and one that only a model would choose for it."""
    daemon.write_note("project", "deploy.md", note(FAST, "How releases go out", "Run ship.sh."))
    daemon.write_note("user", "ferry.md", note(CHOSEN, "When the boat leaves", "At noon."))


async def ended(daemon: DaemonProcess, counter: str) -> None:
    """Wait until no turn is open; the one that was open must have ended as ``counter`` says."""
    async with await WireClient.connect(daemon.socket) as agent, asyncio.timeout(WAIT_S):
        while (status := await agent.call("daemon/status"))["openTurns"]:
            await asyncio.sleep(0.01)
    assert status["counters"].get(counter) == 1, status["counters"]


async def test_choice_of_the_model_is_added_to_the_open_float(start_daemon):
    released = asyncio.Event()
    async with model_server(once(released, choose(CHOSEN, FAST))) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall deploy")
            first = await neovim.float_with("a model is choosing")
            await neovim.lua("T.go_to('Run ship.sh')")
            cursor = await neovim.lua("return vim.api.nvim_win_get_cursor(T.win())")
            released.set()
            second = await neovim.float_with(CHOSEN)
            assert await neovim.lua("return vim.api.nvim_win_get_cursor(T.win())") == cursor
        await ended(daemon, "delivery_point.tool_result")
    assert first.split("\n")[:4] == ["Query: deploy", "1 note; a model is choosing more.", "", f"1. {FAST}"]
    assert CHOSEN not in first
    assert second.split("\n")[:4] == ["Query: deploy", "2 notes.", "", f"1. {FAST}"]
    assert f"\n2. {CHOSEN}\n   user · project · saved today\n   chosen by the model\n" in second


async def test_notes_of_a_model_come_although_no_word_matches(start_daemon):
    released = asyncio.Event()
    async with model_server(once(released, choose(CHOSEN))) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall catamaran")
            assert "No notes yet; the search goes on." in await neovim.float_with("No notes")
            released.set()
            await neovim.float_with(f"1. {CHOSEN}")


async def test_choice_of_nothing_more_is_said(start_daemon):
    async with model_server(choose(), choose(FAST)) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall deploy")
            shown = await neovim.float_with("1 note; the model chose no others.")
            assert FAST in shown
            await neovim.type("q")
            # Chosen, but shown already.
            await neovim.command("MemRecall deploy")
            await neovim.float_with("1 note; the model chose no others.")


async def test_model_that_fails_leaves_the_matches_and_says_so(start_daemon):
    async with model_server(raw(500, b"")) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        for number in range(3):
            daemon.write_note("user", f"{number}.md", note(f"Deploy hint {number}"))
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall deploy")
            shown = await neovim.float_with("4 notes; the model did not answer.")
    assert "chosen by the model" not in shown


async def test_closing_the_float_ends_the_turn_and_nothing_comes_later(start_daemon):
    async with model_server(never) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall deploy")
            await neovim.float_with("a model is choosing")
            async with asyncio.timeout(WAIT_S):
                await model.asked.wait()
            await neovim.type("q")
            await ended(daemon, "discarded.no_safe_delivery_point")
            # The model is not asked any longer either.
            async with asyncio.timeout(WAIT_S):
                await model.left.wait()
            assert await neovim.float() == ""


async def test_daemon_that_dies_meanwhile_is_said_in_the_float(start_daemon):
    async with model_server(never) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await Neovim.beside(daemon) as neovim:
            await neovim.command("MemRecall deploy")
            await neovim.float_with("a model is choosing")
            daemon.kill()
            shown = await neovim.float_with("the daemon closed the connection")
            assert FAST in shown


async def test_exit_of_neovim_ends_its_turns_and_leaves_no_connection(start_daemon):
    async with model_server(never) as model:
        daemon = start_daemon(selector_config(model.base_url))
        write_notes(daemon)
        async with await WireClient.connect(daemon.socket) as agent:
            for leave in (Neovim.quit, Neovim.kill):
                async with await Neovim.beside(daemon) as neovim:
                    await neovim.command("MemRecall deploy")
                    await neovim.float_with("a model is choosing")
                    status = await agent.call("daemon/status")
                    assert (status["connections"], status["openTurns"]) == (2, 1)
                    await leave(neovim)
                async with asyncio.timeout(WAIT_S):
                    while (status := await agent.call("daemon/status"))["connections"] > 1:
                        await asyncio.sleep(0.01)
                assert status["openTurns"] == 0
