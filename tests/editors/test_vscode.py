"""The packaged extension in a real VS Code, seen and used as a person does."""

from __future__ import annotations

import asyncio
import os
import re
import signal

import pytest

from tests.conftest import ConnectWire, StartDaemon
from tests.editors.vscode import ENVIRONMENT, Extension, Workbench, daemon_command
from tests.support.daemon import DaemonProcess
from tests.support.model import Model
from tests.support.notes import note
from tests.support.wire import WireClient

# One editor at a time is enough for a small machine.
QUERY = "how do we deploy the api to staging?"

RECALL = "memrecall: Recall for Selection or Query"
SEARCH = "memrecall: Search Notes"
STATUS = "memrecall: Show Status"


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Extension:
    """The extension as ``npm run package`` makes it, once for all workers of this run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in ENVIRONMENT:  # then the workers' folders are side by side
        folder = folder.parent
    return Extension.build(folder / "vscode-extension")


def write_notes(daemon: DaemonProcess) -> None:
    """Notes as they gather in a project, and one of the person."""
    for name, text, days_old in (
        (
            "deploy-staging",
            note(
                "Deploying to staging",
                "Staging deploys from the release branch, never from main",
                "Push the release branch; the pipeline deploys the API to staging in four minutes.\n\n"
                "Roll back with `make rollback`.",
            ),
            2,
        ),
        (
            "api-smoke-tests",
            note(
                "API smoke tests",
                "What to check after each deploy of the API",
                "Log in, create an order, and look at the queue.",
            ),
            9,
        ),
        (
            "freeze",
            note(
                "Change freeze at quarter end",
                "Nobody ships in its last week without asking Ines",
                "She decides on exceptions.",
                "feedback",
            ),
            20,
        ),
        (
            "dashboard",
            note("Latency dashboard", "Where to watch p99 while rolling out", "Grafana.", "reference"),
            40,
        ),
        ("lunch", note("Lunch orders", "Who orders on Fridays", "Tom."), 3),
    ):
        daemon.write_note("project", f"{name}.md", text, days_old=days_old)
    daemon.write_note(
        "user",
        "shell.md",
        note("Prefers make targets", "Give commands as make targets where there is one", "", "user"),
        days_old=90,
    )


async def start_turn(agent: WireClient, daemon: DaemonProcess, session: str) -> tuple[int | str, dict]:
    """Start a turn whose notes were all read within its initial wait: on a busy machine not every one's are.

    Those before it have ended, and the session got nothing from them.
    """
    await agent.call("memory/list", {"projectRoot": str(daemon.project)})
    params = {"sessionId": session, "query": QUERY, "projectRoot": str(daemon.project)}
    for _ in range(100):
        request = await agent.request("recall/start", params)
        fast = await agent.fast(request)
        if fast["endedBy"] != "ceiling" and not fast["partial"]:
            return request, fast
        await agent.notify("recall/end", {"sessionId": session})
        await agent.response(request)
        await agent.call("recall/reset", {"sessionId": session})
    raise AssertionError("the initial wait was always too short")


def test_the_extension_keeps_its_promises_inside_the_editor(extension: Extension):
    output = extension.run("npm", "test", environment=daemon_command())
    assert re.search(r"^[1-9]\d* passed, 0 failed$", output, re.MULTILINE), output


async def test_a_person_recalls_searches_and_sees_the_state(extension: Extension, daemon, tmp_path):
    write_notes(daemon)
    async with await Workbench.open(extension, daemon, tmp_path / "editor") as editor:
        await editor.see_health("connected")

        await editor.command(RECALL)
        await editor.fill("What would you ask an agent?", QUERY)
        await editor.press("Enter")
        found = await editor.see_row("Deploying to staging")
        assert "deploy" in found and "title" in found
        await editor.press("Enter")
        await editor.see_editor("never from main")

        await editor.command(SEARCH)
        await editor.fill("Search memory notes", "dashboard")
        assert "Latency dashboard" in await editor.see_row("title: dashboard")
        await editor.press("Enter")
        await editor.see_editor("Grafana.")

        await editor.click_status_bar()
        assert str(daemon.pid) in await editor.see_row("Connected")
        assert str(daemon.project_notes) in await editor.see_row("project · native")
        await editor.press("Escape")


async def test_the_view_fills_while_an_agents_turn_runs(
    extension: Extension,
    start_daemon: StartDaemon,
    connect_wire: ConnectWire,
    model: Model,
    tmp_path,
):
    daemon = start_daemon(model.config)
    write_notes(daemon)
    model.word = "quarter end"
    async with await Workbench.open(extension, daemon, tmp_path / "editor") as editor:
        await editor.see_health("connected")
        await editor.open_view()
        agent = await connect_wire(daemon)

        request, fast = await start_turn(agent, daemon, "checkout-refactoring")
        await editor.see_node("Session checkout-refactoring")
        await editor.see_node("waiting for the model's choice", last=True)
        for document in fast["delivery"]["documents"]:
            shown = await editor.see_node(document["title"])
            assert "fast" in shown and "deploy" in shown

        model.release()
        params = {"sessionId": "checkout-refactoring", "toolName": "shell"}
        while (result := await agent.call("recall/toolResult", params))["state"] == "pending":
            pass
        [chosen] = result["delivery"]["documents"]
        shown = await editor.see_node(chosen["title"])
        assert "refined" in shown and "chosen by the model" in shown
        await agent.response(request)
        await editor.see_node("2 fast, 1 refined", last=True)
        assert not [line for line in await editor.tree() if "waiting" in line]

        own = "who decides on an exception to the freeze?"
        await editor.command(RECALL)
        await editor.fill("What would you ask an agent?", own)
        await editor.press("Enter")
        await editor.see_placeholder("Choose a note to open it")
        await editor.press("Escape")
        await editor.see_node(own)
        assert (await editor.tree())[0].startswith("This window")

        await editor.click_note(fast["delivery"]["documents"][0]["title"])
        await editor.see_editor("description:")
        # The picture in the extension's README is one of these.
        await editor.screenshot(tmp_path / "recalled-memory.png")


async def test_a_daemon_that_was_killed_and_comes_back_is_used_again(
    extension: Extension, daemon, connect_wire: ConnectWire, tmp_path
):
    write_notes(daemon)
    async with await Workbench.open(extension, daemon, tmp_path / "editor") as editor:
        await editor.see_health("connected")
        daemon.kill()
        await editor.see_health("reconnecting", "daemon absent")
        await editor.see_health("daemon absent")
        await editor.command(STATUS)
        assert "start it" in await editor.see_row("Daemon absent")
        await editor.press("Escape")

        daemon.start()
        await editor.see_health("connected")
        await editor.open_view()
        agent = await connect_wire(daemon)
        await start_turn(agent, daemon, "after the crash")
        await editor.see_node("Deploying to staging")
        await editor.command(SEARCH)
        await editor.fill("Search memory notes", "staging")
        await editor.see_row("Deploying to staging")
        await editor.press("Escape")

        daemon.configure("selector = [")
        os.kill(daemon.pid, signal.SIGHUP)
        while "configError" not in await agent.call("daemon/status"):
            await asyncio.sleep(0)
        await editor.command("memrecall: Reconnect to the Daemon")
        await editor.see_health("connected, degraded")
        await editor.click_status_bar()
        await editor.see_row("Connected, degraded")
        await editor.see_row("the configuration file cannot be used; the one before is in effect")
