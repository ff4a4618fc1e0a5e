"""The shapes for type checkers are what the daemon sends."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import msgspec
import pytest
from msgspec import inspect

from memrecalld.client import shapes
from memrecalld.recall import delivery, exchange, outcome, verdict
from memrecalld.server.messages import recall, status

PAIRS = {
    "ListedDocument": delivery.DocumentSummary,
    "FoundDocument": delivery.DeliveredDocument,
    "Delivery": delivery.Delivery,
    "Fast": recall.FastParams,
    "ToolResult": exchange.ToolResult,
    "Outcome": outcome.Outcome,
    "Status": status.StatusResult,
    "Verdict": verdict.Verdict,
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_shape_is_what_the_daemon_sends(name):
    assert described(getattr(shapes, name)) == described(PAIRS[name])


def described(kind: Any) -> object:
    return _describe(inspect.type_info(kind))


def _describe(kind: inspect.Type) -> object:
    """A type as something hashable in which the order of fields does not matter."""
    match kind:
        case inspect.TypedDictType():
            return frozenset((field.name, field.required, _describe(field.type)) for field in kind.fields)
        case inspect.StructType():
            omits = kind.cls.__struct_config__.omit_defaults
            return frozenset(_describe_field(field, omits) for field in kind.fields)
        case inspect.ListType() | inspect.VarTupleType():
            return ("list", _describe(kind.item_type))
        case inspect.DictType():
            return ("dict", _describe(kind.key_type), _describe(kind.value_type))
        case inspect.LiteralType():
            return frozenset(kind.values)
        case inspect.UnionType():
            return frozenset(map(_describe, kind.types))
        case _:
            return type(kind).__name__


def _describe_field(field: inspect.Field, omits: bool) -> tuple[str, bool, object]:
    """A field is absent only where its default is left out; then it is never null for a default of None."""
    always_there = field.required or not omits
    kind = field.type
    if not always_there and field.default is None and isinstance(kind, inspect.UnionType):
        rest = tuple(each for each in kind.types if not isinstance(each, inspect.NoneType))
        kind = rest[0] if len(rest) == 1 else inspect.UnionType(rest)
    return field.encode_name, always_there, _describe(kind)


def test_the_comparison_sees_a_missing_field_and_another_type():
    class Sent(msgspec.Struct, omit_defaults=True):
        a: int
        b: str | None = None

    class Right(TypedDict):
        a: int
        b: NotRequired[str]

    class Wrong(TypedDict):
        a: str
        b: NotRequired[str]

    class Nullable(TypedDict):
        a: int
        b: str | None

    assert described(Right) == described(Sent)
    assert described(Wrong) != described(Sent)
    assert described(Nullable) != described(Sent)
