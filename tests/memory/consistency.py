"""A writer process changes notes as fast as it can while a catalog is read: is any answer stale, or mixed?

    python -m tests.memory.consistency MODE CHECKS FOLDER

``MODE`` is ``watched``, ``compared`` (no events) or ``overflowed`` (now and then the writer makes more events
than the kernel's queue holds). What the writer says it has done was done before the next reading begins, so
that reading must show it, or something newer. A program, so that limits can be set for it from outside.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Self

from memrecalld.config import MemoryConfig
from memrecalld.memory.catalog import Catalog, Reading
from memrecalld.memory.watcher import Watcher

WAIT_S = 30.0

QUEUED_EVENTS = 16_384
"""Default of ``fs.inotify.max_queued_events``."""

FILES = [f"{folder}n{number}.md" for folder in ("", "sub/", "sub/deeper/") for number in range(12)]


def text(name: str, version: int) -> str:
    """A note that shows whether it is whole: its head and its last line say the same."""
    return f"---\nname: {name} {version}\n---\n" + "words " * 100 + f"\nend of {name} {version}\n"


def write(folder: Path, mode: str) -> None:
    """Change notes until the pipe closes; after each one a line: name, number, and what it was."""
    chance = random.Random(7)
    version = 0
    while True:
        version += 1
        name = chance.choice(FILES)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = chance.choice(["deleted", "replaced", "replaced", "rewritten", "rewritten"])
        if kind == "rewritten" and not path.exists():
            kind = "replaced"
        if kind == "deleted":
            path.unlink(missing_ok=True)
        elif kind == "rewritten":
            whole = text(name, version)
            with path.open("w") as stream:
                stream.write(whole[:60])
                stream.flush()
                stream.write(whole[60:])
        else:
            aside = folder / ".aside"
            aside.write_text(text(name, version))
            aside.replace(path)
        if mode == "overflowed" and version % 500 == 0:
            flood(folder / "sub")
        try:
            os.write(1, f"{name} {version} {kind}\n".encode())
        except BrokenPipeError:
            return


def flood(folder: Path) -> None:
    """More events than the queue holds. Two files, since the kernel merges an event with its like."""
    paths = [folder / "flood-a.txt", folder / "flood-b.txt"]
    for path in paths:
        path.touch()
    for number in range(QUEUED_EVENTS // 2 + 1):
        for path in paths:
            os.utime(path, (number, number))


async def check(folder: Path, mode: str, checks: int) -> None:
    """Read ``checks`` times beside the writer; exit with a message at the first wrong answer."""
    loop = asyncio.get_running_loop()
    home = folder.parent
    catalog = Catalog(
        MemoryConfig(extra_user_roots=(str(folder),)),
        environment={},
        home=str(home),
        loop=loop,
        watcher=None if mode == "compared" else Watcher(),
    )

    async def read() -> Reading:
        answer: asyncio.Future[Reading] = loop.create_future()
        catalog.read(None, frozenset(), answer.set_result)  # type: ignore[arg-type]
        return await answer

    await read()
    with Writer(folder, mode) as writer:
        for _ in range(checks):
            writer.listen()
            reading = await read()
            assert not reading.partial
            writer.verify(reading)
    print(f"{checks} readings, {writer.changes} changes")


class Claim(NamedTuple):
    """A reading is right if one of these has happened to a note by the time it ended."""

    kinds: frozenset[str]
    batches: int = 2
    """What was done by then is in the next two batches of news: the second begins with what was under way."""


DELETED = Claim(frozenset({"deleted"}))
HALF_WRITTEN = Claim(frozenset({"rewritten"}))
DELETED_OR_HALF_WRITTEN = Claim(DELETED.kinds | HALF_WRITTEN.kinds)


class Writer:
    """The writer process, and what it is known to have done."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.changes = 0
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.memory.consistency", "write", mode, str(folder)],
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout.fileno()
        os.set_blocking(self._pipe, False)
        self._rest = b""
        self._done: dict[str, tuple[int, str]] = {}
        self._held: set[str] = set()
        self._claims: dict[str, Claim] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.wait()

    def listen(self) -> None:
        """Learn what has been done up to now: one change at least."""
        news: dict[str, set[str]] = {}
        while True:
            try:
                data = os.read(self._pipe, 65_536)
            except BlockingIOError:
                if news:
                    break
                select.select([self._pipe], [], [], WAIT_S)
                continue
            assert data, "the writer has died"
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                name, version, kind = line.decode().split()
                self._done[name] = (int(version), kind)
                news.setdefault(name, set()).add(kind)
                self.changes += 1
        self._check_claims(news)

    def _check_claims(self, news: dict[str, set[str]]) -> None:
        for name, claim in list(self._claims.items()):
            if claim.kinds & news.get(name, set()):
                del self._claims[name]
            else:
                assert claim.batches > 1, f"{name} was taken to be {'/'.join(claim.kinds)}, and was not"
                self._claims[name] = claim._replace(batches=claim.batches - 1)

    def verify(self, reading: Reading) -> None:
        """Each note is whole, none is older than what was known before, and none is missing for no reason."""
        held = {
            document.relative_path: document
            for folder in reading.folders
            if folder.root.path == str(self._folder)
            for document in folder.documents
        }
        for name, (known, kind) in self._done.items():
            document = held.get(name)
            if document is None:
                if kind != "deleted":
                    # A note that is half-written shows its last good form, if it was ever seen whole.
                    claim = DELETED if name in self._held else DELETED_OR_HALF_WRITTEN
                    self._claims.setdefault(name, claim)
                continue
            version = int(document.title.rsplit(" ", 1)[1])
            assert document.title == f"{name} {version}", f"{name} holds another note"
            assert document.body.endswith(f"end of {name} {version}"), f"{name} is mixed or cut"
            if version < known:
                # Also of a note that was deleted, made anew, and is written at this moment.
                self._claims.setdefault(name, HALF_WRITTEN)
        self._held = set(held)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[3]), sys.argv[2])
    else:
        asyncio.run(check(Path(sys.argv[3]), sys.argv[1], int(sys.argv[2])))
