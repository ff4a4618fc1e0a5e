"""A fuzzer on the real socket: frames of all kinds, spoilt in all ways, many to a write.

Every batch ends with a question that must be answered, and some after that with a stream that breaks. All
that is sent follows from the seed.

    python -m tests.robustness.fuzz --frames 2000000 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memrecalld.server.messages import METHODS
from tests.robustness.forge import Forge, ForgedDaemon
from tests.robustness.messages import request, take_messages
from tests.support.notes import note
from tests.support.wire import frame

BATCH = 50
"""Frames to a write."""
ANSWER_S = 30.0
"""A daemon that does not answer the question at the end of a batch within this hangs."""
SESSIONS = 50

_SIZES = (
    0,
    1,
    255,
    256,
    4095,
    4096,
    4097,
    65_535,
    65_536,
    4_194_303,
    4_194_304,
    4_194_305,
    67_108_865,
    2**63,
)
_NUMBERS = (b"0", b"-1", b"1e999", b"1.5", b"9" * 40, b"true", b"null", b"NaN", b'""', b"[]", b"{}")
_TEXT = "how do we deploy the flamingo to production on a friday " * 4
_METHODS = tuple(METHODS)
_NAMES = (
    "id",
    "method",
    "params",
    "result",
    "error",
    "jsonrpc",
    "sessionId",
    "agentId",
    "query",
    "projectRoot",
)
_NAMES += (
    "turnId",
    "toolName",
    "recentTools",
    "excludeLayouts",
    "detached",
    "limit",
    "path",
    "event",
    "added",
)
_BYTES = (
    b"\0",
    b"\xff",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\r\n",
    b"\xed\xa0\x80",
    b"\\ud800",
)


def corpus(project: Path) -> list[bytes]:
    """Bodies as clients send them, all methods of the vocabulary."""
    messages: list[dict[str, object]] = []

    def add(method: str, *, asks: bool = True, **params: object) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        messages.append(message | ({"id": len(messages)} if asks else {}))

    root = str(project)
    for number in range(3):
        session = f"fuzz {number}"
        add("recall/start", sessionId=session, query="how do we deploy", projectRoot=root)
        add("recall/start", sessionId=session, query="flamingo", projectRoot=root, agentId="a", detached=True)
        add(
            "recall/start",
            sessionId=session,
            query="部署 deploy",
            recentTools=["grep"],
            excludeLayouts=["qwen"],
        )
        add("recall/toolResult", sessionId=session, toolName="grep")
        add("recall/end", asks=False, sessionId=session, turnId="0123456789abcdef")
        add("recall/reset", sessionId=session)
    folders = [{"uri": project.as_uri(), "name": "p"}]
    ours = {"memrecall": {"selector": True, "observe": True}}
    add("initialize", processId=None, workspaceFolders=folders, capabilities={}, initializationOptions=ours)
    add("initialized", asks=False)
    add("workspace/didChangeWorkspaceFolders", asks=False, event={"added": folders, "removed": []})
    add("$/cancelRequest", asks=False, id=3)
    add("memory/search", query="deploy", projectRoot=root, limit=7)
    add("memory/list", projectRoot=root)
    add("memory/read", path=f"{root}/x.md", projectRoot=root)
    add("daemon/status", projectRoot=root)
    add("shutdown")
    add("exit", asks=False)
    messages.append({"jsonrpc": "2.0", "id": "an answer", "result": {"selected": ["m1"]}})
    messages.append({"jsonrpc": "2.0", "id": "an error", "error": {"code": 1, "message": "x"}})
    return [json.dumps(message, ensure_ascii=False).encode() for message in messages]


class Fuzzer:
    """Sends batches on one connection after the other."""

    def __init__(self, path: Path, project: Path, seed: int) -> None:
        self.sent: Counter[str] = Counter()
        """Frames by the way in which they were spoilt."""
        self.received: Counter[str] = Counter()
        """Answers by error code, ``result``, or method."""
        self.connections = 0
        self._path = str(path)
        self._random = random.Random(seed)
        self._corpus = corpus(project)
        self._ids = itertools.count(1)
        self._socket: socket.socket | None = None

    def run(self, frames: int) -> None:
        """Send at least so many frames, all of which the daemon has read at the end."""
        try:
            while self.sent.total() < frames:
                self.batch()
        finally:
            self.hang_up()

    def send(self, bodies: Sequence[bytes]) -> None:
        """Send these, and hear that they were taken well."""
        self.sent["given"] += len(bodies)
        question = f"question {next(self._ids)}"
        data = b"".join(map(frame, bodies)) + request(question, "no/such/method")
        self._exchange(data, question, broken=False)

    def batch(self) -> None:
        """Send one batch, and hear that it was taken well."""
        broken = self._random.random() < 0.3
        data = b"".join(self._frame() for _ in range(BATCH - broken))
        question = f"question {next(self._ids)}"
        # After a good "shutdown" the question is refused, which is an answer too.
        data += request(question, "no/such/method")
        if broken:
            data += self._broken_frame()
        self._exchange(data, question, broken=broken)

    # Frames ---------------------------------------------------------------------------------------

    def _frame(self) -> bytes:
        """A frame whose length is right, whatever is in it."""
        body = self._random.choice(self._corpus)
        bytewise = (self._flip, self._cut, self._splice, self._insert, self._repeat, self._number)
        way = self._field if self._random.random() < 0.5 else self._random.choice(bytewise)
        if b'"exit"' in body and self._random.random() < 0.9:
            body = self._corpus[0]
        self.sent[way.__name__.strip("_")] += 1
        return self._header(way(body))

    def _header(self, body: bytes) -> bytes:
        if self._random.random() < 0.8:
            return frame(body)
        length = b"%d" % len(body)
        return (
            self._random.choice(
                (
                    b"content-length:%b\r\n\r\n" % length,
                    b"Content-Length: 000%b  \r\n\r\n" % length,
                    b"Content-Type: x/y; charset=utf-8\r\nContent-Length: %b\r\n\r\n" % length,
                    b"Content-Length: %b\r\nContent-Length: %b\r\n\r\n" % (length, length),
                    b"X: " + b"x" * self._random.randrange(3000) + b"\r\nContent-Length: %b\r\n\r\n" % length,
                )
            )
            + body
        )

    def _broken_frame(self) -> bytes:
        """Something after which the stream cannot be followed, or is not finished."""
        self.sent["broken"] += 1
        body = self._random.choice(self._corpus)
        return self._random.choice(
            (
                lambda: self._flip(frame(body)[:24]) + body,
                lambda: b"Content-Length: %d\r\n\r\n" % self._random.choice(_SIZES) + body,
                lambda: frame(body)[: self._random.randrange(1, 30 + len(body))],
                lambda: body,
                lambda: self._random.randbytes(self._random.randrange(1, 5000)),
                lambda: b"Content-Length: %b\r\n\r\n" % self._random.choice(_NUMBERS) + body,
            )
        )()

    def _flip(self, data: bytes) -> bytes:
        spoilt = bytearray(data)
        for _ in range(self._random.choice((1, 1, 1, 2, 8))):
            spoilt[self._random.randrange(len(spoilt))] ^= 1 << self._random.randrange(8)
        return bytes(spoilt)

    def _cut(self, data: bytes) -> bytes:
        return data[: self._random.randrange(len(data))]

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._corpus)
        return data[: self._random.randrange(len(data))] + other[self._random.randrange(len(other)) :]

    def _insert(self, data: bytes) -> bytes:
        at = self._random.randrange(len(data))
        return data[:at] + self._random.choice(_BYTES) * self._random.choice((1, 1, 2, 300)) + data[at:]

    def _repeat(self, data: bytes) -> bytes:
        start = self._random.randrange(len(data))
        part = data[start : start + self._random.randrange(1, 40)]
        return data[:start] + part * self._random.randrange(2, 60) + data[start:]

    def _number(self, data: bytes) -> bytes:
        """One value of the message replaced by another kind of value."""
        parts = data.split(b": ")
        at = self._random.randrange(1, len(parts)) if len(parts) > 1 else 0
        value, comma, rest = parts[at].partition(b",")
        ending = b"}" * (len(value) - len(value.rstrip(b"}")))
        parts[at] = self._random.choice(_NUMBERS) + ending + comma + rest
        return b": ".join(parts)

    def _field(self, data: bytes) -> bytes:
        """A message with a field or two that are gone, new, of another kind, or from another message."""
        message = json.loads(data)
        for _ in range(self._random.choice((1, 1, 2))):
            holder = message
            while True:
                inner = [each for each in holder.values() if isinstance(each, dict) and each]
                if not inner or self._random.random() < 0.3:
                    break
                holder = self._random.choice(inner)
            name = self._random.choice([*holder, self._random.choice(_NAMES)])
            if self._random.random() < 0.2:
                holder.pop(name, None)
            else:
                holder[name] = self._value()
            if not message:
                break
        return json.dumps(message, ensure_ascii=self._random.random() < 0.5).encode("utf-8", "surrogatepass")

    def _value(self) -> object:
        kind = self._random.randrange(8)
        match kind:
            case 0:
                return self._random.choice(
                    (None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**70), float("inf"))
                )
            case 1:
                return self._random.choice(
                    ("", "s", "deploy", "flamingo", "\0", "漢字", "\ud800", "/", "..", "m1")
                )
            case 2:
                return self._random.choice((_TEXT, _TEXT * 20, "x" * 1024, "x" * 1025, "漢" * 4097))
            case 3:
                return [self._value() for _ in range(self._random.randrange(4))]
            case 4:
                return {self._random.choice(_NAMES): self._value() for _ in range(self._random.randrange(4))}
            case 5:
                return f"fuzz {self._random.randrange(SESSIONS)}"
            case 6:
                return json.loads(b"[" * 50 + b"]" * 50)
            case _:
                return self._random.choice(_METHODS)

    # The socket -----------------------------------------------------------------------------------

    def _exchange(self, data: bytes, question: str, *, broken: bool) -> None:
        connection = self._connection()
        until = time.monotonic() + ANSWER_S
        arrived = bytearray()
        answered = False
        unsent = memoryview(data)
        connection.settimeout(0.0)
        while unsent or not answered:
            if time.monotonic() > until:
                raise AssertionError("the daemon does not answer")
            try:
                if unsent:
                    unsent = unsent[connection.send(unsent) :]
            except BlockingIOError:
                pass
            except ConnectionError:
                unsent = unsent[:0]
            answered = self._receive(connection, arrived, question, wait=not unsent) or answered
            if self._socket is None:  # the daemon closed it, as it may: there was an "exit" in it, or worse
                return
        if broken:
            self.hang_up()

    def _receive(self, connection: socket.socket, arrived: bytearray, question: str, *, wait: bool) -> bool:
        connection.settimeout(ANSWER_S if wait else 0.0)
        try:
            data = connection.recv(1 << 18)
        except BlockingIOError:
            return False
        except TimeoutError:
            raise AssertionError("the daemon does not answer") from None
        except ConnectionError:
            data = b""
        connection.settimeout(0.0)
        if not data:
            self.hang_up()
            return False
        arrived += data
        answered = False
        for message in take_messages(arrived):
            assert message["jsonrpc"] == "2.0"
            if "method" in message:
                self.received[message["method"]] += 1
            elif "error" in message:
                self.received[str(message["error"]["code"])] += 1
                assert message["error"]["code"] != -32603, "the daemon has reported a fault of its own"
            else:
                self.received["result"] += 1
            answered = answered or message.get("id") == question
        return answered

    def _connection(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(self._path)
            self.connections += 1
        return self._socket

    def hang_up(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


@contextlib.contextmanager
def fuzzed_daemon(home: Path) -> Iterator[ForgedDaemon]:
    """A daemon that may ask its clients for a choice, with notes that match what the fuzzer asks."""
    with Forge() as forge:
        daemon = ForgedDaemon(forge, home, '[selector]\nkind = "client"\n')
        for number in range(30):
            subject = "how to deploy" if number < 5 else "the flamingo" if number < 10 else f"subject{number}"
            daemon.write_note("project", f"{number}.md", note(f"Note {number}", f"about {subject}"))
        with contextlib.closing(daemon):
            daemon.start()
            daemon.wait_until_read(30)
            yield daemon


def resident_kib(daemon: ForgedDaemon) -> int:
    """Resident memory."""
    status = Path(f"/proc/{daemon.pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def descriptors(daemon: ForgedDaemon) -> int:
    """Open files, sockets and the like."""
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def main() -> None:
    """Fuzz a daemon, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.fuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder, fuzzed_daemon(Path(folder, "home")) as daemon:
        fuzzer = Fuzzer(daemon.socket, daemon.project, arguments.seed)
        started = time.monotonic()
        for tenth in range(1, 11):
            fuzzer.run(arguments.frames * tenth // 10)
            print(
                f"{fuzzer.sent.total()} frames on {fuzzer.connections} connections in "
                f"{time.monotonic() - started:.0f} s: {resident_kib(daemon)} KiB resident, "
                f"{descriptors(daemon)} descriptors",
                flush=True,
            )
    print("sent:", dict(fuzzer.sent))
    print("received:", dict(fuzzer.received))


if __name__ == "__main__":
    main()
