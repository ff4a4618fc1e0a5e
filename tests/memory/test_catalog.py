"""What a catalog does at its end, with folders that are still being read."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from memrecalld.config import MemoryConfig
from memrecalld.memory import folder
from memrecalld.memory.catalog import Catalog
from memrecalld.memory.watcher import Watcher

WAIT_S = 60.0


@pytest.mark.parametrize("loop_closed", [False, True])
def test_what_is_read_after_the_end_is_for_nobody_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, loop_closed: bool
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "crane.md").write_text("# Crane", encoding="utf-8")
    began, go_on = threading.Event(), threading.Event()
    scan_root = folder.scan_root

    def held(*arguments, **options):
        began.set()
        assert go_on.wait(WAIT_S)
        return scan_root(*arguments, **options)

    monkeypatch.setattr(folder, "scan_root", held)
    config = MemoryConfig(layouts=(), extra_user_roots=(str(notes),))
    loop = asyncio.new_event_loop()
    catalog = Catalog(config, environment={}, home=str(tmp_path), loop=loop, watcher=Watcher())
    answers: list = []
    catalog.read(None, frozenset(), answers.append)
    assert loop.run_until_complete(asyncio.to_thread(began.wait, WAIT_S))
    reading = [thread for thread in threading.enumerate() if thread.name == "memrecalld-folder"]

    catalog.close()
    if loop_closed:
        loop.close()
    go_on.set()
    for thread in reading:
        thread.join(WAIT_S)
    if not loop_closed:
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    assert (answers, caplog.records) == ([], [])
