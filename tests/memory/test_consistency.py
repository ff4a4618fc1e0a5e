"""No reading is stale or mixed while somebody writes, with file events and without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = 10_000
REPOSITORY = Path(__file__).parents[2]


def run(folder: Path, mode: str, checks: int, *prefix: str) -> None:
    folder.mkdir()
    result = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.memory.consistency", mode, str(checks), str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert f"{checks} readings" in result.stdout


@pytest.mark.parametrize(
    ("mode", "checks"), [("watched", CHECKS), ("compared", CHECKS), ("overflowed", CHECKS)]
)
def test_no_reading_is_stale_or_mixed(mode: str, checks: int, tmp_path: Path) -> None:
    run(tmp_path / "notes", mode, checks)


def test_no_reading_is_stale_when_watches_run_out(tmp_path: Path) -> None:
    """A user namespace has a limit of its own, so that the machine's is left alone."""
    limit = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$@"'
    run(tmp_path / "notes", "watched", CHECKS, "unshare", "--map-root-user", "sh", "-c", limit, "sh")
