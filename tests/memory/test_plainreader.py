"""The quick reader says what the YAML parser says, or leaves the text to it."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memrecalld.memory.fields import OWN_KEYS, Fields
from memrecalld.memory.plainreader import read_plain
from memrecalld.memory.yamlnode import compose
from memrecalld.memory.yamlreader import read_yaml

KEYS = st.sampled_from(
    ["name", "title", "description", "type", "keywords", "usage_scenarios", "metadata", "tags", "x-y", "Name"]
)
CHARACTERS = "-:#'\"[]{},&*!|>%@`~\\=?_+/. 漢é😀\t\u2028\x85\ufeff\u00a0"
FRAGMENTS = st.sampled_from(
    [*CHARACTERS, ": ", " #", ", ", "- ", "a", "b c", "null", "yes", "1.5", "2024-01-01"]
)
VALUES = st.lists(FRAGMENTS, max_size=4).map("".join)
INDENTS = st.sampled_from(["", "", "", "  ", " ", "    "])
LINES = st.one_of(
    st.builds("{}{}:{}{}".format, INDENTS, KEYS, st.sampled_from([" ", " ", "", "  "]), VALUES),
    st.builds("{}- {}".format, INDENTS, VALUES),
    st.builds("{}: [{}, {}]".format, KEYS, VALUES, FRAGMENTS),
    st.builds("{}:".format, KEYS),
    st.sampled_from(["", "   ", "# comment", "  # comment"]),
)


def present(fields: Fields) -> Fields:
    """Fields without the empty ones, text on one line: what a note's head is made of."""
    lines = {
        key: " ".join(value.split())
        if isinstance(value, str)
        else tuple(" ".join(item.split()) for item in value)
        for key, value in fields.items()
        if key in OWN_KEYS
    }
    return {key: value for key, value in lines.items() if value}


def by_yaml(text: str) -> Fields:
    fields, problem = read_yaml(text, compose(text))
    assert problem is None, "a text with a problem is not one to be read in one way only"
    return present(fields)


@given(st.lists(LINES, min_size=1, max_size=5).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_what_is_read_plainly_is_what_yaml_reads(text: str) -> None:
    fields = read_plain(text)
    event("left to YAML" if fields is None else "read")

    if fields is not None:
        assert present(fields) == by_yaml(text)


PROSE = st.lists(st.text("abcXYZ019_./+漢é😀", min_size=1, max_size=8), min_size=1, max_size=5).map(" ".join)
TERM = st.from_regex(r"[a-z漢é019][a-z漢é019_./+ -]{0,8}", fullmatch=True).filter(lambda term: term != "null")


@given(
    name=PROSE,
    description=PROSE,
    type_label=PROSE,
    keywords=st.lists(TERM.map(str.strip), min_size=1, max_size=3),
)
@settings(deadline=None)
def test_ordinary_frontmatter_needs_no_yaml_parser(
    name: str, description: str, type_label: str, keywords: list[str]
) -> None:
    text = "\n".join(
        [
            f"name: {name}",
            f'description: "{description}"',
            "metadata:",
            "  node_type: memory",
            f"  type: {type_label}",
            f"keywords: [{', '.join(keywords)}]",
            "usage_scenarios:",
            *(f"  - {keyword}" for keyword in keywords),
            "tags: [a, b]",
        ]
    )
    fields = read_plain(text)

    assert fields is not None
    assert present(fields) == by_yaml(text)
    loaded = yaml.load(text, Loader=yaml.BaseLoader)
    assert present(fields) == present(
        {
            "name": loaded["name"],
            "description": loaded["description"],
            "metadata.type": loaded["metadata"]["type"],
            "keywords": tuple(loaded["keywords"]),
            "usage_scenarios": tuple(loaded["usage_scenarios"]),
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        "description: a: b",
        "description: a #b",
        "description: a:",
        "description: #a",
        "description: [a]",
        'description: "a\\nb"',
        "description: 'it''s'",
        "description: >",
        "description: a\n  b",
        "description:\n  a",
        "name:\n  type: user",
        "name: a\nname: b",
        "name: a\nName: b",
        "type: [a, b]",
        "keywords: [a, [b]]",
        "keywords: [a: b]",
        "keywords:\n  - a\n   - b",
        "keywords:\n  a: b",
        "metadata:\n  type: a\n  type: b",
        "metadata:\n  a:\n    type: b",
        "  name: a",
        "name:a",
        "name: a\tb",
        "name: a\u2028b",
        "name : a",
        "? a",
        "- a",
        "*a",
        "...",
        "%TAG",
    ],
)
def test_what_may_be_misread_is_left_to_yaml(text: str) -> None:
    assert read_plain(text) is None
