"""The plugin's documents, as the tests read them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.editors.neovim import PLUGIN

HELP = PLUGIN / "doc" / "memrecall.txt"


def code_block(document: Path, beginning: str) -> str:
    """The one fenced block of a Markdown document that begins so."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (block,) = (block for block in blocks if block.startswith(beginning))
    return str(block)


def help_example() -> str:
    """The example of the Lua interface in the help file."""
    text = HELP.read_text(encoding="utf-8")
    found = re.search(r"\*memrecall-lua-example\*\n>lua\n(.*?)^<$", text, re.MULTILINE | re.DOTALL)
    assert found
    return textwrap.dedent(found[1])
