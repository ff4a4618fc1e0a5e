"""A client that does nothing but measure: blocking, no threads, no library in between."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.support.polling import poll

WAIT_S: Final = 600.0


class Wire:
    """One connection to the daemon."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(WAIT_S)
        self._socket.connect(str(path))
        self._received = b""
        self._number = 0
        self.request_bytes = 0
        """Length of the last message to the daemon, head and body; after ``recall``, of ``recall/start``."""
        self.answer_bytes = 0
        """Length of the last message, head and body; after ``recall``, of ``recall/fast``."""

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, method: str, params: dict[str, Any]) -> int:
        """Send a request and return its id."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def outcome(self, fast: dict[str, Any]) -> dict[str, Any]:
        """The response to a ``recall/start``, whose turn is ended where it waits for a tool result."""
        if fast["pending"]:
            key = {"sessionId": fast["sessionId"], "turnId": fast["turnId"]}
            self._send({"jsonrpc": "2.0", "method": "recall/end", "params": key})
        response = self.receive()
        assert response["id"] == fast["requestId"], response
        return response

    def receive(self) -> dict[str, Any]:
        """The next message."""
        while b"\r\n\r\n" not in self._received:
            self._received += self._some()
        head, _, rest = self._received.partition(b"\r\n\r\n")
        length = int(head.rpartition(b":")[2])
        while len(rest) < length:
            rest += self._some()
        self._received = rest[length:]
        self.answer_bytes = len(head) + 4 + length
        message: dict[str, Any] = json.loads(rest[:length])
        return message

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; notifications on the way are passed over."""
        number = self.send(method, params)
        while (message := self.receive()).get("id") != number:
            pass
        result: dict[str, Any] = message["result"]
        return result

    def recall(self, query: str, project: Path) -> tuple[float, dict[str, Any]]:
        """One turn of a new session: seconds from start to fast, and the fast result."""
        params = {"sessionId": os.urandom(8).hex(), "query": query, "projectRoot": str(project)}
        started = time.perf_counter()
        self.send("recall/start", params)
        fast = self.receive()
        waited = time.perf_counter() - started
        answer_bytes, request_bytes = self.answer_bytes, self.request_bytes
        assert fast["method"] == "recall/fast", fast
        self.outcome(fast["params"])
        self.answer_bytes, self.request_bytes = answer_bytes, request_bytes
        return waited, fast["params"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False).encode()
        frame = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        self.request_bytes = len(frame)
        self._socket.sendall(frame)

    def _some(self) -> bytes:
        data = self._socket.recv(1 << 16)
        assert data, "the daemon closed the connection"
        return data


class EchoServer:
    """The bare echo in a process of its own."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", "tests.benchmarks.echo", str(path)])
        poll(path.exists, "the echo's socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        poll(lambda: self._socket.connect_ex(str(path)) == 0, "the echo")

    def round_trip(self, request_bytes: int, answer_bytes: int) -> float:
        """Seconds from sending so many bytes to having received so many."""
        head = b"Content-Length: %d\r\nAnswer-Bytes: %d\r\n\r\n"
        size = max(0, request_bytes - len(head % (request_bytes, answer_bytes)))
        frame = head % (size, answer_bytes) + bytes(size)
        left = answer_bytes
        started = time.perf_counter()
        self._socket.sendall(frame)
        while left:
            left -= len(self._socket.recv(1 << 16))
        return time.perf_counter() - started

    def close(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()
