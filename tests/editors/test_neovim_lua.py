"""The Lua interface: what plugins that talk to a model are promised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.editors.neovim import LuaError, Neovim, running_daemon
from tests.support.daemon import DaemonProcess
from tests.support.notes import note

PROMPT_OPENING = "<recalled-memory>"


@pytest.fixture(scope="module")
def herons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon without a model and with one note."""
    with running_daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        daemon.write_note("project", "heron.md", note("Heron", "", "Stands."))
        yield daemon


async def start(neovim: Neovim, query: str = "heron", **options: Any) -> None:
    """Open a turn, in ``T.turn``."""
    await neovim.lua("T.start(...)", {"query": query, **options})


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


async def test_note_beyond_the_prompts_limit_waits_for_a_tool_result_with_room(herons):
    async with await Neovim.beside(herons) as neovim:
        await start(neovim, max_prompt_chars=1)
        fast = await neovim.until("T.fast")
        states = []
        for limit in (1, 10_000):
            await neovim.lua("T.ask(nil, ...)", limit)
            states.append(await neovim.until("T.result and { T.result.state, T.titles(T.result) }"))
        await neovim.until("T.counts.ended")
        outcome = await neovim.lua("return T.outcome")
    assert (fast["endedBy"], fast.get("delivery"), fast["pending"]) == ("settled", None, True)
    assert states == [["pending"], ["delivered", ["Heron"]]]
    assert (outcome["deliveryPoint"], outcome["documents"]) == ("tool_result", 1)


async def test_conversation_gets_a_note_once_and_another_gets_it_too(herons):
    titles = "(function() T.turn:wait(5000) return T.titles(T.turn.fast) end)()"
    async with await Neovim.beside(herons) as neovim:
        got = []
        for agent_id in ("chat/1", "chat/1", "chat/2"):
            await start(neovim, agent_id=agent_id)
            got.append(await neovim.lua(f"return {titles}"))
        # Without waiting for it: what is asked later is answered after it.
        await neovim.lua("require('memrecall').reset({ agent_id = 'chat/1' })")
        await start(neovim, agent_id="chat/1")
        got.append(await neovim.lua(f"return {titles}"))
    assert got == [["Heron"], None, ["Heron"], ["Heron"]]


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


@pytest.mark.parametrize("end", ["cancel", "finish"])
async def test_turn_ended_before_its_first_result_delivers_nothing(herons, end):
    async with await Neovim.beside(herons) as neovim:
        # Before the connection stands, and over one that does.
        for _ in range(2):
            await neovim.lua(f"T.start({{ query = 'heron' }}) T.turn:{end}()")
            await neovim.until("T.counts.ended")
            errors = await neovim.lua(
                "return { T.fast_error.code, T.end_error.code, T.counts.fast, T.fast or 0 }"
            )
            assert errors == ["cancelled", "cancelled", 1, 0]
            await neovim.lua("T.counts = {} T.turn = nil")
            assert await neovim.lua(
                "return { require('memrecall').start({ query = 'zeppelin' }):wait(5000) == nil }"
            )


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
        assert await neovim.lua("return T.fast == nil")
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
        outcome = await neovim.until("T.outcome")
        assert await neovim.lua("return T.fast.delivery == nil")
    # All was read: a wait that was too short delivers nothing either.
    assert outcome["discardReason"] == "no_relevant_results"


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
