"""Counters, percentiles, and what is failing at the moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.recall.session import DeliveryId, Entry, SessionKey
from memrecalld.recall.store import SQLiteStore
from memrecalld.telemetry import Telemetry
from tests.recall.world import FakeClock
from tests.support.polling import poll


def test_without_a_wait_there_are_no_percentiles() -> None:
    latency = Telemetry().latency()
    assert (latency.samples, latency.p50, latency.max) == (0, 0.0, 0.0)


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    telemetry = Telemetry()
    for wait in range(200, 0, -1):
        telemetry.waited(float(wait))
    latency = telemetry.latency()
    assert (latency.samples, latency.p50, latency.p90, latency.p99, latency.max) == (200, 100, 180, 198, 200)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_each_percentile_is_a_wait_that_no_more_than_its_share_exceeds(waits: list[float]) -> None:
    telemetry = Telemetry()
    for wait in waits:
        telemetry.waited(wait)
    latency = telemetry.latency()
    for share, value in ((0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99), (1.0, latency.max)):
        assert value in waits
        assert sum(wait > value for wait in waits) <= (1 - share) * len(waits) + 1e-9
    assert latency.p50 <= latency.p90 <= latency.p99 <= latency.max


def test_only_the_last_waits_count_however_many_there_were() -> None:
    telemetry = Telemetry()
    for _ in range(3_000):
        telemetry.waited(1e6)
    for _ in range(2_048):
        telemetry.waited(1.0)
    latency = telemetry.latency()
    assert (latency.samples, latency.max) == (2_048, 1.0)


@pytest.mark.parametrize("reason", ["timeout", "http-500", "no-choice"])
def test_a_selector_is_failing_after_three_failures_in_a_row_and_until_it_answers(reason: str) -> None:
    telemetry = Telemetry()
    for expected in ([], [], ["selector-failing"], ["selector-failing"]):
        telemetry.count("selector.asked")
        telemetry.count(f"selector.failed.{reason}")
        assert telemetry.troubles == expected
    telemetry.count("selector.answered")
    assert telemetry.troubles == []
    assert telemetry.counters[f"selector.failed.{reason}"] == 4


def test_state_is_in_memory_from_a_failure_to_the_recovery() -> None:
    telemetry = Telemetry()
    telemetry.count("state.failed.SQLITE_FULL")
    assert telemetry.troubles == ["state-in-memory"]
    telemetry.count("state.recovered")
    assert telemetry.troubles == []


def test_a_store_that_cannot_write_is_a_trouble_until_it_can(tmp_path: Path) -> None:
    telemetry, clock = Telemetry(), FakeClock()
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o777)
    store = SQLiteStore(folder / "sessions.sqlite", clock, telemetry.count)
    assert telemetry.troubles == ["state-in-memory"]
    entry = Entry(b"c" * 16, DeliveryId(1, 1))
    store.put(SessionKey("s", ""), {b"i" * 16: entry})
    assert telemetry.troubles == ["state-in-memory"]
    folder.chmod(0o700)
    store.put(SessionKey("s", ""), {b"j" * 16: entry})

    def recovered() -> bool:
        store.look_after()
        clock.advance(0)
        return telemetry.troubles == []

    poll(recovered, "the file is there")
    store.close()
    again = SQLiteStore(folder / "sessions.sqlite", clock, telemetry.count)
    assert set(again.load(SessionKey("s", ""))) == {b"i" * 16, b"j" * 16}
    again.close()
