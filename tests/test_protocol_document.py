"""PROTOCOL.md speaks of every message and every field, and of no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import msgspec
import pytest

from memrecalld.recall.delivery import DeliveredDocument
from memrecalld.recall.exchange import EndedBy, ToolResult, ToolResultState
from memrecalld.recall.outcome import DiscardReason, Outcome
from memrecalld.server.messages import METHODS
from memrecalld.server.messages.base import Envelope
from memrecalld.server.messages.recall import FastParams, StartResult

TEXT = (Path(__file__).parents[1] / "editor-clients" / "PROTOCOL.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """The text under each ``###`` heading, by method."""
    parts = re.split(r"^### `([^`]+)`.*$", TEXT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def structs(kind: Any) -> set[type[msgspec.Struct]]:
    """The Structs in a type, with those in their fields."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {kind}.union(*(structs(field.type) for field in msgspec.structs.fields(kind)))
    return set().union(*(structs(each) for each in get_args(kind)))


def fields(kind: Any) -> set[str]:
    """Names on the wire of all fields in a type."""
    return {field.encode_name for struct in structs(kind) for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize("method", METHODS)
def test_every_message_and_each_of_its_fields_is_described(method: str) -> None:
    spec = METHODS[method]
    names = fields(spec.params) | (fields(spec.result) if spec.result not in {Any, None, NoneType} else set())
    assert f"`{method}`" in TEXT
    missing = {name for name in names if not re.search(rf"`(?:[\w.]+\.)?{name}`|\b{name}\b", TEXT)}
    assert not missing
    own = sections().get(method)
    if own is not None:
        direct = {field.encode_name for field in msgspec.structs.fields(spec.params)}
        assert not {name for name in direct if f"`{name}`" not in own}


def test_no_message_is_described_that_does_not_exist() -> None:
    assert set(sections()) <= set(METHODS)


def test_every_reason_and_state_is_described() -> None:
    for value in (*get_args(DiscardReason), *get_args(EndedBy), *get_args(ToolResultState)):
        assert f"`{value}`" in TEXT


def test_transcript_holds_valid_messages_of_one_turn() -> None:
    lines = [
        line for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()
    ]
    messages = [json.loads(line) for line in lines]
    for line, message in zip(lines, messages, strict=True):
        msgspec.json.decode(line, type=Envelope)
        if "method" in message:
            kind = FastParams if message["method"] == "recall/fast" else METHODS[message["method"]].params
            msgspec.convert(message["params"], kind)
            assert set(message["params"]) <= fields(kind)
    tool_result, start_result = (message["result"] for message in messages if "result" in message)
    msgspec.convert(tool_result, ToolResult)
    msgspec.convert(start_result, StartResult)
    assert set(start_result["outcome"]) == fields(Outcome)
    fast = next(message["params"] for message in messages if message.get("method") == "recall/fast")
    assert set(fast["delivery"]["documents"][0]) == fields(DeliveredDocument) - fields(MATCH) - {"score"}


MATCH = get_args(next(f.type for f in msgspec.structs.fields(DeliveredDocument) if f.name == "matched"))[0]
