"""Starting the daemon for a command that finds none, where no service manager does it.

Only commands that a person runs do this. A hook must not hold up its agent, and a server that an agent starts
runs in the agent's environment, which may be a sandbox: a daemon from there would serve everybody else by it.
"""

from __future__ import annotations

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
from memrecalld.service.manager import with_runtime_directory
from memrecalld.service.units import SOCKET, directory, program

START_S: Final = 30.0
"""A start takes a second, and some on a busy machine."""

ALREADY_SERVED: Final = 4
"""How a daemon exits where another one was quicker."""

_POLL_S: Final = 0.02
_SAID_BYTES: Final = 4096


class Running(msgspec.Struct, frozen=True, tag=True):
    """A daemon serves; it was not started here."""

    pid: int


class Started(msgspec.Struct, frozen=True, tag=True):
    """A daemon was started, and serves."""

    pid: int
    log_file: str


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
            f"systemctl --user start {SOCKET}; if that does not help: memrecall service status",
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
            return Failed(_said(process), f"mend that, or run it in a terminal: memrecalld --socket {path}")
        if (pid := _serving(path, deadline)) is not None:
            if pid != process.pid:
                process.wait()
                return Running(pid)
            process.returncode = 0  # it is left to itself: nobody waits for it
            return Started(pid, paths.log_file)
        time.sleep(_POLL_S)
    process.terminate()
    process.wait()
    return Failed("memrecalld was started and did not serve in time", f"see {paths.log_file}")


def _spawn(path: str, paths: Paths, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the daemon's own command
        [*program(), "--socket", path, "--log-file", paths.log_file],
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


def _said(process: subprocess.Popen[bytes]) -> str:
    text = b"" if process.stderr is None else process.stderr.read(_SAID_BYTES)
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("memrecalld: ") if lines else f"memrecalld ended ({process.returncode})"
