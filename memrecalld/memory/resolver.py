"""Which folders belong to a project, remembered for as long as nothing on the way to them changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from memrecalld.config import MemoryConfig
from memrecalld.errors import InvalidProject
from memrecalld.memory.filesystem import is_local
from memrecalld.memory.folder import CallSoon
from memrecalld.memory.layouts import Layout, Places, places
from memrecalld.memory.project import project_path
from memrecalld.memory.skips import EXHAUSTED
from memrecalld.memory.walk import Identity, identity_of

MAX_REMEMBERED: Final = 256
"""Projects remembered; beyond, the one asked for longest ago is forgotten."""

_REFER: Final = os.O_PATH | os.O_CLOEXEC


class Spot(NamedTuple):
    """What a path leads to."""

    real_path: str
    identity: Identity


class Resolution(NamedTuple):
    """The folders of a project, and what each of their roots is now (``None``: it does not exist)."""

    places: Places
    identities: tuple[Identity | None, ...]


class _Remembered(NamedTuple):
    places: Places
    probes: tuple[str, ...]
    spots: tuple[Spot | None, ...]
    quick: bool
    """All of it is on file systems that answer at once."""


_Key = tuple[str | None, frozenset[str]]
_Ready = Callable[[Resolution | InvalidProject], None]


class Resolver:
    """Answers from memory after a few system calls, or resolves anew in a thread."""

    def __init__(
        self, config: MemoryConfig, *, environment: Mapping[str, str], home: str, call_soon: CallSoon
    ) -> None:
        self._config = config
        self._environment = environment
        self._home = home
        self._call_soon = call_soon
        self._remembered: dict[_Key, _Remembered] = {}
        self._running: dict[_Key, list[_Ready]] = {}
        """By what is being resolved in a thread, who came while it was."""

    def resolve(self, project: str | None, exclude_layouts: frozenset[str], ready: _Ready) -> None:
        """Find the folders of ``project`` as they are now; ``ready`` is called at once if nothing changed."""
        key = (project, exclude_layouts)
        known = self._remembered.pop(key, None)
        if known is not None:
            self._remembered[key] = known  # most recent last
            if known.quick and _spots(known.probes) == known.spots:
                ready(_resolution(known))
                return
        if key in self._running:
            self._running[key].append(ready)
        else:
            self._start(key, [ready])

    def _start(self, key: _Key, served: list[_Ready]) -> None:
        """Resolve in a thread, of which there is one for each project: a disk that hangs must not gather
        them.

        Who comes meanwhile waits for another round: this one may have passed what has changed since.
        """
        self._running[key] = []

        def finish(found: _Remembered | InvalidProject) -> None:
            waiting = self._running.pop(key)
            if isinstance(found, _Remembered):
                self._remembered[key] = found
                while len(self._remembered) > MAX_REMEMBERED:
                    del self._remembered[next(iter(self._remembered))]
            answer = found if isinstance(found, InvalidProject) else _resolution(found)
            if waiting:
                self._start(key, waiting)
            for ready in served:
                ready(answer)

        def work() -> None:
            self._call_soon(finish, self._find(*key))

        threading.Thread(target=work, name="memrecalld-resolver", daemon=True).start()

    def _find(self, project: str | None, exclude_layouts: frozenset[str]) -> _Remembered | InvalidProject:
        config = self._config
        layouts: tuple[Layout, ...] = tuple(each for each in config.layouts if each not in exclude_layouts)
        try:
            found = places(
                project,
                environment=self._environment,
                home=self._home,
                layouts=layouts,
                extra_project_roots=config.extra_project_roots,
                extra_user_roots=config.extra_user_roots,
                trusted_projects=config.trusted_projects,
            )
        except InvalidProject as error:
            return error
        probes = _probes(found, project)
        spots = _spots(probes)
        quick = all(is_local(path) for path in {*probes, *(spot.real_path for spot in spots if spot)})
        return _Remembered(found, probes, spots, quick)


def _probes(found: Places, project: str | None) -> tuple[str, ...]:
    """What decides where the folders are: the roots first, then the project's own path and its repository."""
    probes = [root.path for root in found.roots]
    if project is not None:
        probes.append(project_path(project))
    if found.project is not None:
        folder = found.project.directory
        top = found.project.git_root or "/"
        while True:
            probes.append(f"{folder.rstrip('/')}/.git")
            if folder in {top, "/"}:
                break
            folder = os.path.dirname(folder)  # noqa: PTH120 - strings all the way, and often
    return tuple(probes)


def _spots(probes: tuple[str, ...]) -> tuple[Spot | None, ...]:
    return tuple(_spot(path) for path in probes)


def _spot(path: str) -> Spot | None:
    """Where a path leads, as the kernel sees it: one open is far cheaper than a look at each component."""
    try:
        descriptor = os.open(path, _REFER)
    except OSError as error:
        return _spot_by_name(path) if error.errno in EXHAUSTED else None
    try:
        status = os.fstat(descriptor)
        return Spot(os.readlink(f"/proc/self/fd/{descriptor}"), identity_of(status))  # noqa: PTH115
    finally:
        os.close(descriptor)


def _spot_by_name(path: str) -> Spot | None:
    """The slow way, which needs no descriptor: that none is left does not mean that nothing is there."""
    try:
        return Spot(os.path.realpath(path), identity_of(os.stat(path)))  # noqa: PTH116 - strings all the way
    except OSError:
        return None


def _resolution(known: _Remembered) -> Resolution:
    identities = (None if spot is None else spot.identity for spot in known.spots[: len(known.places.roots)])
    return Resolution(known.places, tuple(identities))
