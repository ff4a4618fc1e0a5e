"""The system fails in all the ways it can: the rest is answered rightly and in time, and the reason is counted."""

from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrecalld.client import Client
from tests.support.daemon import REPOSITORY, DaemonProcess, make_repository
from tests.support.notes import note
from tests.support.polling import poll

FAULTS = Path(__file__).with_name("faults")
CEILING_MS = 100.0
ATTEMPTS = 20
"""A busy machine may be late with an answer now and then, a fault makes it late each time."""

_sessions = itertools.count()
DAY_S = 86_400


class Faulty:
    """A daemon, the faults around it, and a project for each test."""

    def __init__(self, home: Path) -> None:
        self._orders = home.with_name("faults.json")
        self.order()
        environment = {"PYTHONPATH": f"{FAULTS}:{REPOSITORY}", "FAULTS": str(self._orders)}
        self.daemon = DaemonProcess(home, "", environment)

    def order(self, *calls: dict[str, Any], clock_s: int = 0) -> None:
        """From now on these calls fail, and the clock is wrong by so much."""
        written = self._orders.with_suffix(".new")
        written.write_text(json.dumps({"calls": calls, "clock_s": clock_s}), encoding="ascii")
        os.utime(written, ns=(0, time.monotonic_ns()))
        written.replace(self._orders)

    def project(self, name: str, **notes: str) -> Path:
        """A project with these notes, read and indexed."""
        root = self.daemon.home / name
        make_repository(root)
        for title, description in notes.items():
            self.write(root, title, description)
        with Client.connect(str(self.daemon.socket)) as client:
            assert len(client.list(project_root=root)) == len(notes)
        return root

    def write(self, root: Path, title: str, description: str) -> Path:
        """Write a note of a project."""
        path = self.daemon.notes_of(root) / f"{title}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(title, description), encoding="utf-8")
        return path

    def recalled(self, root: Path, query: str, session: str | None = None) -> list[str]:
        """Titles of a recall that came in time."""
        for _ in range(ATTEMPTS):
            with Client.connect(str(self.daemon.socket)) as client:
                key = session or f"faults {next(_sessions)}"
                began = time.monotonic()
                fast = client.recall(query, session_id=key, project_root=root).fast
                if (time.monotonic() - began) * 1e3 < CEILING_MS:
                    delivery = fast["delivery"]
                    return [] if delivery is None else sorted(each["title"] for each in delivery["documents"])
        raise AssertionError("no recall comes in time")

    def skipped(self, root: Path) -> dict[str, str]:
        """What was left out of a project's folders: names and reasons."""
        with Client.connect(str(self.daemon.socket)) as client:
            project = client.status(project_root=root)["project"]
            return {Path(each["path"]).name: each["reason"] for each in project["skipped"]}

    def counter(self, name: str) -> int:
        """A counter of the daemon's status."""
        with Client.connect(str(self.daemon.socket)) as client:
            return client.status()["counters"].get(name, 0)
