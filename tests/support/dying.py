"""A daemon that is killed right between the record of a hand-over and its message, when a test wants it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from memrecalld.recall.session import Handover
from memrecalld.server.main import main
from tests.support.daemon import DaemonProcess

_FILE = "MEMRECALLD_TEST_DIES"


class DyingDaemon(DaemonProcess):
    """A daemon as ``DaemonProcess``."""

    MODULE = "tests.support.dying"

    def __init__(self, home: Path, config: str = "", environment: Mapping[str, str] | None = None) -> None:
        self._file = home / "dies"
        super().__init__(home, config, {_FILE: str(self._file), **(environment or {})})

    def die_at_next_handover(self) -> None:
        """Record what is handed over next, and be gone before it is sent."""
        self._file.touch()

    def return_from_death(self) -> None:
        """Start again. Raises ``AssertionError`` for one that has not died."""
        assert self.wait() == -signal.SIGKILL
        self._file.unlink()
        self.start()


def _serve() -> int:
    file = Path(os.environ[_FILE])
    record = Handover.record

    def record_and_die(handover: Handover) -> None:
        record(handover)
        if file.exists():
            os.kill(os.getpid(), signal.SIGKILL)

    Handover.record = record_and_die  # type: ignore[method-assign]
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(_serve())
