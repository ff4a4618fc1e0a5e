"""Many daemons started at once on one socket: one serves, and all clients are served by it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from memrecalld.client import Client, ClientError
from tests.support.daemon import START_S, STOP_S, DaemonProcess
from tests.support.polling import poll

STARTED = 20
ALREADY_SERVED = 4

# A start is mostly imports: they are done once, and the daemons begin together.
RACE = f"""
import os, sys
from memrecalld.server.main import main
go, start = os.pipe()
children = []
for _ in range({STARTED}):
    child = os.fork()
    if child == 0:
        os.close(start)
        os.read(go, 1)
        os._exit(main(["--socket", sys.argv[1]]))
    children.append(child)
os.close(start)
print(*(os.waitstatus_to_exitcode(os.wait()[1]) for _ in children[1:]), flush=True)
print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@pytest.fixture
def place(tmp_path):
    daemon = DaemonProcess(tmp_path / "home")
    yield daemon
    daemon.close()


def served_by(socket):
    """Process id of the daemon that answers a client which tries until one does."""
    found = []

    def answered():
        try:
            with Client.connect(str(socket), call_timeout=START_S) as client:
                found.append(client.status()["pid"])
        except ClientError:
            return False
        return True

    poll(answered, "a client is served")
    return found[0]


def test_of_twenty_started_at_once_one_is_left_and_serves_every_client(place):
    process = subprocess.Popen(
        [sys.executable, "-c", RACE, str(place.socket)],
        env=place.environment,
        cwd=place.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        with ThreadPoolExecutor(STARTED) as pool:
            served = set(pool.map(served_by, [place.socket] * STARTED))
        assert len(served) == 1
        lost = process.stdout.readline().split()
        assert lost == [str(ALREADY_SERVED)] * (STARTED - 1)
        assert served_by(place.socket) in served
        subprocess.run(["kill", str(served.pop())], check=True)
        out, err = process.communicate(timeout=STOP_S)
    assert out.strip() == "0"
    assert err.count("another memrecalld serves") == STARTED - 1
    assert not place.socket.exists()
