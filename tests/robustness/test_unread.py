"""What all clients together leave unread has a bound: it costs those who leave much, and nobody else."""

from __future__ import annotations

import contextlib
import socket

import pytest

from memrecalld.client import Client
from memrecalld.server.connection import MAX_UNREAD_BYTES, MAX_UNREAD_BYTES_IN_ALL
from tests.robustness.messages import request, take_messages
from tests.support.daemon import START_S
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.wire import WAIT_S

MIB = 1024 * 1024
ID = "x" * 16_000
"""An answer repeats its request's id: nothing makes long answers faster."""

MUCH = MAX_UNREAD_BYTES // 2
"""Far below what costs a client its own connection."""
LITTLE = MIB * 9 // 10


class Deaf:
    """A client that asks and does not read."""

    def __init__(self, path, name):
        self._name = name
        self._asked = 0
        self._raw = socket.socket(socket.AF_UNIX)
        self._raw.settimeout(WAIT_S)
        self._raw.connect(str(path))

    def close(self):
        self._raw.close()

    def ask(self, size):
        """Ask for answers of ``size`` bytes in all, of which the system holds some; then open a session."""
        self._asked = size // len(ID)
        asks = request(ID, "no/such/method") * self._asked + request(0, "recall/reset", sessionId=self._name)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._raw.sendall(asks)

    def gets_all(self):
        """Read everything that there is, and tell whether that is every answer in its order."""
        arrived, ids = bytearray(), []
        with contextlib.suppress(ConnectionResetError):
            while ids[-1:] != [0] and (data := self._raw.recv(MIB)):
                arrived += data
                ids += [message["id"] for message in take_messages(arrived)]
        return ids == [*[ID] * self._asked, 0]


@pytest.fixture
def crowd(daemon):
    """Makes deaf clients."""
    with contextlib.ExitStack() as stack:

        def deaf(name):
            return stack.enter_context(contextlib.closing(Deaf(daemon.socket, name)))

        yield deaf


def test_only_who_leaves_much_is_dropped_while_all_together_leave_too_much(daemon, crowd):
    daemon.write_note("user", "deploy.md", note("Deploy", "how to deploy"))
    daemon.wait_until_read(1)
    names = []
    with Client.connect(str(daemon.socket), call_timeout=START_S) as other:

        def dropped():
            return other.status()["counters"].get("connections.dropped.unread", 0)

        def left(name, size):
            """A client that leaves so much unread, once all of it is, or the client is gone."""
            names.append(name)
            gone_before, client = dropped(), crowd(name)
            client.ask(size)
            poll(
                lambda: dropped() > gone_before or other.status()["sessions"] == len(names) - gone_before,
                name,
            )
            assert [each["title"] for each in other.search("deploy")] == ["Deploy"]
            return client

        much = [left(f"much {number}", MUCH) for number in range(MAX_UNREAD_BYTES_IN_ALL // MUCH)]
        assert dropped() == 0
        while dropped() == 0:
            assert len(much) * MUCH < MAX_UNREAD_BYTES_IN_ALL + 2 * MUCH
            much.append(left(f"much {len(much)}", MUCH))
        too_much = much.pop()

        little = [left(f"little {number}", LITTLE) for number in range(2 * MUCH // LITTLE)]
        assert dropped() == 1
        late = left("late", 4 * LITTLE)
        assert dropped() == 2

        assert all(client.gets_all() for client in [*much, *little])
        assert not too_much.gets_all() and not late.gets_all()
        late = left("later", 4 * LITTLE)
        assert dropped() == 2 and late.gets_all()
