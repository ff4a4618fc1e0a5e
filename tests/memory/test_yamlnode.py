"""YAML as strings in a tree, within bounds."""

from __future__ import annotations

import pytest

from memrecalld.memory.yamlnode import MAX_DEPTH, MAX_NODES, Node, Refused, compose


def values(node: Node) -> object:
    """The tree as plain Python values."""
    if node.kind == "scalar":
        return node.value
    if node.kind == "sequence":
        return [values(child) for child in node.children]
    pairs = zip(node.children[::2], node.children[1::2], strict=True)
    return [(values(key), values(value)) for key, value in pairs]


def composed(text: str) -> object:
    node = compose(text)
    assert node is not None
    return values(node)


def test_every_scalar_is_the_text_it_is() -> None:
    text = "a: [yes, 1.50, 2024-01-05, ~, 0x1F, .inf]\nb: {c: 'd'}\n? e\n: !!int 'f'\na: again\n<<: g"

    assert composed(text) == [
        ("a", ["yes", "1.50", "2024-01-05", "~", "0x1F", ".inf"]),
        ("b", [("c", "d")]),
        ("e", "f"),
        ("a", "again"),
        ("<<", "g"),
    ]


def test_nodes_know_their_place_in_code_points() -> None:
    text = "😀: 漢字\nb: ['c d']  # e\nf: !g h"
    root = compose(text)
    assert root is not None

    assert [text[node.start : node.end] for node in root.children] == [
        "😀",
        "漢字",
        "b",
        "['c d']",
        "f",
        "!g h",
    ]
    assert [node.tagged for node in root.children] == [False] * 5 + [True]
    assert root.children[3].children[0].style == "'"


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n", "  "])
def test_text_without_a_node_gives_none(text: str) -> None:
    assert compose(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a: *b",
        "a: &b c",
        "&a [b]",
        "a: b: c",
        "a: [",
        "a: b\n--- c",
        "a\n...\nb",
        "\x00",
        "a: \udcff",
        '"\\q"',
    ],
)
def test_what_is_not_accepted_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        compose(text)


def test_nesting_is_bounded() -> None:
    assert compose("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    with pytest.raises(Refused):
        compose("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(Refused):
        compose("\n".join(" " * depth + "a:" for depth in range(MAX_DEPTH + 2)))


def test_size_is_bounded() -> None:
    assert compose("[" + "a," * (MAX_NODES - 1) + "]") is not None
    with pytest.raises(Refused):
        compose("[" + "a," * MAX_NODES + "]")
