"""Starting the daemon for a command that finds none, where no service manager does it.

Only commands that a person runs do this. A hook must not hold up its agent, and a server that an agent starts
runs in the agent's environment, which may be a sandbox: a daemon from there would serve everybody else by it.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from memrecalld.client import Client, ClientError, DaemonUnavailable
from memrecalld.client.peer import find_socket
from memrecalld.config import Paths
from memrecalld.errors import ConfigError
from memrecalld.logfile import NO_LOG
from memrecalld.programs import program, shown
from memrecalld.service.manager import with_runtime_directory
from memrecalld.service.units import SOCKET, directory

START_S: Final = 30.0
"""A start takes a second, and some on a busy machine."""

ALREADY_SERVED: Final = 4
"""How a daemon exits where another one was quicker."""

_POLL_S: Final = 0.02
_SAID_BYTES: Final = 4096
_PREFIX: Final = "memrecalld: "


class Running(msgspec.Struct, frozen=True, tag=True):
    """A daemon serves; it was not started here."""

    pid: int


class Started(msgspec.Struct, frozen=True, tag=True):
    """A daemon was started, and serves."""

    pid: int
    log: str
    """Where it reports, or why it reports nowhere."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """No daemon serves."""

    reason: str
    next_step: str


Answer = Running | Started | Failed


def nobody_listens(path: str | None) -> bool:
    """There is no socket, or a dead one; false for one that is refused for whose it is."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            probe.connect(find_socket(path))
    except (FileNotFoundError, ConnectionRefusedError):
        return True
    except (OSError, DaemonUnavailable):
        return False
    return False


def start(path: str | None, environ: Mapping[str, str], *, within_s: float = START_S) -> Answer:
    """See to it that a daemon serves the socket at ``path``, by default the usual one.

    Takes ``within_s`` seconds at most. The daemon has a session of its own, outlives this process, and logs
    into the state directory.
    """
    deadline = time.monotonic() + within_s
    try:
        paths = Paths.from_environ(environ)
    except ConfigError as error:
        return Failed(str(error), "then try again")
    path = str(Path(path or paths.socket).absolute())
    if (pid := _serving(path, deadline)) is not None:
        return Running(pid)
    if path == paths.socket and _is_systemds(environ, paths):
        return Failed(
            f"{SOCKET} is installed, and does not listen",
            f"systemctl --user start {SOCKET}; if that does not help: {shown('memrecall service status')}",
        )
    try:
        process = _spawn(path, paths, environ)
    except OSError as error:
        return Failed(f"memrecalld cannot be run ({error.strerror})", "install memrecalld again")
    try:
        return _outcome(process, path, paths, deadline)
    finally:
        if process.stderr is not None:
            process.stderr.close()


def _outcome(process: subprocess.Popen[bytes], path: str, paths: Paths, deadline: float) -> Answer:
    while time.monotonic() < deadline:
        if process.poll() not in {None, ALREADY_SERVED}:
            return Failed(_said(process), f"mend that, or {_in_a_terminal(path)}")
        if (pid := _serving(path, deadline)) is not None:
            if pid != process.pid:
                process.wait()
                return Running(pid)
            process.returncode = 0  # it is left to itself: nobody waits for it
            return Started(pid, _log_fault(process) or f"it logs to {paths.log_file}")
        time.sleep(_POLL_S)
    process.terminate()
    process.wait()
    fault = _log_fault(process)
    reason = "memrecalld was started and did not serve in time"
    if fault is not None or not Path(paths.log_file).is_file():
        return Failed(f"{reason}{'' if fault is None else f', with {fault}'}", _in_a_terminal(path))
    return Failed(reason, f"see {paths.log_file}")


def _spawn(path: str, paths: Paths, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the daemon's own command
        [*program("memrecalld"), "--socket", path, "--log-file", paths.log_file],
        env=dict(environ),
        cwd="/",  # so that no folder is kept in use
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,  # until it serves; then the log file is its standard error
        start_new_session=True,
    )


def _serving(path: str, deadline: float) -> int | None:
    """Process id of the daemon that answers on the socket."""
    try:
        with Client.connect(path, call_timeout=max(1.0, deadline - time.monotonic())) as client:
            return client.status()["pid"]
    except ClientError:
        return None


def _is_systemds(environ: Mapping[str, str], paths: Paths) -> bool:
    """The units are installed, and there is a manager that runs them."""
    runtime = with_runtime_directory(environ).get("XDG_RUNTIME_DIR", "")
    unit = directory(environ, paths) / SOCKET
    return unit.exists() and Path(runtime, "systemd", "private").is_socket()


def _in_a_terminal(path: str) -> str:
    return f"run it in a terminal: {shown(f'memrecalld --socket {shlex.quote(path)}')}"


def _said(process: subprocess.Popen[bytes]) -> str:
    lines = _lines(process)
    return lines[-1].removeprefix(_PREFIX) if lines else f"memrecalld ended ({process.returncode})"


def _log_fault(process: subprocess.Popen[bytes]) -> str | None:
    """Why the daemon has no log file, if it has none."""
    if process.stderr is not None:
        os.set_blocking(process.stderr.fileno(), False)
    said = (line.removeprefix(_PREFIX) for line in _lines(process))
    return next((line for line in said if line.startswith(NO_LOG)), None)


def _lines(process: subprocess.Popen[bytes]) -> list[str]:
    """What the daemon has said on its standard error."""
    text = None if process.stderr is None else process.stderr.read(_SAID_BYTES)
    return (text or b"").decode("utf-8", "replace").strip().splitlines()
