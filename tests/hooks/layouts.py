"""Settings files as people and programs lay them out."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

NAMES = st.one_of(
    st.sampled_from(["model", "env", "enabled", "$version", "a//b", 'say "hi"', "{", "имя", "🙂"]),
    st.text(max_size=4),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=8),
    st.sampled_from(["/* no comment */", "], }", "\\"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=3,
)

FOREIGN_HANDLERS = st.builds(
    lambda command, more: {"type": "command", "command": command, **more},
    st.sampled_from(["./lint.sh", "echo 'memrecall'", 'run "it"']),
    st.dictionaries(st.sampled_from(["timeout", "name"]), SCALARS, max_size=1),
)
FOREIGN_GROUPS = st.builds(
    lambda matcher, handlers: {**matcher, "hooks": handlers},
    st.sampled_from([{}, {"matcher": "Bash|Edit"}]),
    st.lists(FOREIGN_HANDLERS, max_size=2),
)
EVENTS = st.sampled_from(
    ["UserPromptSubmit", "PostToolUse", "Stop", "SessionStart", "SessionEnd", "PreToolUse"]
)
FOREIGN_HOOKS = st.dictionaries(EVENTS, st.lists(FOREIGN_GROUPS, max_size=2), max_size=4)

SETTINGS: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda before, hooks, after: {**before, **hooks, **after},
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.one_of(st.just({}), st.builds(lambda hooks: {"hooks": hooks}, FOREIGN_HOOKS)),
    st.dictionaries(NAMES, VALUES, max_size=2),
)

BLANKS = ["", "", "", " ", "\n", "\n  ", "\t", "  \n\n\t"]
COMMENTS = [" // a note\n", "/* one */", '\n  /* two\n lines, "}" */ ', "//\n"]


def _as_programs_do(value: Any, random: Random) -> str:
    text = json.dumps(
        value,
        indent=random.choice([None, 2, 4, "\t", 1]),
        ensure_ascii=random.choice([True, False]),
        separators=random.choice([None, (",", ":"), (", ", " : ")]),
    )
    return text + random.choice(["", "\n", "\n\n"])


def _as_people_do(value: Any, random: Random, gaps: list[str]) -> str:
    def gap() -> str:
        return random.choice(gaps) + random.choice(gaps)

    def render(part: Any) -> str:
        match part:
            case dict():
                parts = [
                    f"{gap()}{json.dumps(name)}{gap()}:{gap()}{render(each)}{gap()}"
                    for name, each in part.items()
                ]
                return "{" + (",".join(parts) or gap()) + "}"
            case list():
                return "[" + (",".join(f"{gap()}{render(each)}{gap()}" for each in part) or gap()) + "]"
            case _:
                return json.dumps(part, ensure_ascii=False)

    return f"{gap()}{render(value)}{gap()}"


def settings_texts(*, comments: bool) -> st.SearchStrategy[str]:
    """Texts of settings files, which hold hooks of others or none, in any layout."""

    def text(value: dict[str, Any], seed: int) -> str:
        random = Random(seed)
        if random.choice([True, False]):
            written = _as_programs_do(value, random)
        else:
            written = _as_people_do(value, random, BLANKS + COMMENTS if comments else BLANKS)
        return written.replace("\n", "\r\n") if random.choice([True, False]) else written

    return st.builds(text, SETTINGS, st.integers(0, 2**32))
