"""Where a project's notes are, as it is now: from memory where nothing changed, else by one thread."""

from __future__ import annotations

import errno
import os
import queue
import threading
from pathlib import Path

import pytest

from memrecalld.config import MemoryConfig
from memrecalld.errors import InvalidProject
from memrecalld.memory import resolver as module
from memrecalld.memory.resolver import Resolution, Resolver

ASKERS = 20


class Loop:
    """What threads hand over is called by whoever waits for it."""

    def __init__(self) -> None:
        self._calls: queue.Queue = queue.Queue()

    def call_soon(self, callback, *arguments) -> None:
        self._calls.put((callback, arguments))

    def turn(self) -> None:
        callback, arguments = self._calls.get(timeout=60)
        callback(*arguments)


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a folder of notes inside."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def resolver(loop: Loop, tmp_path: Path) -> Resolver:
    config = MemoryConfig(extra_project_roots=(str(tmp_path / "notes"),))
    return Resolver(config, environment={}, home=str(tmp_path / "home"), call_soon=loop.call_soon)


def threads() -> int:
    return sum(thread.name == "memrecalld-resolver" for thread in threading.enumerate())


def identity_of_notes(answer: Resolution | InvalidProject) -> object:
    assert isinstance(answer, Resolution)
    (number,) = (n for n, root in enumerate(answer.places.roots) if root.path.endswith("/notes"))
    return answer.identities[number]


def test_what_has_not_changed_is_answered_at_once(resolver: Resolver, loop: Loop, project: Path) -> None:
    answers: list = []
    resolver.resolve(str(project), frozenset(), answers.append)
    assert not answers
    loop.turn()
    resolver.resolve(str(project), frozenset(), answers.append)
    assert len(answers) == 2
    assert answers[0] == answers[1]


def test_a_look_that_hangs_holds_one_thread_and_who_comes_meanwhile_gets_a_later_one(
    resolver: Resolver, loop: Loop, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, go_on = threading.Semaphore(0), threading.Semaphore(0)
    places = module.places

    def hang(*arguments, **options):
        found = places(*arguments, **options)
        looked.release()
        assert go_on.acquire(timeout=60)
        return found

    monkeypatch.setattr(module, "places", hang)
    answers: list = []
    resolver.resolve(str(project), frozenset(), answers.append)
    assert looked.acquire(timeout=60)
    (tmp_path / "notes").mkdir()
    for _ in range(ASKERS):
        resolver.resolve(str(project), frozenset(), answers.append)
    assert threads() == 1
    go_on.release()
    loop.turn()
    assert len(answers) == 1
    assert looked.acquire(timeout=60)
    go_on.release()
    loop.turn()
    assert len(answers) == 1 + ASKERS
    status = (tmp_path / "notes").stat()
    for answer in answers[1:]:
        assert identity_of_notes(answer) == module.identity_of(status)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_a_folder_is_there_although_no_descriptor_is_left(
    code: int,
    resolver: Resolver,
    loop: Loop,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "notes").mkdir()
    answers: list = []
    resolver.resolve(str(project), frozenset(), answers.append)
    loop.turn()

    def exhausted(*_arguments, **_options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(module.os, "open", exhausted)
    resolver.resolve(str(project), frozenset(), answers.append)
    monkeypatch.undo()
    assert len(answers) == 2
    assert answers[0] == answers[1]
    assert identity_of_notes(answers[1]) is not None


def test_a_path_that_names_no_project_is_an_error_for_everybody_who_asked(
    resolver: Resolver, loop: Loop
) -> None:
    answers: list = []
    for _ in range(3):
        resolver.resolve("not/absolute", frozenset(), answers.append)
    loop.turn()
    loop.turn()
    assert len(answers) == 3
    assert all(isinstance(answer, InvalidProject) for answer in answers)
