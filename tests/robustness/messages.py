"""Messages for clients that are about bytes: frames out, and whole messages of whatever came in."""

from __future__ import annotations

import json
from typing import Any

from tests.support.wire import frame


def request(msg_id: int | str, method: str, **params: Any) -> bytes:
    """The frame of a request."""
    return frame(json.dumps({"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params}).encode())


def notification(method: str, **params: Any) -> bytes:
    """The frame of a notification."""
    return frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())


def response(msg_id: int | str, result: object) -> bytes:
    """The frame of an answer to the daemon's own request."""
    return frame(json.dumps({"jsonrpc": "2.0", "id": msg_id, "result": result}).encode())


def take_messages(buffer: bytearray) -> list[dict[str, Any]]:
    """Take the whole messages out of what has arrived; what is left of them stays in ``buffer``."""
    messages = []
    while (end := buffer.find(b"\r\n\r\n")) >= 0:
        body_at = end + 4
        length = int(buffer[len(b"Content-Length: ") : end])
        if len(buffer) < body_at + length:
            break
        messages.append(json.loads(buffer[body_at : body_at + length]))
        del buffer[: body_at + length]
    return messages
