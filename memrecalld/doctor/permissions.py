"""Whether anybody else could read or replace what the daemon keeps."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from typing import Final

from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject

CHECK: Final = "permissions"

_DATABASE_FILES: Final = ("", "-wal", "-shm", ".set-aside")
"""A database, SQLite's journals beside it (sqlite.org/wal), and one that could not be used."""


def check(subject: Subject) -> Iterator[Finding]:
    """Each directory must be a real one of this user with mode 0700, each file in it a real one with 0600."""
    paths = subject.paths
    directories = [os.path.dirname(subject.socket), paths.cache_dir, paths.state_dir]  # noqa: PTH120
    files = [
        f"{subject.socket}.lock",
        paths.log_file,
        f"{paths.log_file}.1",
        f"{paths.state_dir}/hook-failures",
        *(f"{paths.cache_dir}/notes.sqlite{suffix}" for suffix in _DATABASE_FILES),
        *(f"{paths.state_dir}/sessions.sqlite{suffix}" for suffix in _DATABASE_FILES),
    ]
    faults = [
        *(fault for path in dict.fromkeys(directories) for fault in _faults(path, directory=True)),
        *(fault for path in (paths.cache_dir, paths.state_dir) for fault in _closed(path)),
        *(fault for path in files for fault in _faults(path, directory=False)),
        *_configuration_faults(paths.config_file),
    ]
    yield from faults
    if not faults:
        yield Finding(check=CHECK, severity="ok", what="what the daemon keeps is closed to others")
    for path in files:
        if path.endswith(".set-aside") and os.path.lexists(path):
            yield Finding(
                check=CHECK,
                severity="hint",
                what=f"{path} is a database that was damaged or of another version; it is not used",
                fix=f"rm {shlex.quote(path)}",
            )


def _faults(path: str, *, directory: bool) -> Iterator[Finding]:
    """What is wrong with what stands at ``path``, if anything stands there."""
    quoted = shlex.quote(path)
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield _error(f"{path} cannot be looked at ({error.strerror})", f"ls -ld {quoted}")
        return
    right_kind = stat.S_ISDIR if directory else stat.S_ISREG
    if stat.S_ISLNK(found.st_mode):
        yield _error(f"{path} is a link, and is not followed", f"rm {quoted}")
    elif not right_kind(found.st_mode):
        kind = "directory" if directory else "regular file"
        yield _error(f"{path} is no {kind}", f"mv {quoted} {quoted}.other")
    elif found.st_uid != os.geteuid():
        yield _error(
            f"{path} belongs to user {found.st_uid}, not to you", f"sudo chown {os.geteuid()} {quoted}"
        )
    elif found.st_mode & 0o077:
        yield Finding(
            check=CHECK,
            severity="error" if found.st_mode & 0o022 else "warning",
            what=f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o})",
            fix=f"chmod {'700' if directory else '600'} {quoted}",
        )


def _closed(directory: str) -> Iterator[Finding]:
    """What keeps this user from writing into a directory that the daemon makes where it is missing."""
    place = directory
    while not os.path.lexists(place):
        place = os.path.dirname(place)  # noqa: PTH120
    quoted = shlex.quote(place)
    if place != directory and not os.path.isdir(place):  # noqa: PTH112
        yield _error(f"{directory} cannot be made: {place} is no directory", f"mv {quoted} {quoted}.other")
    elif os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):  # noqa: PTH112
        yield _error(f"{directory} cannot be written to", f"let yourself write to {place}: ls -ld {quoted}")


def _configuration_faults(path: str) -> Iterator[Finding]:
    """The configuration may be read by anybody, and may be a link; but it decides where keys and notes go."""
    try:
        found = os.stat(path)  # noqa: PTH116 - beside the others
    except OSError:
        return  # what else is wrong with it, the check of the configuration says
    if found.st_uid not in {os.geteuid(), 0}:
        yield _error(
            f"{path} belongs to user {found.st_uid}", f"sudo chown {os.geteuid()} {shlex.quote(path)}"
        )
    elif found.st_mode & 0o022:
        yield _error(f"{path} can be changed by others", f"chmod go-w {shlex.quote(path)}")


def _error(what: str, fix: str) -> Finding:
    return Finding(check=CHECK, severity="error", what=what, fix=fix)
