"""Whatever comes over the socket: no crash, no hang, no growth, and the others are served as always."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrecalld.client import Client
from tests.robustness.forge import ForgedDaemon
from tests.robustness.fuzz import Fuzzer, corpus, descriptors, fuzzed_daemon, resident_kib
from tests.robustness.good_client import good_client
from tests.support.daemon import make_repository
from tests.support.notes import note
from tests.support.polling import poll

FRAMES = int(os.environ.get("FUZZ_FRAMES", "200000"))
WARM_UP = 20_000
"""Frames after which everything that is kept once is there: code, caches, the sessions that are held."""

MOST_GROWTH_KIB = 24 * 1024
"""Of the resident memory after the warm-up: the sessions that are held at most are a few MiB, and what the
allocator keeps is as much again. A hundred and fifty bytes lost for each frame would be more."""

SPARE_DESCRIPTORS = 4
"""What SQLite keeps for its next use, and a thread that reads notes just then."""

WAIT_MS = 100.0


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForgedDaemon]:
    """The daemon to fuzz."""
    with fuzzed_daemon(tmp_path_factory.mktemp("fuzzed") / "home") as daemon:
        yield daemon


def connections(daemon: ForgedDaemon) -> int:
    """Open connections, the one that asks among them."""
    with Client.connect(str(daemon.socket)) as client:
        return client.status()["connections"]


def test_two_hundred_thousand_spoilt_frames_leave_no_trace_and_hold_up_nobody(fuzzed):
    seed = int(os.environ.get("FUZZ_SEED", "2024"))
    print(f"seed {seed}")
    fuzzer = Fuzzer(fuzzed.socket, fuzzed.project, seed)
    # A project of its own: that others have the daemon look through theirs again and again is no fault.
    other = fuzzed.home / "other"
    make_repository(other)
    for number in range(30):
        path = fuzzed.notes_of(other) / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        subject = "walrus" if number < 2 else f"subject{number}"  # a word of all notes would find none
        path.write_text(note(f"Note {number}", f"about the {subject}"), encoding="utf-8")
    fuzzer.run(WARM_UP)
    poll(lambda: connections(fuzzed) == 1, "the connections of the warm-up are closed")
    opened, memory = descriptors(fuzzed), resident_kib(fuzzed)
    with good_client(fuzzed.socket, other, "walrus") as client:
        fuzzer.run(FRAMES)
        report = client.end()
    print(f"{fuzzer.sent.total()} frames on {fuzzer.connections} connections: {dict(fuzzer.received)}")
    print(report)
    assert report.percentile(0.999) < WAIT_MS
    poll(lambda: connections(fuzzed) == 1, "the connections are closed")
    assert descriptors(fuzzed) <= opened + SPARE_DESCRIPTORS
    assert resident_kib(fuzzed) - memory < MOST_GROWTH_KIB
    # It was no fuzzer of parse errors alone.
    assert {"result", "recall/fast", "recall/select", "-32601", "-32602", "-32600", "-32700"} <= set(
        fuzzer.received
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def spoilt_messages(draw: st.DrawFn) -> bytes:
    """A message as a client sends it, but for one of its fields."""
    message = json.loads(draw(st.sampled_from(corpus(Path("/nonexistent/project")))))
    holder = message
    if isinstance(message.get("params"), dict) and message["params"] and draw(st.booleans()):
        holder = message["params"]
    name = draw(st.sampled_from(sorted(holder)) | st.text(max_size=8))
    if draw(st.integers(0, 4)):
        holder[name] = draw(JSON)
    else:
        holder.pop(name, None)
    return json.dumps(message).encode()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(spoilt_messages(), min_size=1, max_size=20))
def test_messages_with_a_spoilt_field_are_answered_well(fuzzed, bodies):
    fuzzer = Fuzzer(fuzzed.socket, fuzzed.project, seed=0)
    try:
        fuzzer.send(bodies)
    finally:
        fuzzer.hang_up()
