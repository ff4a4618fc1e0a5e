"""The labelled queries and the notes that they are asked of."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from memrecalld.memory.document import Document, Scope
from memrecalld.memory.layouts import Root
from memrecalld.memory.scan import scan_root

CORPUS: Final = Path(__file__).with_name("corpus")

TYPED: Final = Path(__file__).with_name("typed")
"""Notes of several types on each of a few subjects, and queries that ask for one type. Kept apart, since more
notes in the corpus would change every other number."""

NOW_NS: Final = 1_800_000_000 * 10**9
"""When the queries are asked, nanoseconds since the epoch; the ages of the notes count from here."""

_DAY_NS: Final = 86_400 * 10**9
_SCOPES: Final[tuple[Scope, ...]] = ("project", "user")

Split = Literal["tune", "held-out", "development"]
SPLITS: Final[tuple[Split, ...]] = ("tune", "held-out")
"""The splits of the corpus. ``development`` is no part of it: those queries were written while the ranker was
made, by those who made it, to decide what the corpus has too few queries for."""

NAME_ALONE: Final = "name-alone"
"""The category of the queries that hold nothing but a name which all notes hold."""

SPELT: Final = "answered, spelt by their sound"
"""The category of development queries that ask for an English note by such words alone."""

NOTHING_TO_RECALL: Final = frozenset({"small-talk", "no-result", NAME_ALONE})
"""The categories in which silence is right."""


class LabelledQuery(msgspec.Struct, frozen=True, rename={"text": "query"}):
    """A query, and what a careful person would want to see for it. Notes go by scope and path."""

    id: str
    category: str
    text: str
    relevant: tuple[str, ...]
    best: str | None
    split: Split


@cache
def documents(store: Path = CORPUS) -> tuple[Document, ...]:
    """Every note, project notes first, read as the daemon reads them, with the ages that the store tells."""
    ages = json.loads((store / "modified.json").read_text(encoding="utf-8"))
    found = []
    for scope in _SCOPES:
        folder = str((store / "notes" / scope).resolve())
        root = Root(scope=scope, layout="native", path=folder, real_path=folder, required=True)
        for document in scan_root(root, allowed=[folder]).documents:
            modified_ns = NOW_NS - ages[f"{scope}/{document.relative_path}"] * _DAY_NS
            found.append(msgspec.structs.replace(document, modified_ns=modified_ns))
    return tuple(found)


@cache
def queries(split: Split, store: Path = CORPUS) -> tuple[LabelledQuery, ...]:
    """The queries of a split, in the order of their file."""
    decoder = msgspec.json.Decoder(LabelledQuery)
    file = CORPUS.with_name("development.jsonl") if split == "development" else store / "queries.jsonl"
    lines = file.read_bytes().splitlines()
    return tuple(query for query in map(decoder.decode, lines) if query.split == split)


def name(document: Document) -> str:
    """How labels call ``document``."""
    return f"{document.scope}/{document.relative_path}"
