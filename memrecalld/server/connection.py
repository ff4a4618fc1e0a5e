"""One client's connection: bytes in, bytes out, and an end."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol, cast

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError

from memrecalld.recall.session import Handover
from memrecalld.server.codec import id_at_beginning
from memrecalld.server.framing import MAX_MESSAGE_BYTES, FrameReader, FramingError, Oversized, frame
from memrecalld.server.protocol import REQUEST_FAILED, ConnectionServer, RecallProtocol

_log = logging.getLogger("memrecalld.server")

MAX_CONNECTIONS: Final = 1536
"""Open connections, fewer where the system allows fewer descriptors. A person's programs have some dozens."""

MAX_UNREAD_BYTES: Final = 16 * 1024 * 1024
"""Output that a client may leave unread before it is dropped: four of the largest messages."""

MAX_UNREAD_BYTES_IN_ALL: Final = 64 * 1024 * 1024
"""Output that all clients together may leave unread; beyond, one that leaves much is dropped."""

MESSAGE_S: Final = 10.0
"""How long a message may take to arrive once it has begun. The largest takes some milliseconds."""

_MUCH_UNREAD_BYTES: Final = 1024 * 1024

_CLOSE_S: Final = 5.0
"""How long the last words to a client that is being closed may stay unread."""

_SLICE_S: Final = 0.00025
"""How long one client's queued messages are handled before the others have their turn: some messages. The
threads that read notes have theirs then, too; with longer slices a flood would starve them."""

_OTHER_DESCRIPTORS: Final = 128
"""Descriptors kept for notes, databases and models."""

_UCRED: Final = struct.Struct("iII")
"""``struct ucred`` of SO_PEERCRED: pid, uid, gid (unix(7))."""


class Handlers(Protocol):
    """What a connection serves."""

    def register(self, protocol: RecallProtocol) -> None:
        """Bind the methods."""

    def closed(self) -> None:
        """Nothing more comes from the client. May be called again when the connection is gone altogether."""

    def count(self, event: str) -> None:
        """Something happened to the connection that the daemon's status is to show."""


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
        self._message_timer: asyncio.TimerHandle | None = None
        self._handover: Handover | None = None
        self._unconfirmed: list[Handover] = []
        self._draining = False
        self._half_closed = False
        self._transport: asyncio.Transport
        self._handlers: Handlers
        self.protocol = ConnectionServer().protocol

    @property
    def open(self) -> bool:
        """Something written now can still reach the client."""
        return self in self._connections and not self._transport.is_closing()

    def gone(self) -> bool:
        """What was written last cannot have reached the client: that shows when one writes."""
        return not self.open

    # asyncio.Protocol -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        transport = self._transport
        if not _is_ours(transport.get_extra_info("socket")):
            _log.warning("refused a connection of another user")
            transport.abort()
            return
        # With these limits the transport tells exactly when something is unwritten and when all of it is
        # written, and what the socket has room for is in the kernel when a write returns.
        transport.set_write_buffer_limits(high=0, low=0)
        self._handlers = self._serve(self)
        self.protocol.set_writer(self)
        self._connections.add(self)
        if len(self._connections) > _most_connections():
            self._drop("refused", f"Request Failed: {_most_connections()} connections are open already")
            return
        self._handlers.register(self.protocol)

    def data_received(self, data: bytes) -> None:
        if not self.open:
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
        self._stop_message_timer()
        self.protocol.set_writer(None)  # type: ignore[arg-type]
        self._handlers.closed()
        self.protocol.connection_lost()
        if self._handover is not None:
            self._unconfirmed.append(self._handover)
        for handover in reversed(self._unconfirmed):
            handover.take_back()
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
                self._stop_message_timer()
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
            self._drop("unfollowable", f"Parse Error: {error}", JsonRpcParseError.CODE)
            return
        if not self._frames.inside:
            self._stop_message_timer()
        elif self._message_timer is None:
            self._message_timer = asyncio.get_running_loop().call_later(MESSAGE_S, self._on_slow_message)

    def _handle_more(self) -> None:
        if self.open:
            self._transport.resume_reading()
            self._handle_frames()

    def _on_slow_message(self) -> None:
        self._message_timer = None
        self._drop(
            "slow",
            f"Parse Error: a message was not complete {MESSAGE_S:g} s after it began",
            JsonRpcParseError.CODE,
        )

    def _stop_message_timer(self) -> None:
        if self._message_timer is not None:
            self._message_timer.cancel()
            self._message_timer = None

    def _refuse_oversized(self, body: Oversized) -> None:
        self._handlers.count("messages.oversized")
        self.protocol.refuse(
            id_at_beginning(body.beginning),
            JsonRpcInvalidRequest(
                f"Invalid Request: a message of {body.size} bytes; at most {MAX_MESSAGE_BYTES} are read"
            ),
        )

    def _drop(self, reason: str, message: str, code: int = REQUEST_FAILED) -> None:
        """Tell the client why, and close."""
        self._handlers.count(f"connections.dropped.{reason}")
        self.protocol.refuse(None, JsonRpcException(message, code=code))
        self.close()

    # Writing --------------------------------------------------------------------------------------

    def write(self, body: bytes) -> None:
        """Send one message; pygls' writer interface."""
        if not self.open:
            return
        handover, self._handover = self._handover, None
        if handover is not None:
            handover.record()
        self._transport.write(frame(body))
        # It is closing already where the client was gone.
        if handover is not None and (self._draining or self._transport.is_closing()):
            self._unconfirmed.append(handover)
        if self._draining and self._too_much_is_unread():
            _log.warning("dropped a client that does not read")
            self._handlers.count("connections.dropped.unread")
            self._transport.abort()
        elif self._half_closed and not self.protocol.busy:
            self.close()

    def hand_over(self, handover: Handover | None) -> None:
        """What is written next hands notes over: that is recorded right before.

        It is taken back if nothing is written, or what is written is never sent.
        """
        self._handover = handover

    def close(self) -> None:
        """Send what is written, then close."""
        if self._draining:  # else closing waits for the client to read, for ever if need be
            asyncio.get_running_loop().call_later(_CLOSE_S, self._transport.abort)
        self._transport.close()

    def _too_much_is_unread(self) -> bool:
        unread = self._transport.get_write_buffer_size()
        if unread <= _MUCH_UNREAD_BYTES:
            return False
        return unread > MAX_UNREAD_BYTES or (
            sum(each._transport.get_write_buffer_size() for each in self._connections if each._draining)
            > MAX_UNREAD_BYTES_IN_ALL
        )


def allow_connections() -> None:
    """Let this process have the descriptors for ``MAX_CONNECTIONS``, as far as the system allows it.

    The usual soft limit of 1,024 is for programs with ``select``.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + _OTHER_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _most_connections() -> int:
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, soft - _OTHER_DESCRIPTORS))


def _is_ours(peer: socket.socket | None) -> bool:
    """The peer runs as this user, or as root, who could read everything anyway."""
    if peer is None:
        return False
    _pid, uid, _gid = _UCRED.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return uid in {os.geteuid(), 0}
