"""The demonstration's own world: a home that is thrown away, notes with chosen ages, and a private daemon.

Nothing of the user's own configuration, notes, sessions or socket is read or written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from memrecalld.client import Client, ClientError, DaemonUnavailable
from memrecalld.memory.layouts import places

_NOTES: Final = Path(__file__).parent / "notes"

_DAYS_OLD: Final = {
    "deploy-process": 3,
    "friday-freeze": 40,
    "rollback": 12,
    "incident-contacts": 8,
    "database-backup": 3,
    "frontend-rules": 1,
    "release-notes-ja": 21,
    "migrations": 5,
    "dates": 90,
    "invoices": 200,
    "flaky-checkout-test": 1,
    "search-reindex": 33,
    "say-the-risk": 2,
    "background": 400,
    "review-style-ja": 15,
    "commit-style": 60,
    "arbeitszeit": 7,
}
"""Age of each note in days; the others are of today."""

_DAY_S: Final = 86_400
_START_S: Final = 60.0
"""A start takes a second; this is for machines that are busy beyond all measure."""
_STOP_S: Final = 5.0
_POLL_S: Final = 0.02


class StageError(DaemonUnavailable):
    """The private daemon did not start; the text is what it said."""


class Stage:
    """Where the demonstration plays."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "kestrel-shop"
        self.socket = home / "run" / "memrecalld" / "memrecalld.sock"
        self.environment = {
            "HOME": str(home),
            "PATH": os.defpath,
            "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_RUNTIME_DIR": str(home / "run"),
            # The daemon finds what this process found, however it was installed.
            "PYTHONPATH": os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path),
        }

    def copy_notes(self) -> None:
        """Put the notes where the native layout has them."""
        self.project.mkdir()
        roots = places(
            str(self.project), environment=self.environment, home=str(self.home), layouts=("native",)
        ).roots
        for root in roots:
            folder = Path(root.path)
            folder.mkdir(parents=True)
            for source in (_NOTES / root.scope).glob("*.md"):
                note = folder / source.name
                shutil.copyfile(source, note)
                saved = time.time() - _DAYS_OLD.get(source.stem, 0) * _DAY_S
                os.utime(note, (saved, saved))

    def configure(self, base_url: str) -> None:
        """Let the model at ``base_url`` be the selector."""
        config = self.home / "config" / "memrecalld" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[selector]\nkind = "openai"\nbase_url = "{base_url}"\nmodel = "stand-in"\n')

    @contextmanager
    def daemon(self) -> Iterator[Client]:
        """A client of the private daemon, which has read the notes and runs until the end of the block.

        Raises ``StageError`` if it does not start.
        """
        log = self.home / "daemon.log"
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, and nothing that anybody typed
                [sys.executable, "-m", "memrecalld.server.main", "--socket", str(self.socket)],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            with self._connect(process, log) as client:
                self._wait_until_read(client)
                yield client
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _connect(self, process: subprocess.Popen[bytes], log: Path) -> Client:
        deadline = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < deadline:
            try:
                return Client.connect(str(self.socket), call_timeout=_START_S)
            except ClientError:
                time.sleep(_POLL_S)
        said = log.read_text(errors="replace").strip() or "it said nothing"
        raise StageError(f"the private daemon did not start: {said}")

    def _wait_until_read(self, client: Client) -> None:
        expected = sum(1 for _ in _NOTES.glob("*/*.md"))
        deadline = time.monotonic() + _START_S
        while len(client.list(project_root=self.project)) < expected and time.monotonic() < deadline:
            time.sleep(_POLL_S)


@contextmanager
def stage() -> Iterator[Stage]:
    """A stage in a new temporary folder, removed at the end of the block whatever happens."""
    # Not $TMPDIR, whose path may be too long for a socket's.
    with tempfile.TemporaryDirectory(prefix="memrecalld-demo-", dir="/tmp") as home:
        yield Stage(Path(home))
