"""What all messages of the wire share: how they are wrapped, and how they are named."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

MAX_ID_CHARS: Final = 16 * 1024

MessageId = int | str
SentId = int | Annotated[str, Meta(max_length=MAX_ID_CHARS)]
"""An id that a client may choose."""

SessionId = Annotated[str, Meta(min_length=1, max_length=1024)]
AgentId = Annotated[str, Meta(max_length=1024)]


class Envelope(msgspec.Struct, frozen=True):
    """A JSON-RPC 2.0 message before anybody looked at its parameters."""

    jsonrpc: Literal["2.0"]
    id: SentId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: msgspec.Raw | UnsetType = UNSET
    result: msgspec.Raw | UnsetType = UNSET
    error: msgspec.Raw | UnsetType = UNSET


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of what is sent and received. Unknown fields are passed over: newer clients can be served."""


class Empty(Message, frozen=True, kw_only=True):
    """An answer that only says: done."""
