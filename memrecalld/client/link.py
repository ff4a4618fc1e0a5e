"""A blocking connection to the daemon: requests out, replies in, and a bound on every wait."""

from __future__ import annotations

import socket
from time import monotonic, sleep

from memrecalld.client import peer
from memrecalld.client.channel import Channel, Reply
from memrecalld.client.errors import CallTimeout, DaemonUnavailable, ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from memrecalld.client.channel import JsonObject

CONNECT_S = 1.0
CALL_S = 5.0
"""The daemon answers within 0.1 s; beyond this it hangs."""

ENDED = "the connection to the daemon has ended; connect again"
READ_BYTES = 64 * 1024


class Link:
    """A connected socket and its channel, for one thread at a time."""

    def __init__(self, sock: socket.socket, call_timeout: float) -> None:
        """Own a connected socket; ``call_timeout`` is the bound in seconds where a call names none."""
        self._sock = sock
        self._call_timeout = call_timeout
        self._channel = Channel()

    @classmethod
    def connect(cls, path: str | None, connect_timeout: float, call_timeout: float) -> Self:
        """Connect; see ``Client.connect``."""
        path = peer.find_socket(path)
        deadline = monotonic() + connect_timeout
        sock = peer.make_socket(path)
        connected = False
        try:
            while not (connected := peer.try_connect(sock, path)) and monotonic() < deadline:
                sleep(peer.RETRY_S)
        finally:
            if not connected:
                sock.close()
        if not connected:
            raise CallTimeout(f"the daemon takes no connections for {connect_timeout:g} s")
        return cls(sock, call_timeout)

    def close(self) -> None:
        """Close the socket; may be called twice."""
        self._sock.close()

    def call(self, method: str, params: JsonObject, timeout: float | None) -> Any:  # noqa: ANN401 - any JSON
        """Send a request, wait for its response, and return the result or raise the error."""
        reply = Reply()
        request_id, data = self.request(method, params, reply)
        try:
            self.send(data)
            self.wait(lambda: reply.answered, timeout)
        finally:
            self.forget(request_id)
        return reply.result()

    def request(self, method: str, params: JsonObject, reply: Reply) -> tuple[int, bytes]:
        """The id and the bytes of a request whose answers go into ``reply``; ``send`` sends it.

        So whoever is interrupted while it is sent knows already what to call off.
        """
        return self._channel.request(method, params, reply)

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self.send(self._channel.notification(method, params))

    def forget(self, request_id: int) -> None:
        """Drop what may still come for a request."""
        self._channel.forget(request_id)

    def wait(self, done: Callable[[], bool], timeout: float | None) -> None:
        """Receive until ``done``. Raises ``CallTimeout`` after ``timeout`` seconds."""
        timeout = self._call_timeout if timeout is None else timeout
        deadline = monotonic() + timeout
        while not done():
            data = self._receive(max(0.0, deadline - monotonic()), timeout)
            try:
                answer = self._channel.feed(data)
            except ProtocolError:
                self.close()
                raise
            if answer:
                self.send(answer)

    def send(self, data: bytes) -> None:
        """Send what ``request`` gave. Raises ``CallTimeout`` and ``DaemonUnavailable``."""
        try:
            self._sock.settimeout(self._call_timeout)
            self._sock.sendall(data)
        except TimeoutError:
            self.close()  # half a message may be out
            raise CallTimeout(f"the daemon reads nothing for {self._call_timeout:g} s") from None
        except OSError:
            raise DaemonUnavailable(ENDED) from None  # what it said before can still be read

    def _receive(self, remaining: float, timeout: float) -> bytes:
        try:
            self._sock.settimeout(remaining)
            data = self._sock.recv(READ_BYTES)
        except (TimeoutError, BlockingIOError):  # with 0 s the socket does not block
            raise CallTimeout(f"the daemon did not answer within {timeout:g} s") from None
        except OSError:
            data = b""
        if not data:
            self.close()
            raise DaemonUnavailable(ENDED)
        return data
