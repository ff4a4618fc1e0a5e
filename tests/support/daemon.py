"""A real daemon process with a private home, for tests on the real wire."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from memrecalld.client import Client
from memrecalld.memory.layouts import native_key
from tests.support.polling import poll

REPOSITORY = Path(__file__).parents[2]

START_S = 60.0
"""Far beyond a start on a busy machine; only a daemon that never serves takes so long."""
STOP_S = 30.0
DAY_S = 86_400

_PROBE = b'Content-Length: 45\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"no/method"}'
_FAULT = re.compile(r"internal error|Traceback \(most recent|\b(?:ERROR|CRITICAL)\b", re.IGNORECASE)


class DaemonProcess:
    """``python -m memrecalld.server.main`` in a home of its own.

    ``home`` is HOME and holds the XDG folders, ``project`` is the root of a git repository, ``socket`` fits
    into ``sun_path``. ``environment`` is what the daemon runs in; a program that gets it finds the daemon.
    """

    MODULE = "memrecalld.server.main"
    """What is run."""

    def __init__(self, home: Path, config: str = "", environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.project = home / "project"
        # pytest's own folders are named after their tests: too long for a socket's path.
        self.runtime = Path(tempfile.mkdtemp(prefix="memrecalld-test-", dir="/tmp"))
        self.socket = self.runtime / "memrecalld" / "memrecalld.sock"
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **(environment or {}),
        }
        self.config_file = home / "config" / "memrecalld" / "config.toml"
        self._log_file = home / "daemon.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.config_file.parent.mkdir(parents=True)
        self.configure(config)
        make_repository(self.project)

    # The process ---------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """Process id of the running daemon."""
        assert self._process is not None
        return self._process.pid

    def configure(self, config: str) -> None:
        """Replace the configuration file; the next start reads it."""
        self.config_file.write_text(config, encoding="utf-8")

    def start(self, *arguments: str) -> None:
        """Start, and return when the daemon accepts connections."""
        assert self._process is None
        self._process = self._launch(["--socket", str(self.socket), *arguments])
        deadline = time.monotonic() + START_S
        while not self.serves():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the daemon did not start:\n{self.log()}")
            time.sleep(0.01)

    def _launch(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        with self._log_file.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", self.MODULE, *arguments],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        """End with SIGTERM and expect a clean end; nothing to do for a daemon that does not run."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the daemon ignored SIGTERM:\n{self.log()}") from None
        assert status == 0, f"the daemon ended with {status}:\n{self.log()}"

    def wait(self) -> int:
        """Exit status of a daemon that ends by itself."""
        assert self._process is not None
        status = self._process.wait(STOP_S)
        self._process = None
        return status

    def kill(self) -> None:
        """End with SIGKILL, as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within, the daemon does nothing; what happens meanwhile it finds afterwards."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            state = Path(f"/proc/{self.pid}/stat")
            poll(lambda: state.read_text(encoding="ascii").rpartition(") ")[2][0] == "T", "it has stopped")
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def restart(self) -> None:
        """Stop cleanly and start again on the same home."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good, and fail if the daemon reported a fault of its own at any time."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.runtime, ignore_errors=True)
        log = self.log()
        assert not _FAULT.search(log), f"the daemon reported a fault:\n{log}"

    def log(self) -> str:
        """Everything the daemon wrote to stdout and stderr so far."""
        return self._log_file.read_text(encoding="utf-8", errors="replace") if self._log_file.exists() else ""

    def serves(self) -> bool:
        """A request is answered: the socket alone is there before the daemon is ready for signals."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(START_S)
            try:
                probe.connect(str(self.socket))
                probe.sendall(_PROBE)
                return bool(probe.recv(1))
            except OSError:
                return False

    # Its notes -----------------------------------------------------------------------------------------

    @property
    def user_notes(self) -> Path:
        """Folder of the user's notes in the native layout."""
        return self.home / "data" / "memrecalld" / "user"

    @property
    def project_notes(self) -> Path:
        """Folder of ``project``'s notes in the native layout."""
        return self.notes_of(self.project)

    def notes_of(self, project: Path) -> Path:
        """Folder of any project's notes in the native layout."""
        return self.home / "data" / "memrecalld" / "projects" / native_key(str(project.resolve()))

    def write_note(
        self, scope: Literal["project", "user"], name: str, text: str, *, days_old: float | None = None
    ) -> Path:
        """Write a file of notes in the native layout; ``days_old`` sets its modification time."""
        path = (self.project_notes if scope == "project" else self.user_notes) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if days_old is not None:
            then = time.time() - days_old * DAY_S
            os.utime(path, (then, then))
        return path

    def wait_until_read(self, notes: int) -> None:
        """Return when the daemon knows this many notes of ``project`` and its user.

        On a busy machine a first reading may take longer than a query waits for it.
        """
        with Client.connect(str(self.socket), call_timeout=START_S) as client:
            poll(lambda: len(client.list(project_root=self.project)) == notes, f"{notes} notes read")


def make_repository(folder: Path) -> None:
    """Make a folder what ``git init`` makes of it, as far as finding the root of a repository goes."""
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
