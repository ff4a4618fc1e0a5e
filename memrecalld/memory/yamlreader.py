"""Frontmatter read as YAML, and set right where YAML reads a name or a description otherwise than it was
meant.

The structure is YAML's. But a description is prose to its writer, who does not know that `` #`` begins a
comment, that ``[x]`` is a list, ``{x}`` a mapping and ``!`` a tag, or that a backslash between double quotes
is an escape.
"""

from __future__ import annotations

import re

from memrecalld.memory.document import Problem
from memrecalld.memory.fields import LIST_KEYS, TEXT_KEYS, WORD_KEYS, Fields, listed, put
from memrecalld.memory.quoting import NULLS, present, unescape
from memrecalld.memory.yamlnode import Node

_HASH_REST = re.compile(r"[ \t]+#.*")
_EMPTY_THEN_HASH = re.compile(r"[\"']?[ \t]*:[ \t]+(#.*)")


def read_yaml(source: str, root: Node | None) -> tuple[Fields, Problem | None]:
    """Fields of the mapping ``root`` composed from ``source``, and what a person should know about them.

    Of a key that stands there twice the last value that is not empty wins.
    """
    fields: Fields = {}
    repaired = duplicate = False
    for key_node, node in _pairs(root) if root is not None else []:
        key = key_node.value.lower()
        value: str | tuple[str, ...]
        if key == "metadata" and node.kind == "mapping":
            key = "metadata.type"
            value = _nested_type(node)
        elif key in TEXT_KEYS:
            value = _text(source, key_node, node)
            repaired = repaired or value.split() != _scalar(node).split()
        elif key in LIST_KEYS:
            value = _scalars(node) if node.kind == "sequence" else listed(key, _scalar(node))
        elif key in WORD_KEYS:
            value = ", ".join(_scalars(node))
        else:
            continue
        duplicate = put(fields, key, value) or duplicate
    if duplicate:
        return fields, "frontmatter-duplicate"
    return fields, "frontmatter-repaired" if repaired else None


def _pairs(mapping: Node) -> list[tuple[Node, Node]]:
    return list(zip(mapping.children[::2], mapping.children[1::2], strict=True))


def _text(source: str, key: Node, node: Node) -> str:
    """A name or a description as its writer meant it, whatever kind of node YAML takes it for."""
    line_end = source.find("\n", node.end)
    after = source[node.end :] if line_end < 0 else source[node.end : line_end]
    kept = after if _HASH_REST.match(after) else ""
    written = source[node.start : node.end].strip()
    if node.kind != "scalar" or node.tagged:
        return written + kept
    if node.style == '"' and written.startswith('"'):
        return unescape(written[1:-1])
    if node.style:
        return node.value
    if not node.value:
        hash_text = _EMPTY_THEN_HASH.match(source, key.end)
        return hash_text[1] if hash_text else ""
    return _scalar(node) + kept


def _scalar(node: Node) -> str:
    return "" if not node.style and node.value in NULLS else node.value


def _scalars(node: Node) -> tuple[str, ...]:
    if node.kind == "scalar":
        return present([_scalar(node)])
    if node.kind == "sequence":
        return present(_scalar(child) for child in node.children)
    return ()


def _nested_type(metadata: Node) -> str:
    label = ""
    for key, value in _pairs(metadata):
        if key.value.lower() == "type":
            label = ", ".join(_scalars(value)) or label
    return label
