"""One client's connection: bytes in, bytes out, and an end."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol, cast

from pygls.exceptions import JsonRpcInvalidRequest, JsonRpcParseError

from memrecalld.recall.turn import TakeBack
from memrecalld.server.framing import FrameReader, FramingError, Oversized, frame
from memrecalld.server.messages import MAX_MESSAGE_BYTES
from memrecalld.server.protocol import ConnectionServer, RecallProtocol

_log = logging.getLogger("memrecalld.server")

MAX_UNREAD_BYTES: Final = 16 * 1024 * 1024
"""Output that a client may leave unread before it is dropped: four of the largest messages."""

_SLICE_S: Final = 0.002
"""How long one client's queued messages are handled before the others have their turn."""

_UCRED: Final = struct.Struct("iII")
"""``struct ucred`` of SO_PEERCRED: pid, uid, gid (unix(7))."""


class Handlers(Protocol):
    """What a connection serves."""

    def register(self, protocol: RecallProtocol) -> None:
        """Bind the methods."""

    def closed(self) -> None:
        """Nothing more comes from the client. May be called again when the connection is gone altogether."""


class Connection(asyncio.Protocol):
    """Framing and flow control around one ``RecallProtocol``.

    ``serve`` makes the handlers of a new connection; ``connections`` is the set of the open ones, kept up to
    date here.
    """

    def __init__(self, serve: Callable[[Connection], Handlers], connections: set[Connection]) -> None:
        self._serve = serve
        self._connections = connections
        self._frames = FrameReader()
        self._pending: Iterator[bytes | Oversized] | None = None
        self._unconfirmed: list[TakeBack] = []
        self._draining = False
        self._half_closed = False
        self._transport: asyncio.Transport
        self._handlers: Handlers
        self.protocol = ConnectionServer().protocol

    @property
    def open(self) -> bool:
        """Something written now can still reach the client."""
        return self in self._connections and not self._transport.is_closing()

    # asyncio.Protocol -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        transport = self._transport
        if not _is_ours(transport.get_extra_info("socket")):
            _log.warning("refused a connection of another user")
            transport.abort()
            return
        # With these limits the transport tells exactly when something is unwritten and when all of it is
        # written.
        transport.set_write_buffer_limits(high=0, low=0)
        self._connections.add(self)
        self.protocol.set_writer(self)
        self._handlers = self._serve(self)
        self._handlers.register(self.protocol)

    def data_received(self, data: bytes) -> None:
        if self not in self._connections:
            return
        self._frames.feed(data)
        if self._pending is None:
            self._handle_frames()

    def eof_received(self) -> bool:
        # A client that closed its sending half may still read. Its turns have no delivery point left and end
        # here; whatever else it asked is answered, and then the connection closes.
        if self not in self._connections:
            return False
        self._half_closed = True
        self._handlers.closed()
        return self.protocol.busy

    def connection_lost(self, exc: Exception | None) -> None:
        if self not in self._connections:
            return
        self._connections.discard(self)
        self.protocol.set_writer(None)  # type: ignore[arg-type]
        self._handlers.closed()
        self.protocol.connection_lost()
        for take_back in reversed(self._unconfirmed):
            take_back()
        self._unconfirmed.clear()

    def pause_writing(self) -> None:
        self._draining = True

    def resume_writing(self) -> None:
        self._draining = False
        self._unconfirmed.clear()

    # Reading --------------------------------------------------------------------------------------

    def _handle_frames(self) -> None:
        """Handle what has arrived, a slice at a time, so that a flood from one client delays no other."""
        deadline = time.monotonic() + _SLICE_S
        frames = self._pending or self._frames.frames()
        self._pending = None
        try:
            for body in frames:
                if isinstance(body, Oversized):
                    self._refuse_oversized(body)
                else:
                    self.protocol.receive(body)
                if self._transport.is_closing():
                    return
                if time.monotonic() > deadline:
                    self._pending = frames
                    self._transport.pause_reading()
                    asyncio.get_running_loop().call_soon(self._handle_more)
                    return
        except FramingError as error:
            self.protocol.refuse(None, JsonRpcParseError(f"Parse Error: {error}"))
            self.close()

    def _handle_more(self) -> None:
        if self in self._connections and not self._transport.is_closing():
            self._transport.resume_reading()
            self._handle_frames()

    def _refuse_oversized(self, body: Oversized) -> None:
        self.protocol.refuse(
            None,
            JsonRpcInvalidRequest(
                f"Invalid Request: a message of {body.size} bytes; at most {MAX_MESSAGE_BYTES} are read"
            ),
        )

    # Writing --------------------------------------------------------------------------------------

    def write(self, body: bytes) -> None:
        """Send one message; pygls' writer interface."""
        if not self.open:
            return
        self._transport.write(frame(body))
        if self._transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            _log.warning("dropped a client that does not read")
            self._transport.abort()
        elif self._half_closed and not self.protocol.busy:
            self.close()

    def handed_over(self, take_back: TakeBack | None) -> None:
        """What was just written hands notes over: take them back if it is never sent."""
        if self._draining and take_back is not None:
            self._unconfirmed.append(take_back)

    def close(self) -> None:
        """Send what is written, then close."""
        self._transport.close()


def _is_ours(peer: socket.socket | None) -> bool:
    """The peer runs as this user, or as root, who could read everything anyway."""
    if peer is None:
        return False
    _pid, uid, _gid = _UCRED.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return uid in {os.geteuid(), 0}
