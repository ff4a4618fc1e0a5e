"""A client that does nothing wrong, in a process of its own: how long does it wait for each recall?

The same process asks the kernel for how long the daemon and itself could have run meanwhile and were not let:
that is the machine's doing (``/proc/PID/task/TID/schedstat``, proc(5): the second number, nanoseconds).

    python -m tests.robustness.good_client SOCKET PROJECT QUERY RECALLS

ends after so many recalls, or when its standard input is closed, and prints a report.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.robustness.messages import request, take_messages
from tests.support.daemon import REPOSITORY

_UCRED = struct.Struct("iII")
PAUSE_S = 0.003
"""Between two recalls."""
_WAIT_S = 60.0


class Report(NamedTuple):
    """Waits in milliseconds, in order; and each less the time in which the machine was busy with others."""

    waits: list[float]
    of_the_daemon: list[float]

    def percentile(self, share: float) -> float:
        """Of the daemon's part, by the nearest-rank method."""
        return sorted(self.of_the_daemon)[math.ceil(share * len(self.waits)) - 1]

    def __str__(self) -> str:
        shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
        shown = ", ".join(f"{name} {self.percentile(share):.1f} ms" for name, share in shares.items())
        return (
            f"{len(self.waits)} recalls: {shown} (max with the machine's own delays {max(self.waits):.1f} ms)"
        )


class GoodClient:
    """The process."""

    def __init__(self, path: Path, project: Path, query: str, recalls: int) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.robustness.good_client",
                str(path),
                str(project),
                query,
                str(recalls),
            ],
            cwd=REPOSITORY,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def finish(self) -> Report:
        """Let it make all of its recalls, and hear how it went."""
        self._process.wait(_WAIT_S)
        return self.end()

    def end(self) -> Report:
        """Let it end now, and hear how it went."""
        output, _ = self._process.communicate(timeout=_WAIT_S)
        assert self._process.returncode == 0, "the good client was served badly"
        return Report(*json.loads(output))


@contextlib.contextmanager
def good_client(path: Path, project: Path, query: str, recalls: int = 10**9) -> Iterator[GoodClient]:
    """A good client that is gone at the end, whatever happens."""
    client = GoodClient(path, project, query, recalls)
    try:
        yield client
    finally:
        client._process.kill()
        client._process.wait()


def _work(path: str, project: str, query: str, recalls: int) -> Report:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    waits: list[float] = []
    of_the_daemon: list[float] = []
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_WAIT_S)
        connection.connect(path)
        (daemon, *_) = _UCRED.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        )
        arrived = bytearray()
        for number in range(recalls):
            if ended.is_set():
                break
            session = f"good {os.getpid()} {number}"
            start = request(number, "recall/start", sessionId=session, query=query, projectRoot=project)
            held_up = _held_up_ns(daemon)
            began = time.perf_counter_ns()
            connection.sendall(start)
            _expect(connection, arrived, number)
            wait = time.perf_counter_ns() - began
            now_held_up = _held_up_ns(daemon)
            waits.append(wait / 1e6)
            others = sum(
                now_held_up[each] - before for each, before in held_up.items() if each in now_held_up
            )
            of_the_daemon.append(max(0, wait - others) / 1e6)
            connection.sendall(request(f"end {number}", "recall/reset", sessionId=session))
            _expect(connection, arrived, f"end {number}")
            ended.wait(PAUSE_S)
    return Report(waits, of_the_daemon)


def _expect(connection: socket.socket, arrived: bytearray, wanted: int | str) -> None:
    """Read until ``recall/fast`` or the response ``wanted`` is there."""
    while True:
        for message in take_messages(arrived):
            if message.get("params", {}).get("requestId", message.get("id")) == wanted:
                return
        data = connection.recv(1 << 16)
        assert data, "the daemon has closed the connection"
        arrived += data


def _held_up_ns(daemon: int) -> dict[str, int]:
    """For how long each thread of the daemon and of this process waited for a processor so far."""
    held_up = {}
    for pid in (daemon, os.getpid()):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                held_up[thread] = int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_bytes().split()[1])
    return held_up


if __name__ == "__main__":
    print(json.dumps(_work(*sys.argv[1:4], int(sys.argv[4]))))
