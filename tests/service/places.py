"""Folders whose paths are short enough for a socket, which pytest's own are not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_folder() -> Iterator[Path]:
    """A private folder that is removed at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="memrecalld-test-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
