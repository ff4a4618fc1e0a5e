"""YAML as a tree of strings with their places in the source, within bounds.

Made from the parser's events, so that no object is ever constructed: a date, a number or ``yes`` stays as
written. The events come one by one, so a hostile text is given up at the first event beyond a bound.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol

import msgspec
import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML built without libyaml has no C loader

MAX_DEPTH: Final = 32
"""Levels of nesting beyond which a text is refused; notes use two."""

MAX_NODES: Final = 4_096
"""Nodes beyond which a text is refused; notes use about ten."""

_STANDARD_TAG: Final = "tag:yaml.org,2002:"


class _Mark(Protocol):
    index: int


class Refused(ValueError):
    """The text is not YAML, or uses what is not accepted here: aliases, anchors, depth, several documents."""


class Node(msgspec.Struct):
    """One node. ``start`` and ``end`` are code point offsets in the source, ``end`` exclusive."""

    kind: Literal["scalar", "sequence", "mapping"]
    value: str
    """The text of a scalar; empty for the others."""
    style: str
    """``'``, ``"``, ``|`` or ``>`` for a scalar written so, else empty."""
    tagged: bool
    """Has a tag of its own, such as ``!urgent``; YAML's own tags (``!!str``) do not count."""
    start: int
    end: int
    children: list[Node]
    """Items of a sequence; keys and values of a mapping in turn."""


def compose(text: str) -> Node | None:
    """The root node of ``text``, or ``None`` where it holds no node at all.

    Raises:
        Refused: the text is no YAML, or goes beyond what is accepted.
    """
    open_nodes: list[Node] = []
    root: Node | None = None
    nodes = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.CollectionEndEvent):
                open_nodes.pop().end = _index(event.end_mark)
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            node = _node(event)
            nodes += 1
            if nodes > MAX_NODES or len(open_nodes) >= MAX_DEPTH:
                raise Refused("too many nodes, or nested too deep")
            if open_nodes:
                open_nodes[-1].children.append(node)
            elif root is not None:
                raise Refused("more than one document")
            else:
                root = node
            if node.kind != "scalar":
                open_nodes.append(node)
    except (yaml.YAMLError, UnicodeError) as error:
        raise Refused("not YAML") from error
    return root


def _node(event: yaml.NodeEvent) -> Node:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise Refused("aliases and anchors are not accepted")
    kind: Literal["scalar", "sequence", "mapping"] = "scalar"
    value = style = tag = ""
    if isinstance(event, yaml.ScalarEvent):
        value, style, tag = event.value, event.style or "", event.tag or ""
    elif isinstance(event, yaml.CollectionStartEvent):
        kind = "sequence" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
        tag = event.tag or ""
    return Node(
        kind=kind,
        value=value,
        style=style,
        tagged=bool(tag) and not tag.startswith(_STANDARD_TAG),
        start=_index(event.start_mark),
        end=_index(event.end_mark),
        children=[],
    )


def _index(mark: _Mark | None) -> int:
    """Offset of a mark; the parsers set one on every event they make, though the type allows for none."""
    return mark.index if mark is not None else 0
