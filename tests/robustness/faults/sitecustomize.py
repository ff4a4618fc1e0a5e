"""Faults of the system inside a process that knows nothing of them, as a file orders them at each moment.

Python imports this module at the start of every process that has its folder on the path. The file that
``FAULTS`` names holds, as JSON, ``clock_s``, by how much the wall clock is wrong, and ``calls``: each with
a ``part`` of the paths that it is about, and the ``errno`` that a call fails with, or ``seconds`` that it
takes.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

_open, _stat, _read, _scandir, _readlink, _fstat = (
    os.open,
    os.stat,
    os.read,
    os.scandir,
    os.readlink,
    os.fstat,
)
_time, _time_ns = time.time, time.time_ns
_file = os.environ["FAULTS"]
_known: tuple[int, dict[str, Any]] = (0, {})


def _orders() -> dict[str, Any]:
    global _known  # noqa: PLW0603 - there is one process, and one file
    changed = _stat(_file).st_mtime_ns
    if changed != _known[0]:
        descriptor = _open(_file, os.O_RDONLY)
        data = _read(descriptor, 1 << 16)
        os.close(descriptor)
        _known = (changed, json.loads(data))
    return _known[1]


def _path(path: Any, directory: int | None) -> str:
    if isinstance(path, int):
        return _readlink(f"/proc/self/fd/{path}")
    name = os.fsdecode(path)
    return name if directory is None else f"{_readlink(f'/proc/self/fd/{directory}')}/{name}"


def _meet(path: Any, directory: int | None = None) -> None:
    calls = _orders().get("calls", ())
    if not calls:
        return
    name = _path(path, directory)
    for call in calls:
        if call["part"] in name:
            time.sleep(call.get("seconds", 0))
            if "errno" in call:
                raise OSError(call["errno"], os.strerror(call["errno"]))


def _faulty_open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    _meet(path, dir_fd)
    return _open(path, flags, mode, dir_fd=dir_fd)


def _faulty_stat(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
    _meet(path, dir_fd)
    return _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)


def _faulty_read(descriptor: int, length: int) -> bytes:
    _meet(descriptor)
    return _read(descriptor, length)


def _faulty_scandir(path: Any = ".") -> Any:
    _meet(path)
    return _scandir(path)


os.open, os.stat, os.read, os.scandir = _faulty_open, _faulty_stat, _faulty_read, _faulty_scandir
time.time = lambda: _time() + _orders().get("clock_s", 0)
time.time_ns = lambda: _time_ns() + _orders().get("clock_s", 0) * 1_000_000_000
