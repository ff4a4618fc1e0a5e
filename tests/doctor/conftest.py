"""A user with a home of their own, and nothing in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from memrecalld.doctor.examination import subject_of
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from tests.support.daemon import make_repository


class User:
    """Folders, environment and configuration; ``subject`` is made anew from what is there at the moment."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.cache = home / ".cache" / "memrecalld"
        self.state = home / ".local" / "state" / "memrecalld"
        self.runtime = home / "run" / "memrecalld"
        self.environ = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home / "run"),
            "PATH": os.environ["PATH"],
        }
        make_repository(self.project)

    def configure(self, text: str) -> None:
        file = self.home / ".config" / "memrecalld" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @property
    def subject(self) -> Subject:
        return subject_of(self.environ, str(self.project), None)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def bad(findings: Iterable[Finding]) -> list[Finding]:
    """What is not in order."""
    return [finding for finding in findings if finding.severity != "ok"]
