"""The record of what was delivered: bounded by days of use and by count, written again after a failure."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from memrecalld.database import Place
from memrecalld.memory.document import Document
from memrecalld.recall import backlog, maintenance
from memrecalld.recall.backlog import Statement
from memrecalld.recall.record import Record
from memrecalld.recall.session import DeliveredSet, DeliveryId, Entry, Handover, SessionKey
from memrecalld.recall.store import SQLiteStore
from tests.recall.world import FakeClock, note
from tests.support.polling import poll

DAY_S = 86_400


class Clock(FakeClock):
    """A wall clock that is set as one likes."""

    def __init__(self) -> None:
        super().__init__()
        self.day = 20_000

    def now_ns(self) -> int:
        return self.day * DAY_S * 1_000_000_000


class World:
    """One file, and processes that open it one after the other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state" / "sessions.sqlite"
        self.clock = Clock()
        self.counted: Counter[str] = Counter()
        self.held: dict[str, DeliveredSet] = {}
        self.store = self._open()

    def _open(self) -> SQLiteStore:
        store = SQLiteStore(self.path, self.clock, lambda name: self.counted.update([name]))
        store.keep(lambda: ((key(session), each.entries) for session, each in self.held.items()))
        return store

    def restart(self) -> None:
        """Another process."""
        self.store.close()
        self.held.clear()
        self.store = self._open()

    def give(self, session: str, *numbers: int) -> None:
        """Deliver notes to a session."""
        delivery = DeliveryId(number := self.store.next_number(), number)
        self.store.put(key(session), {entry(each): Entry(entry(-each), delivery) for each in numbers})

    def has(self, session: str) -> set[int]:
        """The notes that a session was given."""
        return {int.from_bytes(each, signed=True) for each in self.store.load(key(session))}

    def hold(self, session: str) -> DeliveredSet:
        """Keep a session in memory, as the engine does."""
        self.held[session] = DeliveredSet(key(session), self.store)
        return self.held[session]

    def look(self, what: str, condition: Callable[[], bool]) -> None:
        """Let the store be looked after until something holds."""

        def looked() -> bool:
            self.store.look_after()
            self.clock.advance(0)
            return condition()

        poll(looked, what)

    def found(self, session: str) -> int:
        """How many notes of a session another process would find."""
        other = SQLiteStore(self.path, self.clock, lambda _: None)
        number = len(other.load(key(session)))
        other.close()
        return number

    def break_file(self) -> None:
        """Let every write fail: the table is not there."""
        with sqlite3.connect(self.path) as connection:
            connection.execute("ALTER TABLE delivered RENAME TO away")
        connection.close()

    def mend_file(self) -> None:
        """Undo ``break_file``."""
        with sqlite3.connect(self.path) as connection:
            connection.execute("ALTER TABLE away RENAME TO delivered")
        connection.close()


def key(session: str) -> SessionKey:
    return SessionKey(session, "")


def entry(number: int) -> bytes:
    return number.to_bytes(16, signed=True)


def give(delivered: DeliveredSet, *notes: Document, series: int | None = None) -> Handover:
    """A hand-over, not recorded yet."""
    return delivered.hand_over(notes, delivered.next_delivery(series))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_what_was_delivered_outlives_the_process(world: World) -> None:
    world.give("a", 1, 2)
    world.store.delete(key("a"), [entry(1)])
    world.give("b", 3)
    world.store.clear(key("b"))
    world.restart()
    assert (world.has("a"), world.has("b"), world.has("c")) == ({2}, set(), set())


def test_a_session_is_forgotten_after_ninety_later_days_of_use(world: World) -> None:
    world.give("old", 1)
    for day in range(1, maintenance.KEPT_DAYS + 1):
        world.clock.day += 1
        world.give("in use", day)
        if day < maintenance.KEPT_DAYS:
            world.restart()
            assert world.has("old") == {1}
    world.restart()
    assert world.has("old") == set()
    assert world.has("in use") == set(range(1, maintenance.KEPT_DAYS + 1))


@pytest.mark.parametrize("days", [100, 40_000, -100, -19_999])
def test_a_clock_that_jumps_makes_no_session_old(world: World, days: int) -> None:
    world.give("before", 1)
    world.clock.day += days
    world.restart()
    world.give("meanwhile", 2)
    world.clock.day -= days
    for number in range(5):
        world.restart()
        world.give("after", number)
        world.clock.day += 1
    assert world.has("before") == {1}
    assert world.has("meanwhile") == {2}


def test_beyond_the_count_whole_sessions_are_forgotten_oldest_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KEPT_ENTRIES", 10)
    for number in range(6):
        world.clock.day += 1
        world.give(f"session {number}", *range(3))
    maintenance.maintain(world.path, pruning=True)
    kept = [number for number in range(6) if world.has(f"session {number}")]
    assert kept == [3, 4, 5]
    assert all(len(world.has(f"session {number}")) == 3 for number in kept)


def test_many_changes_are_followed_by_a_look_at_what_is_too_much(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KEPT_ENTRIES", 5)
    monkeypatch.setattr(maintenance, "_CHECKPOINT_EVERY", 2)
    monkeypatch.setattr(maintenance, "_PRUNE_EVERY", 20)
    world.restart()
    world.give("session", *range(3))
    world.clock.day += 1
    numbers = count()

    def forgotten() -> bool:
        world.give("later", next(numbers) % 5)
        return not world.has("session")

    poll(forgotten, "the session is forgotten")
    assert world.has("later") == set(range(5))


def test_a_session_that_goes_on_while_others_are_forgotten_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "KEPT_ENTRIES", 1)
    for number in range(3):
        world.give(f"session {number}", number)
    monkeypatch.setattr(time, "sleep", lambda _: [world.give(f"session {each}", 7) for each in range(3)])
    maintenance.maintain(world.path, pruning=True)
    kept = [world.has(f"session {number}") for number in range(3)]
    assert sorted(map(len, kept)) == [1, 2, 2]


def test_what_cannot_be_written_is_kept_and_written_later(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.give("a", 1, 2)
    world.give("b", 5)
    world.break_file()
    world.give("a", 3)
    world.store.delete(key("a"), [entry(1)])
    world.store.clear(key("b"))
    world.give("b", 6)
    assert world.counted["state.failed.SQLITE_ERROR"] >= 1
    world.mend_file()
    # What is in the file, and what is not in it yet, are one.
    assert (world.has("a"), world.has("b")) == ({2, 3}, {6})
    world.store.look_after()
    world.give("c", 7)
    world.restart()
    assert (world.has("a"), world.has("b"), world.has("c")) == ({2, 3}, {6}, {7})
    said = [record.getMessage() for record in caplog.records]
    assert len([each for each in said if "in memory until" in each]) == 1
    assert len([each for each in said if "written to sessions.sqlite again" in each]) == 1


def test_what_cannot_be_written_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "MAX_CHANGES", 10)
    world.break_file()
    for number in range(20):
        world.give(f"session {number}", *range(3))
    world.mend_file()
    assert [bool(world.has(f"session {number}")) for number in range(20)] == [False] * 17 + [True] * 3


def test_a_file_that_turns_out_damaged_is_set_aside_and_begun_anew(world: World) -> None:
    world.give("a", *range(200))
    world.store.close()
    data = bytearray(world.path.read_bytes())
    world.store = world._open()
    world.path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    assert world.store._record is not None
    world.store._record._connection.execute("PRAGMA shrink_memory")  # what it knows of the file by heart
    world.has("a")
    assert set(world.counted) <= {"state.failed.SQLITE_CORRUPT", "state.failed.SQLITE_NOTADB"}
    assert world.counted
    world.give("b", 1)
    assert world.has("b") == {1}
    world.give("c", 2)
    world.restart()
    assert (world.has("b"), world.has("c")) == ({1}, {2})
    assert world.path.with_name("sessions.sqlite.set-aside").exists()


def test_a_file_with_a_damaged_schema_is_set_aside_and_begun_anew(world: World) -> None:
    world.give("a", 1)
    world.store.close()
    data = world.path.read_bytes()
    assert b"TABLE delivered" in data
    world.path.write_bytes(data.replace(b"TABLE delivered", b"TABL\xff \xfeelivered"))
    world.store = world._open()
    world.give("b", 2)
    assert (world.has("a"), world.has("b")) == (set(), {2})
    assert world.path.with_name("sessions.sqlite.set-aside").exists()


def test_one_session_remembers_a_bounded_number_of_notes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrecalld.recall.session.REMEMBERED_NOTES", 10)
    delivered = DeliveredSet(key("a"), world.store)
    notes = [note(f"note {number}", body=str(number)) for number in range(14)]
    for each in notes:
        give(delivered, each).record()
    assert [each in delivered for each in notes] == [False] * 4 + [True] * 10
    assert len(DeliveredSet(key("a"), world.store)) == 10


def test_a_hand_over_is_in_the_file_when_it_is_recorded_and_not_before(world: World) -> None:
    delivered = DeliveredSet(key("a"), world.store)
    handover = give(delivered, note("deploy"))
    assert note("deploy") in delivered
    assert not world.has("a")
    handover.record()
    assert len(world.has("a")) == 1
    handover.take_back()
    assert note("deploy") not in delivered
    assert not world.has("a")


def test_the_log_stays_small_however_fast_changes_come(world: World) -> None:
    for number in range(8_000):
        world.give(f"s{number // 10}", number)
        assert maintenance.Maintenance(world.path).log_bytes < 24 * 1024 * 1024
    world.restart()
    assert world.has("s799") == set(range(7_990, 8_000))


def test_what_an_earlier_process_recorded_after_the_last_delivery_was_lost(world: World) -> None:
    delivered = DeliveredSet(key("a"), world.store)
    ids = []
    for name in ("one", "two", "three"):
        handover = give(delivered, note(name, body=name), series=ids[0].series if ids else None)
        handover.record()
        ids.append(next(iter(handover.entries.values())).delivery)
    other = give(delivered, note("other", body="other"))
    other.record()
    # This process knows what it sent.
    assert delivered.settle(str(ids[0])) == ids[0].series
    assert len(delivered) == len(DeliveredSet(key("a"), world.store)) == 4
    world.restart()
    delivered = DeliveredSet(key("a"), world.store)
    assert delivered.settle(None) is delivered.settle("who knows") is None
    assert len(delivered) == 4
    give(delivered, note("three", body="changed"), series=ids[0].series).record()
    assert delivered.settle(str(ids[0])) == ids[0].series
    names = ("one", "two", "other")
    assert [note(name, body=name) in delivered for name in names] == [True, False, True]
    assert note("three", body="changed") in delivered
    world.restart()
    assert len(DeliveredSet(key("a"), world.store)) == 3
    assert DeliveredSet(key("a"), world.store).settle("") is None
    assert not world.has("a")


def test_what_was_lost_is_taken_out_of_the_file_once_it_can_be_written(world: World) -> None:
    delivered = DeliveredSet(key("a"), world.store)
    give(delivered, note("deploy")).record()
    world.restart()
    delivered = DeliveredSet(key("a"), world.store)
    world.break_file()
    delivered.settle("")
    assert note("deploy") not in delivered
    world.mend_file()
    assert note("deploy") not in DeliveredSet(key("a"), world.store)
    world.store.look_after()
    world.give("b", 1)
    world.restart()
    assert not world.has("a")


@pytest.mark.parametrize("set_back", [0, 10])
def test_numbers_of_deliveries_increase_over_restarts(world: World, set_back: int) -> None:
    numbers = []
    for number in range(5):
        world.give("a", number)
        numbers.append(world.store.next_number())
        world.clock.day -= set_back
        world.restart()
        assert world.store.first_number > numbers[-1] - 1
    assert numbers == sorted(set(numbers))


# A file that is not there any more -----------------------------------------------------------------


def remove_database(path: Path) -> None:
    path.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def restore_backup(path: Path) -> None:
    back_up(path).replace(path)


def back_up(path: Path) -> Path:
    copy = path.with_name("backup")
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
    source.close()
    target.close()
    return copy


LOSSES = [remove_database, remove_folder, move_folder, restore_backup]


@pytest.mark.parametrize("lose", LOSSES)
def test_what_sessions_in_memory_were_given_is_in_the_file_that_takes_the_place_of_a_lost_one(
    world: World, caplog: pytest.LogCaptureFixture, lose: Callable[[Path], None]
) -> None:
    held, notes = world.hold("a"), [note("before"), note("between"), note("after")]
    give(held, notes[0]).record()
    world.give("not in memory", 1)
    lose(world.path)
    give(held, notes[1]).record()
    # Not sooner: who opens a file with the journals of another one cuts off that one's memory.
    world.look("another is begun", lambda: "removed or replaced" in caplog.text)
    world.look("it is filled", lambda: world.found("a") == 2)
    give(held, notes[2]).record()
    assert world.found("a") == 3
    assert world.found("not in memory") == (1 if lose is restore_backup else 0)
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(said) == 1 and "removed or replaced" in said[0]
    assert str(world.path.parent) not in said[0]
    # Another process reads what this one knew.
    world.restart()
    known = DeliveredSet(key("a"), world.store)
    assert [each in known for each in notes] == [True, True, True]


@pytest.mark.parametrize("lose", LOSSES)
def test_a_file_that_was_lost_a_moment_before_the_end_is_written_again_at_the_end(
    world: World, lose: Callable[[Path], None]
) -> None:
    held = world.hold("a")
    give(held, note("before")).record()
    lose(world.path)
    give(held, note("after")).record()
    world.restart()
    assert len(world.has("a")) == 2


def test_a_restored_file_holds_of_a_session_in_memory_what_that_was_given_since(world: World) -> None:
    held = world.hold("a")
    give(held, note("taken back")).record()
    backup = back_up(world.path)
    held.clear()
    give(held, note("given")).record()
    backup.replace(world.path)
    world.restart()
    known = DeliveredSet(key("a"), world.store)
    assert (note("taken back") in known, note("given") in known) == (False, True)


def test_a_restored_file_is_not_read_with_the_log_of_the_one_that_it_replaces(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.give("early", 1)
    backup = back_up(world.path)
    world.give("late", 2)
    backup.replace(world.path)
    world.look("another is begun", lambda: "removed or replaced" in caplog.text)
    assert (world.has("early"), world.has("late")) == ({1}, set())


def test_a_set_that_is_cleared_once_another_file_is_there_stays_cleared(world: World) -> None:
    held = world.hold("a")
    give(held, note("one")).record()
    world.path.unlink()
    world.store.look_after()
    poll(lambda: world.store._look is not None and world.store._look.over, "another file is there")
    held.clear()
    assert world.found("a") == 0
    world.clock.advance(0)
    assert world.found("a") == 0


def test_nothing_is_begun_anew_while_the_file_is_there(world: World) -> None:
    held = world.hold("a")
    give(held, note("one")).record()
    before = world.path.stat().st_ino
    for _ in range(5):
        world.store.look_after()
        world.clock.advance(0)
    world.restart()
    assert world.path.stat().st_ino == before
    assert not world.counted


def test_a_lost_file_whose_place_cannot_be_had_is_told_and_written_once_it_can(world: World) -> None:
    held = world.hold("a")
    give(held, note("before")).record()
    shutil.rmtree(world.path.parent)
    world.path.parent.write_text("a file where the folder should be", encoding="ascii")
    world.look("it is told", lambda: world.counted["state.failed.unusable"] == 1)
    give(held, note("meanwhile")).record()
    assert world.counted["state.recovered"] == 0
    world.path.parent.unlink()
    world.look("it is written", lambda: world.counted["state.recovered"] == 1)
    assert world.found("a") == 2


def test_a_damaged_file_is_followed_by_one_with_what_sessions_in_memory_were_given(world: World) -> None:
    held = world.hold("a")
    for number in range(200):
        give(held, note(f"note {number}", body=str(number))).record()
    world.store.close()
    data = world.path.read_bytes()
    world.store = world._open()
    world.path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    assert world.store._record is not None
    world.store._record._connection.execute("PRAGMA shrink_memory")  # what it knows of the file by heart
    world.has("a")
    assert world.counted
    world.look("it is begun anew", lambda: world.path.exists() and world.found("a") == 200)


def test_a_new_file_is_filled_a_session_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [f"session {number}" for number in range(30)]
    for session in sessions:
        for each in (note("one"), note("two")):
            give(world.hold(session), each).record()
    sizes: list[int] = []
    write = Record.write

    def measured(record: Record, statements: Sequence[Statement]) -> None:
        sizes.append(len(statements))
        write(record, statements)

    monkeypatch.setattr(Record, "write", measured)
    world.path.unlink()
    world.look("all are written", lambda: len(sizes) == len(sessions))
    assert max(sizes) <= 2
    assert [world.found(session) for session in sessions] == [2] * len(sessions)


def test_a_folder_that_does_not_answer_holds_up_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, asked = threading.Event(), threading.Event()
    holds_it = Place.holds_it

    def hanging(place: Place) -> bool:
        asked.set()
        answers.wait(60)
        return holds_it(place)

    monkeypatch.setattr(Place, "holds_it", hanging)
    world.store.look_after()
    assert asked.wait(60)
    world.store.look_after()
    world.give("a", 1)
    assert world.has("a") == {1}
    answers.set()
