"""Notes about using a tool that is in use right now: noise, since the model has the tool itself before it.

Only a note that describes how a tool is used, and holds no lesson beyond that, has a ``Document.usage_text``.
"""

from __future__ import annotations

from collections.abc import Iterable

from memrecalld.memory.document import Document, normalize


def tool_aliases(names: Iterable[str]) -> frozenset[str]:
    """The names under which a note may speak of tools, from the ``names`` a client calls them by.

    Normalised: the name itself; the part after the last ``::``; and for ``mcp__server__tool`` both all after
    the server and the last part alone. To be derived once per recall, not once per document. Blank names give
    nothing.
    """
    aliases: set[str] = set()
    for name in names:
        alias = normalize(name).strip()
        aliases.update((alias, alias.rpartition("::")[2].strip()))
        if alias.startswith("mcp__"):
            _, _, tool = alias.removeprefix("mcp__").partition("__")
            aliases.update((tool, tool.rpartition("__")[2]))
    aliases.discard("")
    return frozenset(aliases)


def is_tool_noise(document: Document, aliases: frozenset[str]) -> bool:
    """``document`` describes the usage of a tool that ``aliases`` names."""
    usage_text = document.usage_text
    return usage_text != "" and any(alias in usage_text for alias in aliases)
