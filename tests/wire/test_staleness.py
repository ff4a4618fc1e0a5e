"""What is recalled is what is on disk at that moment, whether files are watched or compared."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import polling
from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WAIT_S, WireClient
from tests.wire.turns import Project, Turn, new_session

QUESTION = "how do we deploy"
RECALLS = 50
"""Beside a writer, at the least: they go on until its next version was seen."""


@pytest.fixture(scope="module", params=["true", "false"], ids=["watched", "compared"])
def any_daemon(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path_factory.mktemp("stale") / "home", f"[memory]\nwatch = {request.param}\n")
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.close()


@pytest.fixture
def project(any_daemon: DaemonProcess, tmp_path: Path) -> Project:
    return Project(any_daemon, any_daemon.home / tmp_path.name)


@pytest_asyncio.fixture
async def client(any_daemon: DaemonProcess) -> AsyncIterator[WireClient]:
    async with await WireClient.connect(any_daemon.socket) as client:
        yield client


async def recalled(client: WireClient, project: Project, session: str | None = None) -> dict[str, str]:
    """Title and body of each note in the first prompt."""
    turn = await Turn.start(client, QUESTION, project, session=session)
    await turn.outcome()
    delivery = turn.fast["delivery"] or {"documents": []}
    return {document["title"]: document["body"] for document in delivery["documents"]}


# Within one session ---------------------------------------------------------------------------------


async def test_a_note_comes_again_when_its_text_has_changed_and_not_when_only_its_time_has(client, project):
    session = new_session()
    path = project.write("deploy", note("Deploy", "how to deploy", "from the release branch"))
    first = path.read_text(encoding="utf-8")
    assert await recalled(client, project, session) == {"Deploy": "from the release branch"}
    assert await recalled(client, project, session) == {}
    os.utime(path)
    assert await recalled(client, project, session) == {}
    path.write_text(first.replace("release", "main"), encoding="utf-8")
    assert await recalled(client, project, session) == {"Deploy": "from the main branch"}
    assert await recalled(client, project, session) == {}
    # What the model saw last is the text in between.
    path.write_text(first, encoding="utf-8")
    assert await recalled(client, project, session) == {"Deploy": "from the release branch"}
    path.unlink()
    assert await recalled(client, project, session) == {}


async def test_a_note_that_is_only_renamed_does_not_come_again(client, project):
    session = new_session()
    path = project.write("deploy", note("Deploy", "how to deploy"))
    assert list(await recalled(client, project, session)) == ["Deploy"]
    path.rename(path.with_name("deployment.md"))
    assert await recalled(client, project, session) == {}
    assert list(await recalled(client, project)) == ["Deploy"]


# Writers --------------------------------------------------------------------------------------------

_RENAMING = """
import os, sys, time
path, ready = sys.argv[1:]
for number in range(100_000):
    with open(path + ".tmp", "w") as file:
        file.write(f"---\\nname: Deploy\\ndescription: how to deploy\\n---\\n\\n{number} ")
        file.write("x" * 500 + f" {number}\\n")
    os.rename(path + ".tmp", path)
    if number == 0:
        open(ready, "w").close()
    time.sleep(0.005)
"""

_TRUNCATING = """
import sys, time
path, ready = sys.argv[1:]
for number in range(100_000):
    with open(path, "w") as file:
        time.sleep(0.05)
        file.write(f"---\\nname: Deploy\\ndescription: how to deploy\\n---\\n\\n{number} ")
        file.write("x" * 500 + f" {number}\\n")
    if number == 0:
        open(ready, "w").close()
    time.sleep(0.02)
"""


@pytest.mark.parametrize("writer", [_RENAMING, _TRUNCATING], ids=["renaming", "truncating"])
async def test_a_note_that_is_being_saved_is_there_and_whole(writer, client, project, tmp_path):
    path = project.write("deploy", note("Deploy", "how to deploy", "0 x 0"))
    assert list(await recalled(client, project)) == ["Deploy"]
    ready = tmp_path / "ready"
    process = subprocess.Popen([sys.executable, "-c", writer, str(path), str(ready)])
    try:
        polling.poll(ready.exists, "the note is saved for the first time")
        seen: list[str] = []
        async with asyncio.timeout(WAIT_S):
            while len(seen) < RECALLS or len(set(seen)) == 1:
                body = (await recalled(client, project))["Deploy"]
                first, _, last = body.split(" ")
                assert first == last
                seen.append(first)
    finally:
        process.kill()
        process.wait()


async def test_two_folders_that_change_places_are_seen_in_their_new_ones(client, project):
    project.write("a/deploy", note("Deploy", "how to deploy", "of a"))
    project.write("b/lunch", note("Lunch", "where we eat"))
    assert await recalled(client, project) == {"Deploy": "of a"}
    one, other, aside = (project.notes / name for name in ("a", "b", "aside"))
    for _ in range(3):
        one.rename(aside)
        other.rename(one)
        aside.rename(other)
        turn = await Turn.start(client, QUESTION, project)
        (document,) = turn.fast["delivery"]["documents"]
        here = one if (one / "deploy.md").exists() else other
        assert document["path"] == str(here / "deploy.md")


# Changes nobody is told about -----------------------------------------------------------------------


async def test_a_folder_may_come_later_go_and_come_again(client, project):
    assert await recalled(client, project) == {}
    project.write("deploy", note("Deploy", "how to deploy", "first"))
    assert await recalled(client, project) == {"Deploy": "first"}
    for number in range(3):
        project.notes.rename(project.notes.with_name(f"{project.notes.name}-{number}"))
        assert await recalled(client, project) == {}
        project.write("deploys", note("Deploys", "how to deploy", f"number {number}"))
        assert await recalled(client, project) == {"Deploys": f"number {number}"}


async def test_notes_at_every_depth_are_followed_and_hidden_folders_and_packages_are_not(client, project):
    for depth in (1, 2, 6):
        name = "/".join(["deep"] * (depth - 1) + [f"deploy-{depth}"])
        path = project.write(name, note(f"Deploy {depth}", "how to deploy", "first"))
        assert await recalled(client, project) == {f"Deploy {depth}": "first"}
        project.write(name, note(f"Deploy {depth}", "how to deploy", "second"))
        assert await recalled(client, project) == {f"Deploy {depth}": "second"}
        path.unlink()
        assert await recalled(client, project) == {}
    for folder in (".hidden", ".git", "node_modules"):
        project.write(f"{folder}/deploy", note("Deploy", "how to deploy"))
        assert await recalled(client, project) == {}
