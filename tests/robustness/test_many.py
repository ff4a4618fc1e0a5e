"""A thousand connections, two thousand sessions and a client that never reads cost a good client little, and
leave nothing behind."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.client import Client
from tests.robustness.forge import Forge, ForgedDaemon
from tests.robustness.fuzz import descriptors, resident_kib
from tests.robustness.good_client import Report, good_client
from tests.robustness.messages import request, take_messages
from tests.support.notes import note
from tests.support.polling import poll

CONNECTIONS = 1_000
SESSIONS = 2_000
WINDOWS = 3
RECALLS = 300
"""Of a window."""

MOST_TIMES_P99 = 3.0
LEAST_P99_MS = 2.0
"""What a p99 alone counts as at least: three times less would be within the noise of the machine."""

MOST_GROWTH_KIB = 16 * 1024
"""Of the resident memory between the first crowd's end and the second's: noise of the allocator. A connection
that stays takes 20 KiB, and what the deaf client left unread 16 MiB."""

WAIT_S = 60.0


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[ForgedDaemon]:
    """A daemon with some notes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4_096)), hard))
    try:
        with Forge() as forge:
            daemon = ForgedDaemon(forge, tmp_path / "home")
            for number in range(50):
                subject = "walrus" if number < 5 else f"subject{number}"
                text = note(f"Note {number}", f"about the {subject}", "word " * 250)
                daemon.write_note("project", f"{number}.md", text)
            with contextlib.closing(daemon):
                daemon.start()
                daemon.wait_until_read(50)
                yield daemon
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def status_of(daemon: ForgedDaemon) -> dict[str, object]:
    """The daemon's status."""
    with Client.connect(str(daemon.socket), call_timeout=WAIT_S) as client:
        return dict(client.status())


def connected(daemon: ForgedDaemon) -> socket.socket:
    """A blocking connection."""
    raw = socket.socket(socket.AF_UNIX)
    raw.connect(str(daemon.socket))  # with a time limit it would fail where others wait for their turn
    raw.settimeout(WAIT_S)
    return raw


def measured(daemon: ForgedDaemon) -> Report:
    """One window of a good client's waits."""
    with good_client(daemon.socket, daemon.project, "walrus", RECALLS) as client:
        return client.finish()


@contextlib.contextmanager
def deaf_client(daemon: ForgedDaemon) -> Iterator[threading.Event]:
    """Asks on and on, five thousand recalls at once, and never reads; once it is dropped, it comes again."""
    ended, dropped = threading.Event(), threading.Event()
    recalls = b"".join(
        request(
            number,
            "recall/start",
            sessionId=f"deaf {number}",
            query="walrus",
            projectRoot=str(daemon.project),
        )
        for number in range(5_000)
    )

    def ask() -> None:
        while not ended.is_set():
            with connected(daemon) as raw:
                raw.settimeout(0.1)
                unsent = memoryview(recalls)
                while not ended.is_set():
                    try:
                        unsent = unsent[raw.send(unsent) :] or memoryview(recalls)
                    except TimeoutError:
                        continue
                    except OSError:
                        dropped.set()
                        break

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield dropped
    finally:
        ended.set()
        thread.join(WAIT_S)


def visit(daemon: ForgedDaemon, crowd: contextlib.ExitStack) -> None:
    """A thousand connections, which open two sessions each and then stay where they are."""
    connections = [crowd.enter_context(connected(daemon)) for _ in range(CONNECTIONS)]
    for number, raw in enumerate(connections):
        for msg_id in range(SESSIONS // CONNECTIONS):
            session = f"crowd {number}/{msg_id}"
            raw.sendall(
                request(
                    msg_id, "recall/start", sessionId=session, query="walrus", projectRoot=str(daemon.project)
                )
            )
    for raw in connections:
        arrived = bytearray()
        answered = 0
        while answered < SESSIONS // CONNECTIONS:
            data = raw.recv(1 << 16)
            assert data, "the daemon has closed the connection"
            arrived += data
            for message in take_messages(arrived):
                answered += "outcome" in json.dumps(message.get("result", ""))


def p99(windows: list[Report]) -> float:
    """The median of the windows' p99: one disturbed window says nothing."""
    return statistics.median(window.percentile(0.99) for window in windows)


def test_a_crowd_costs_a_good_client_little_and_leaves_nothing_behind(crowded):
    with contextlib.ExitStack() as first, deaf_client(crowded) as dropped:
        visit(crowded, first)  # whatever is kept once is kept from here on
        assert dropped.wait(WAIT_S), "a client that does not read goes on for ever"
    poll(lambda: status_of(crowded)["connections"] == 1, "the first crowd has gone")
    opened, memory = descriptors(crowded), resident_kib(crowded)

    alone = [measured(crowded) for _ in range(WINDOWS)]
    with contextlib.ExitStack() as crowd:
        visit(crowded, crowd)
        with deaf_client(crowded):
            among = [measured(crowded) for _ in range(WINDOWS)]
        status = status_of(crowded)
        assert status["connections"] >= CONNECTIONS
        assert status["sessions"] >= SESSIONS
    ratio = p99(among) / max(p99(alone), LEAST_P99_MS)
    print(f"alone: p99 {p99(alone):.2f} ms; among the crowd: p99 {p99(among):.2f} ms; ratio {ratio:.2f}")
    assert ratio <= MOST_TIMES_P99

    poll(lambda: status_of(crowded)["connections"] == 1, "the crowd has gone")
    poll(lambda: descriptors(crowded) <= opened, "the descriptors are closed")
    grown = resident_kib(crowded) - memory
    print(f"grown by {grown} KiB")
    assert grown < MOST_GROWTH_KIB
