"""``:MemRecall``, ``:MemRecallSearch`` and the float, in a real Neovim on a real daemon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.editors.neovim import Neovim, all_read, running_daemon
from tests.support.daemon import DaemonProcess, make_repository
from tests.support.notes import note

DEPLOY = note(
    "Deploy from main only", "How releases go out", "Run ship.sh.\n\nNever from a branch.", "feedback"
)
LUNCH = note("Lunch menu", "What the canteen has", "Soup on Mondays.", "reference")


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon with two notes that share no word; for the whole module, since its start takes a second."""
    with running_daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        daemon.write_note("project", "deploy.md", DEPLOY, days_old=3)
        daemon.write_note("user", "lunch.md", LUNCH)
        yield daemon


async def test_recalled_note_shows_scope_type_age_reasons_and_text(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy today")
        lines = (await neovim.float_with("Never from a branch.")).split("\n")
    assert lines == [
        "Query: deploy today",
        "1 note.",
        "",
        "1. Deploy from main only",
        "   project · feedback · saved 3 days ago",
        "   matched deploy (title)",
        "   deploy.md",
        "   How releases go out",
        "",
        "   Run ship.sh.",
        "",
        "   Never from a branch.",
    ]


async def test_shortened_note_says_so(notes):
    notes.write_note("user", "long.md", note("Flamingo facts", "", "pink " * 400))
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall flamingo")
        assert (await neovim.float_with("shortened")).endswith("(shortened: the note goes on in its file)")


async def test_nothing_found_is_said_plainly(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall zeppelin")
        shown = await neovim.float_with("No notes")
        told = await neovim.told()
    assert shown == "Query: zeppelin\nNo notes match this query."
    assert told == []


async def test_same_query_shows_the_same_notes_again(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy")
        first = await neovim.float_with("Deploy from main only")
        await neovim.type("q")
        assert await neovim.float() == ""
        await neovim.command("MemRecall deploy")
        assert await neovim.float_with("Deploy from main only") == first


async def test_float_does_not_use_up_what_an_agent_of_this_neovim_gets(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.lua("T.turn = require('memrecall').start({ query = 'deploy' })")
        titles = await neovim.until("T.turn.fast and { T.turn.fast.delivery.documents[1].title }")
    assert titles == ["Deploy from main only"]


async def test_recall_that_a_second_one_replaces_shows_nothing(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua(
            "vim.api.nvim_create_autocmd('FileType', { callback = function() T.count('float') end })"
        )
        # Both are on their way before the answer to either can be handled.
        await neovim.lua("vim.cmd('MemRecall deploy') vim.cmd('MemRecall lunch')")
        shown = await neovim.float_with("Lunch menu")
        floats = await neovim.lua("return T.counts.float")
    assert "Deploy" not in shown
    assert floats == 1


async def test_enter_opens_the_note_under_the_cursor(notes):
    path = notes.write_note(
        "project", "100% odd #name | it's.md", note("Pigeon post", "", "Coo.\n\nCoo again.")
    )
    async with await Neovim.beside(notes, "start.txt") as neovim:
        await neovim.command("MemRecall pigeon deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.lua("T.go_to('Coo again.')")
        await neovim.type("<CR>")
        opened = await neovim.lua(
            "return { vim.api.nvim_buf_get_name(0), vim.api.nvim_win_get_number(0), T.float() }"
        )
    assert opened == [str(path), 1, ""]


async def test_cursor_is_on_the_first_note_and_enter_opens_it(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.type("<CR>")
        assert await neovim.lua("return vim.fn.expand('%:t')") == "deploy.md"


async def test_enter_where_the_file_cannot_be_shown_says_why(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua("vim.o.hidden = false vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'unsaved' })")
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.type("<CR>")
        (told,) = await neovim.told()
    assert "E37" in told


async def test_query_from_inside_the_float_is_about_the_project_it_was_opened_from(notes, tmp_path):
    await all_read(notes)
    async with await Neovim.start(notes.environment, tmp_path, str(notes.project / "main.c")) as neovim:
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.command("MemRecallSearch ship.sh")
        assert "Deploy from main only" in await neovim.float_with("Search: ship.sh")


async def test_enter_beside_the_notes_opens_nothing(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy")
        shown = await neovim.float_with("Deploy from main only")
        await neovim.type("gg<CR>")
        assert await neovim.float() == shown


async def test_enter_on_a_note_whose_file_is_gone_says_so(notes):
    path = notes.write_note("user", "fleeting.md", note("Mayfly"))
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall mayfly")
        await neovim.float_with("1. Mayfly")
        path.unlink()
        await neovim.lua("T.go_to('Mayfly')")
        await neovim.type("<CR>")
        assert await neovim.told() == ["memrecall: the file of this note is gone"]


@pytest.mark.parametrize("keys", ["q", ":quit<CR>", ":edit other.txt<CR>"])
async def test_float_closes_in_every_way(notes, keys):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.type(keys)
        assert await neovim.float() == ""
        await neovim.command("MemRecall lunch")
        await neovim.float_with("Lunch menu")


@pytest.mark.parametrize(
    ("keys", "query"),
    [
        ("wvee:MemRecall<CR>", "lunch menu"),
        ("V:MemRecall<CR>", "the lunch menu of today"),
        ("w<C-v>jee:MemRecall<CR>", "lunch menu soup again"),
        (":2MemRecall<CR>", "is soup again"),
        ("wve:MemRecall what is for<CR>", "what is for lunch"),
    ],
)
async def test_selected_text_is_the_query(notes, keys, query):
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua(
            "vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'the lunch menu of today', 'is  soup  again' })"
        )
        await neovim.type(keys)
        shown = await neovim.float_with("Query: ")
    assert shown.split("\n")[0] == f"Query: {query}"


async def test_without_query_the_user_is_asked(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua("vim.ui.input = function(_, answer) answer(' deploy ') end vim.cmd('MemRecall')")
        assert (await neovim.float_with("Deploy from main only")).startswith("Query: deploy\n")


async def test_giving_up_the_question_asks_nothing(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua("vim.ui.input = function(_, answer) answer(nil) end vim.cmd('MemRecall')")
        assert await neovim.lua("return #vim.lsp.get_clients()") == 0


async def test_search_shows_scores_and_reasons(notes):
    async with await Neovim.beside(notes) as neovim:
        await neovim.command("MemRecallSearch soup")
        lines = (await neovim.float_with("Soup on Mondays.")).split("\n")
        await neovim.command("MemRecallSearch zeppelin")
        nothing = await neovim.float_with("No notes")
    assert lines[:4] == ["Search: soup", "1 note.", "", "1. Lunch menu"]
    assert lines[4].startswith("   user · reference · saved today · score ")
    assert lines[5] == "   matched soup (body)"
    assert nothing == "Search: zeppelin\nNo notes match this query."


async def test_search_shows_at_most_what_was_configured(notes):
    for number in range(4):
        notes.write_note("user", f"heron{number}.md", note(f"Heron {number}"))
    async with await Neovim.beside(notes) as neovim:
        await neovim.lua("require('memrecall').setup({ search_limit = 3 })")
        await neovim.command("MemRecallSearch heron")
        assert (await neovim.float_with("Heron")).startswith("Search: heron\n3 notes.\n")


async def test_notes_of_the_buffers_project_are_recalled_whatever_the_current_folder(notes, tmp_path):
    source = notes.project / "src"
    source.mkdir()
    await all_read(notes)
    async with await Neovim.start(notes.environment, tmp_path, str(source / "main.c")) as neovim:
        await neovim.command("MemRecall deploy")
        await neovim.float_with("Deploy from main only")
        await neovim.command("enew")
        await neovim.command("MemRecall deploy")
        await neovim.float_with("No notes match this query.")


async def test_nothing_found_before_all_notes_were_read_is_asked_again(notes):
    async with await Neovim.beside(notes) as neovim:
        # A daemon that has just started on a slow disk, for the first two recalls.
        await neovim.lua(
            """
            local client = require('memrecall.client')
            local start, unread = client.start, 2
            client.start = function(options)
              if unread == 0 then
                return start(options)
              end
              unread = unread - 1
              local turn = { finish = function() end }
              function turn:on_fast(callback)
                vim.schedule(function() callback(nil, { endedBy = 'settled', partial = true }) end)
              end
              function turn:on_end(callback)
                vim.schedule(function() callback(nil, { discardReason = 'no_relevant_results' }) end)
              end
              return turn
            end
            """
        )
        await neovim.command("MemRecall deploy")
        shown = await neovim.float_with("1. Deploy from main only")
        assert "in time" not in shown


async def test_unreadable_project_notes_are_an_error_and_not_an_empty_result(notes, tmp_path):
    make_repository(tmp_path)
    notes.notes_of(tmp_path).write_text("a file where the folder should be")
    async with await Neovim.start(notes.environment, tmp_path) as neovim:
        await neovim.command("MemRecall deploy")
        shown = await neovim.float_with("checkhealth")
    assert "cannot be read" in shown
    assert "No notes" not in shown
