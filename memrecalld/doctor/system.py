"""What the machine gives: Python, the packages, file events, a clock."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

import memrecalld
from memrecalld.doctor.finding import Finding, counted
from memrecalld.doctor.patience import within
from memrecalld.doctor.reading import find_places
from memrecalld.doctor.subject import Subject
from memrecalld.errors import InvalidProject
from memrecalld.memory.inotify import Inotify
from memrecalld.programs import install

CHECK: Final = "system"

_PACKAGES: Final = ("lsprotocol", "msgspec", "pygls", "PyYAML", "uvloop")
_SELECTOR_PACKAGE: Final = "aiohttp"

_LIMITS: Final = Path("/proc/sys/fs/inotify")

_COUNT_S: Final = 10.0
_COUNTED: Final = 1_000_000

_SPARE: Final = 2
"""The limit of watches is for all of the user's programs, editors with large trees among them."""


def check(subject: Subject) -> Iterator[Finding]:
    """Versions, the limits of inotify(7) against the folders to be watched, and the clock."""
    yield from _versions(subject)
    yield from _file_events(subject)
    yield from _clock()


def _versions(subject: Subject) -> Iterator[Finding]:
    wanted = [*_PACKAGES, *([_SELECTOR_PACKAGE] if subject.config.selector.kind == "openai" else [])]
    versions = [f"memrecalld {memrecalld.__version__}", f"Python {platform.python_version()}"]
    for package in wanted:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            yield Finding(
                check=CHECK,
                severity="error",
                what=f"the package {package} is not installed for {sys.executable}",
                fix=install(package),
            )
    yield Finding(check=CHECK, severity="ok", what=", ".join(versions))


def _file_events(subject: Subject) -> Iterator[Finding]:
    if not subject.config.memory.watch:
        yield Finding(
            check=CHECK, severity="ok", what="file events are switched off; each recall compares files"
        )
        return
    try:
        Inotify().close()
    except OSError as error:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"no file events are left for one more program ({error.strerror}); recalls compare files",
            fix="sudo sysctl fs.inotify.max_user_instances=512",
        )
    watches = _limit("max_user_watches")
    try:
        folders = within(_COUNT_S, lambda: _count_folders(subject))
    except (TimeoutError, InvalidProject):
        return  # the check of the notes tells
    if watches is not None and folders * _SPARE > watches:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{folders} folders of notes are to be watched, and all your programs may watch {watches}",
            fix=f"sudo sysctl fs.inotify.max_user_watches={max(524_288, folders * 4)}",
        )
    elif watches is not None:
        what = f"{counted(folders, 'folder')} of notes to watch; all your programs may watch {watches}"
        yield Finding(check=CHECK, severity="ok", what=what)


def _limit(name: str) -> int | None:
    try:
        return int((_LIMITS / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _count_folders(subject: Subject) -> int:
    count = 0
    for root in find_places(subject).roots:
        for _ in os.walk(root.real_path):
            count += 1
            if count >= _COUNTED:
                return count
    return count


def _clock() -> Iterator[Finding]:
    """A clock that is behind makes every note new and each record of a session old."""
    installed = Path(memrecalld.__file__).stat().st_mtime
    if time.time() < installed:
        yield Finding(
            check=CHECK,
            severity="warning",
            what="the clock is behind the day on which this program was installed",
            fix="sudo timedatectl set-ntp true",
        )
