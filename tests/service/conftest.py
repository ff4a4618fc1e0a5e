"""What tests of the service have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.places import short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """A private folder with a short path."""
    with short_folder() as folder:
        yield folder
