"""The socket, and who answers on it."""

from __future__ import annotations

import datetime
import os
import shlex
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import memrecalld
from memrecalld.client import Client, ClientError
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from memrecalld.paths import MAX_SOCKET_BYTES, TOO_LONG
from memrecalld.programs import shown

if TYPE_CHECKING:
    from memrecalld.client.shapes import Status

CHECK: Final = "daemon"

CONNECT_S: Final = 1.0
ANSWER_S: Final = 2.0
"""The daemon answers within 0.1 s; beyond this it hangs."""

_RESTART: Final = (
    "restart it: systemctl --user restart memrecalld.service, or stop memrecalld and start it again"
)

TROUBLES: Final = {
    "state-in-memory": (
        "what sessions were given is kept in memory only, so notes may be repeated after a restart",
        "free space on the disk, and let its folder be written to: see the permissions above",
    ),
    "cache-off": (
        "parsed notes are not kept on disk, so every start reads them all",
        "let its folder be written to: see the permissions above; then restart memrecalld",
    ),
    "notes-set-aside": (
        "the damaged cache of notes was set aside, and a new one begun",
        "nothing is lost; check the disk if it happens again",
    ),
    "sessions-set-aside": (
        "the damaged record of what sessions were given was set aside, so notes may be repeated once",
        "check the disk if it happens again",
    ),
    "events-off": (
        "file events are not to be had, so every recall compares the files",
        "raise the limit: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
    ),
    "configuration-not-in-effect": (
        "the configuration file was changed and cannot be used, so the one before is in effect",
        "see the configuration above, then: systemctl --user reload memrecalld.service, or kill -HUP PID",
    ),
    "selector-failing": (
        "the model has failed the last selections, so the scorer's choice stands in",
        f"see the selector below, and {shown('memrecall logs')}",
    ),
}
"""What ``daemon/status`` may say of the daemon's health, in words."""


def check(subject: Subject) -> Iterator[Finding]:
    """Where the socket is, whose, and whether a daemon of this version answers there."""
    fault = _place_fault(subject.socket)
    if fault is not None:
        yield fault
        return
    try:
        with Client.connect(subject.socket, connect_timeout=CONNECT_S, call_timeout=ANSWER_S) as client:
            status = client.status()
    except ClientError as error:
        yield Finding(check=CHECK, severity="error", what=str(error), fix=_RESTART)
        return
    yield from _of_status(status, subject.socket)


def _place_fault(path: str) -> Finding | None:
    directory = os.path.dirname(path)  # noqa: PTH120 - a string is wanted
    if len(os.fsencode(path)) > MAX_SOCKET_BYTES:
        what, _, fix = TOO_LONG.partition("; ")
        return _error(f"{what}: {path}", fix)
    try:
        place = os.lstat(directory)
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _error(
            f"no daemon serves {path}",
            f"start it: {shown('memrecalld')}, or {shown('memrecall service install')}",
        )
    except OSError as error:
        return _error(f"{path} cannot be looked at ({error.strerror})", f"ls -ld {shlex.quote(directory)}")
    user = os.geteuid()
    if not stat.S_ISDIR(place.st_mode) or place.st_uid != user:
        return _error(
            f"{directory} is not a directory of yours, so no client uses the socket in it",
            "choose another socket with --socket or MEMRECALLD_SOCKET",
        )
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != user:
        return _error(f"{path} is not a socket of yours", f"mv {shlex.quote(path)} {shlex.quote(path)}.other")
    if found.st_mode & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        return _error(f"{path} is open to others (mode {mode})", f"chmod 600 {shlex.quote(path)}")
    return None


def _of_status(status: Status, path: str) -> Iterator[Finding]:
    version, ours = status["version"], memrecalld.__version__
    up = datetime.timedelta(seconds=int(status["uptimeS"]))
    yield Finding(
        check=CHECK,
        severity="ok",
        what=f"memrecalld {version} answers on {path} (process {status['pid']}, up {up})",
    )
    if version != ours:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"the daemon is version {version}, and this command version {ours}",
            fix=_RESTART,
        )
    # A daemon of an earlier version says nothing about its health.
    for reason in status.get("health", {}).get("reasons", ()):
        what, fix = TROUBLES.get(reason, (f"the daemon reports {reason}", f"see {shown('memrecall logs')}"))
        yield Finding(check=CHECK, severity="warning", what=what, fix=fix)


def _error(what: str, fix: str) -> Finding:
    return Finding(check=CHECK, severity="error", what=what, fix=fix)
