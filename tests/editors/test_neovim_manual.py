"""The plugin's manual, its options, and that all of it loads without a word."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.editors.neovim import PLUGIN, LuaError, Neovim
from tests.editors.neovim_text import HELP, code_block


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without a daemon."""
    return {"PATH": "", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}


async def test_every_module_loads_and_says_nothing(environment, tmp_path):
    modules = sorted(
        ".".join(("memrecall", *path.relative_to(PLUGIN / "lua" / "memrecall").with_suffix("").parts))
        for path in (PLUGIN / "lua" / "memrecall").rglob("*.lua")
    )
    assert "memrecall.turn" in modules
    for module in modules:
        # In a Neovim of its own, where it cannot lean on what another module has loaded.
        async with await Neovim.start(environment, tmp_path) as neovim:
            await neovim.lua("require(...)", module.removesuffix(".init"))
            assert await neovim.told() == []


async def test_start_of_neovim_loads_nothing_but_the_commands(environment, tmp_path):
    async with await Neovim.start(environment, tmp_path) as neovim:
        loaded = await neovim.lua(
            """
            local function ours(name) return vim.startswith(name, 'memrecall') end
            return vim.tbl_filter(ours, vim.tbl_keys(package.loaded))
            """
        )
        commands = await neovim.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))")
    assert loaded == []
    assert sorted(each for each in commands if each.startswith("MemRecall")) == [
        "MemRecall",
        "MemRecallSearch",
        "MemRecallStatus",
    ]


async def test_help_opens_and_every_link_in_it_leads_somewhere(environment, tmp_path):
    plugin = tmp_path / "plugin"
    shutil.copytree(PLUGIN, plugin)
    text = HELP.read_text(encoding="utf-8")
    prose = re.sub(r">\w*\n(?:[ \t].*\n|\n)*", "\n", text)
    links = sorted(set(re.findall(r"\|([^|\s]+)\|", prose)))
    options = sorted(set(re.findall(r"'[a-z]{2,}'", prose)) - {"'memrecall'", "'winborder'"})  # 0.11 has it
    assert "memrecall-lua" in links
    async with await Neovim.start(environment, tmp_path, plugin=plugin) as neovim:
        await neovim.command(f"helptags {plugin}/doc")
        await neovim.command("help memrecall")
        assert await neovim.lua("return vim.fn.expand('%:t')") == "memrecall.txt"
        dead = await neovim.lua(
            """
            return vim.tbl_filter(function(tag)
              return not vim.list_contains(vim.fn.getcompletion(tag, 'help'), tag)
            end, ...)
            """,
            links + options,
        )
    assert dead == []


async def test_everything_public_is_in_the_manual(environment, tmp_path):
    text = HELP.read_text(encoding="utf-8")
    tags = set(re.findall(r"\*([^*\s]+)\*", text))
    async with await Neovim.start(environment, tmp_path) as neovim:
        functions = await neovim.lua("return vim.tbl_keys(require('memrecall'))")
        methods = await neovim.lua(
            """
            local turn = require('memrecall').start({ query = 'q' })
            local function is_public(name) return not vim.startswith(name, '_') end
            return vim.tbl_filter(is_public, vim.tbl_keys(getmetatable(turn)))
            """
        )
        options = await neovim.lua("return vim.tbl_keys(require('memrecall.config').options)")
    assert {f"memrecall.{name}()" for name in functions} <= tags
    assert {f"memrecall-turn:{name}()" for name in methods} <= tags
    assert {f"memrecall-option-{name}" for name in [*options, "socket"]} <= tags
    assert {":MemRecall", ":MemRecallSearch", ":MemRecallStatus"} <= tags
    source = (PLUGIN / "lua" / "memrecall" / "errors.lua").read_text(encoding="utf-8")
    codes = re.findall(r"^---\| '(\w+)'", source, re.MULTILINE)
    assert len(codes) == 9
    for code in codes:
        assert re.search(rf"^\s+{code} ", text, re.MULTILINE), code


async def test_documented_defaults_are_the_defaults(environment, tmp_path):
    documented = code_block(PLUGIN / "README.md", "require('memrecall').setup({")
    assert documented in re.sub("^    ", "", HELP.read_text(encoding="utf-8"), flags=re.MULTILINE)
    async with await Neovim.start(environment, tmp_path) as neovim:
        before = await neovim.lua("return require('memrecall.config').options")
        await neovim.lua(documented)
        assert await neovim.lua("return require('memrecall.config').options") == before


async def test_installed_as_the_readme_says_it_works(environment, tmp_path):
    shell = code_block(PLUGIN / "README.md", "mkdir -p ")
    steps = code_block(PLUGIN / "README.md", "vim.cmd.packadd")
    package = re.search(r"~/\.local/share/(\S+)\n$", shell)
    assert package
    place = tmp_path / "share" / package[1]
    place.parent.mkdir(parents=True)
    place.symlink_to(PLUGIN)
    async with await Neovim.start(environment, tmp_path, plugin=None) as neovim:
        assert await neovim.lua("return vim.fn.exists(':MemRecall')") == 0
        # --clean leaves the user's own packages out.
        await neovim.lua("vim.opt.packpath:prepend(vim.fn.stdpath('data') .. '/site')")
        await neovim.lua(steps)
        assert await neovim.lua("return vim.fn.exists(':MemRecall')") == 2
        spec = code_block(PLUGIN / "README.md", "{\n  dir = ")
        assert (await neovim.lua(f"return {spec}"))["opts"] is not None


async def test_setup_makes_the_commands_where_only_the_path_was_extended(environment, tmp_path):
    async with await Neovim.start(environment, tmp_path, plugin=None) as neovim:
        await neovim.lua("vim.opt.runtimepath:append(...) require('memrecall').setup()", str(PLUGIN))
        assert await neovim.lua("return vim.fn.exists(':MemRecall')") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("{ sockets = '/a' }", 'setup: unknown option "sockets"; known are socket, '),
        ("{ socket = 'a.sock' }", "socket: expected an absolute path"),
        ("{ socket = 1 }", "socket: expected a path, got 1"),
        ("{ search_limit = 0 }", "search_limit: expected a whole number from 1 to 100"),
        ("{ search_limit = 2.5 }", "search_limit: expected a whole number"),
        ("{ float = { height = 0 } }", "float.height: expected a positive number"),
        ("{ float = { border = 1 } }", "float.border: expected a name or a list"),
        ("{ float = true }", "float: expected a table"),
        ("{ keymaps = { recal = 'x' } }", 'keymaps: unknown option "recal"'),
        ("{ keymaps = { recall = '' } }", "keymaps.recall: expected a key sequence"),
        ("'fast'", "setup: expected a table"),
    ],
)
async def test_wrong_option_is_an_error_that_says_what_is_expected(environment, tmp_path, options, said):
    async with await Neovim.start(environment, tmp_path) as neovim:
        with pytest.raises(LuaError) as error:
            await neovim.lua(f"require('memrecall').setup({options})")
    assert f"memrecall: {said}" in str(error.value)


async def test_configured_keys_run_the_commands_and_none_are_mapped_else(environment, tmp_path):
    mapped = """
    local function is_ours(map) return (map.rhs or ''):find('MemRecall') end
    return #vim.tbl_filter(is_ours, vim.api.nvim_get_keymap('n'))
    """
    async with await Neovim.start(environment, tmp_path) as neovim:
        assert await neovim.lua(mapped) == 0
        await neovim.lua(
            "require('memrecall').setup({ keymaps = { recall = 'gm', search = 'gs', status = '<F9>' } })"
        )
        assert await neovim.lua(mapped) == 3
        await neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'heron tern' })")
        await neovim.type("wvegm")
        await neovim.float_with("Query: tern")
        await neovim.type("q")
        await neovim.lua("vim.ui.input = function(options, answer) answer(options.prompt) end")
        await neovim.type("gm")
        await neovim.float_with("Query: Recall notes for:")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{}", ["╭", 54]),
        ("{ float = { border = 'single', width = 30 } }", ["┌", 30]),
        ("{ float = { border = 'none', width = 0.5, height = 5 } }", [None, 39]),
    ],
)
async def test_float_looks_as_configured_and_fits_the_screen(environment, tmp_path, options, expected):
    async with await Neovim.start(environment, tmp_path) as neovim:
        await neovim.lua(f"require('memrecall').setup({options})")
        await neovim.command("MemRecall heron")
        await neovim.float_with("checkhealth")
        look = await neovim.lua(
            """
            local config = vim.api.nvim_win_get_config(T.win())
            local border = type(config.border) == 'table' and config.border[1] or vim.NIL
            return { border, config.width, config.height, config.relative }
            """
        )
    assert look[:2] == expected
    assert 1 <= look[2] <= 20
    assert look[3] == "editor"
