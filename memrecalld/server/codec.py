"""Bytes to messages and back, with msgspec."""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Final

import msgspec
from lsprotocol import converters
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcParseError

from memrecalld.server.messages import METHODS
from memrecalld.server.messages.base import Envelope, SentId

CONVERTER: Final = converters.get_converter()
"""lsprotocol's cattrs converter: built once, since that takes far longer than a connection's whole set-up."""

_envelopes: Final = msgspec.json.Decoder(Envelope)
_decoders: Final = {method: msgspec.json.Decoder(spec.params) for method, spec in METHODS.items()}
_ids: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_message_ids: Final[msgspec.json.Decoder[int | str]] = msgspec.json.Decoder(SentId)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}:,]|[^]["{}:,\s]+')

# JavaScript's JSON.stringify writes half of a surrogate pair, as a string cut between the two leaves it, as
# an escape. It is no Unicode text and strict decoders refuse it, but a query is not to be lost for it.
_LONE_SURROGATE: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def decode_envelope(body: bytes) -> Envelope:
    """Read one message up to, but not including, its parameters.

    Raises ``JsonRpcParseError`` for what is no JSON and ``JsonRpcInvalidRequest`` for what is no JSON-RPC
    2.0.
    """
    try:
        envelope: Envelope = _decode(_envelopes, body)
    except msgspec.ValidationError as error:
        found = str(error)
        # msgspec's own words repeat what was sent instead of saying what was expected.
        problem = 'Expected "2.0" - at `$.jsonrpc`' if found.endswith("`$.jsonrpc`") else found
        raise JsonRpcInvalidRequest(f"Invalid Request: {problem}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JsonRpcParseError(f"Parse Error: {error}") from None
    except RecursionError:
        raise JsonRpcParseError("Parse Error: nested too deeply") from None
    return envelope


def decode_params(method: str, params: msgspec.Raw | msgspec.UnsetType) -> Any:  # noqa: ANN401 - by method
    """Read the parameters of a known method; absent ones, ``null``, ``[]`` and ``{}`` are the same.

    Raises ``JsonRpcInvalidParams`` that names the field and what was expected, and ``JsonRpcParseError`` for
    text that is no UTF-8, which nobody has looked at before.
    """
    raw = b"{}" if params is msgspec.UNSET else bytes(params)
    if raw in {b"[]", b"null"}:
        raw = b"{}"
    try:
        return _decode(_decoders[method], raw)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(f"Invalid Params: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JsonRpcParseError(f"Parse Error: {error}") from None
    except RecursionError:
        raise JsonRpcInvalidParams("Invalid Params: nested too deeply") from None


def salvage_id(body: bytes) -> int | str | None:
    """The id of a message that is no valid request otherwise, so that its sender can tell which it was."""
    try:
        return _id(_ids.decode(body)["id"])
    except (msgspec.DecodeError, KeyError, RecursionError, UnicodeDecodeError):
        return None


def id_at_beginning(beginning: bytes) -> int | str | None:
    """The id of a message of which only the beginning is there; ``None`` if it is not in that."""
    depth = 0
    last: deque[bytes] = deque(maxlen=3)
    for match in _TOKEN.finditer(beginning):
        token = match[0]
        # Only what follows a value shows that it is whole.
        if depth == 1 and token in {b",", b"}"} and list(last)[:2] == [b'"id"', b":"]:
            return _id(last[-1])
        depth += (token in {b"{", b"["}) - (token in {b"}", b"]"})
        last.append(token)
    return None


def _id(value: bytes | msgspec.Raw) -> int | str | None:
    try:
        return _message_ids.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def encode(message: dict[str, Any]) -> bytes:
    """One message as JSON. Values are Structs and plain data."""
    return msgspec.json.encode(message)


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes) -> Any:  # noqa: ANN401
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        mended = _LONE_SURROGATE.sub(lambda match: match[1] + (match[2] or rb"\ufffd"), data)
        if mended == data:
            raise
        return decoder.decode(mended)
