"""The round of checks, with a clock that stands still until it is told to go on."""

from __future__ import annotations

import itertools

import pytest

from memrecalld.server.upkeep import CHECK_S, Upkeep
from tests.recall.world import FakeClock

IDLE_S = 100 * CHECK_S


class Kept:
    """A daemon that is what a test makes it."""

    def __init__(self, clock):
        self.status_line = "connections: 0"
        self.busy = False
        self.last_used = clock.monotonic()
        self.reachable = True
        self.restored = 0
        self.stopped = 0
        self.looked_after = 0

    def look_after_record(self):
        self.looked_after += 1

    def restore(self):
        self.restored += 1

    def stop(self):
        self.stopped += 1


class Manager:
    """Remembers what it is told, and when."""

    def __init__(self, clock, watchdog_s=None):
        self.watchdog_s = watchdog_s
        self.lines = []
        self.heard_of = []
        self._clock = clock

    def status(self, text):
        self.lines.append(text)

    def alive(self):
        self.heard_of.append(self._clock.monotonic())


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def kept(clock):
    return Kept(clock)


def looking_after(kept, clock, *, watchdog_s=None, idle_s=None):
    manager = Manager(clock, watchdog_s)
    return Upkeep(kept, clock=clock, manager=manager, idle_s=idle_s), manager


@pytest.mark.parametrize("watchdog_s", [0.5, 2.0, 30.0, 3600.0])
def test_the_manager_hears_of_the_daemon_at_least_twice_within_its_patience(kept, clock, watchdog_s):
    upkeep, manager = looking_after(kept, clock, watchdog_s=watchdog_s)
    clock.advance(10 * watchdog_s)
    times = [1000.0, *manager.heard_of]
    assert max(after - before for before, after in itertools.pairwise(times)) <= watchdog_s / 2
    upkeep.close()


def test_the_status_is_told_when_it_changes(kept, clock):
    _, manager = looking_after(kept, clock)
    clock.advance(3 * CHECK_S)
    kept.status_line = "connections: 1"
    clock.advance(3 * CHECK_S)
    assert manager.lines == ["connections: 0", "connections: 1"]


def test_a_lost_path_is_restored_within_one_round(kept, clock):
    looking_after(kept, clock)
    clock.advance(CHECK_S)
    assert kept.restored == 0
    kept.reachable = False
    clock.advance(CHECK_S)
    assert kept.restored == 1


def test_the_record_is_looked_after_in_each_round(kept, clock):
    looking_after(kept, clock)
    clock.advance(3 * CHECK_S)
    assert kept.looked_after == 4


def test_nothing_is_done_after_the_end(kept, clock):
    upkeep, manager = looking_after(kept, clock, watchdog_s=1.0)
    upkeep.close()
    clock.advance(100.0)
    assert (manager.heard_of, clock.pending) == ([], 0)


def test_an_unused_daemon_leaves_once_it_was_unused_for_long_enough(kept, clock):
    looking_after(kept, clock, idle_s=IDLE_S)
    clock.advance(IDLE_S - CHECK_S)
    assert kept.stopped == 0
    clock.advance(2 * CHECK_S)
    assert kept.stopped > 0


def test_a_daemon_that_is_not_started_on_demand_never_leaves(kept, clock):
    looking_after(kept, clock)
    clock.advance(100 * IDLE_S)
    assert kept.stopped == 0


def test_somebody_connected_or_an_open_turn_keeps_it_and_the_time_begins_anew_afterwards(kept, clock):
    looking_after(kept, clock, idle_s=IDLE_S)
    kept.busy = True
    clock.advance(10 * IDLE_S)
    kept.busy = False
    clock.advance(IDLE_S - CHECK_S)
    assert kept.stopped == 0
    clock.advance(2 * CHECK_S)
    assert kept.stopped > 0


def test_a_visit_between_two_rounds_counts(kept, clock):
    looking_after(kept, clock, idle_s=IDLE_S)
    for _ in range(10):
        clock.advance(IDLE_S * 0.7)
        kept.last_used = clock.monotonic()
    assert kept.stopped == 0
