"""An entry as the bytes that the cache keeps of it.

A database does not see that a value in it is damaged, and a note that says something else is worse than none:
so a checksum goes with it.
"""

from __future__ import annotations

import zlib
from typing import Final

import msgspec

from memrecalld.memory.document import Document, NoteType, Problem
from memrecalld.memory.entry import Entry
from memrecalld.memory.layouts import Root
from memrecalld.memory.reader import Signature

_CHECKSUM_BYTES: Final = 4


class _Note(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entry without what its folder and path say already. The fields are those of ``Document``."""

    signature: Signature
    type: NoteType
    type_label: str
    title: str
    description: str
    body: str
    truncated: bool
    modified_ns: int
    content_hash: bytes
    usage_text: str
    keywords: tuple[str, ...]
    usage_scenarios: tuple[str, ...]
    unfilled: bool
    problem: Problem | None


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(_Note)


def packed(path: str, entry: Entry) -> bytes:
    """``entry``, which is of the note at ``path``: a checksum, and what path and folder do not say."""
    document = entry.document
    content = _encoder.encode(
        _Note(
            entry.signature,
            document.type,
            document.type_label,
            document.title,
            document.description,
            document.body,
            document.truncated,
            document.modified_ns,
            document.content_hash,
            document.usage_text,
            document.keywords,
            document.usage_scenarios,
            document.unfilled,
            document.problem,
        )
    )
    return _checksum(path, content) + content


def unpacked(root: Root, path: str, note: bytes) -> Entry | None:
    """The entry that ``packed`` made ``note`` of, for the note at ``path`` in ``root``.

    ``None`` if it is damaged, or not what this version packs.
    """
    content = note[_CHECKSUM_BYTES:]
    if note[:_CHECKSUM_BYTES] != _checksum(path, content):
        return None
    try:
        stored = _decoder.decode(content)
    except msgspec.DecodeError:
        return None
    document = Document(
        scope=root.scope,
        root=root.real_path,
        relative_path=path,
        type=stored.type,
        type_label=stored.type_label,
        title=stored.title,
        description=stored.description,
        body=stored.body,
        truncated=stored.truncated,
        modified_ns=stored.modified_ns,
        content_hash=stored.content_hash,
        usage_text=stored.usage_text,
        keywords=stored.keywords,
        usage_scenarios=stored.usage_scenarios,
        unfilled=stored.unfilled,
        problem=stored.problem,
    )
    return Entry(stored.signature, document)


def _checksum(path: str, content: bytes) -> bytes:
    """Of a note and its path: a damaged index may lead to another one."""
    return zlib.crc32(content, zlib.crc32(path.encode())).to_bytes(_CHECKSUM_BYTES)
