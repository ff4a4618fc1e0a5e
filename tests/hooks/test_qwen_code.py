"""The real Qwen Code with the hooks that ``memrecall install-hooks`` writes, and a real daemon."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from memrecalld.client import Client
from tests.conftest import StartDaemon
from tests.hooks.qwen_code import AgentModel, Message, QwenCode, agent_model
from tests.support.daemon import DaemonProcess
from tests.support.model import Model
from tests.support.notes import note
from tests.support.polling import poll

# Each run of Qwen Code takes both cores for seconds: one worker does them all.
FAST = ("All of the Harbour Crane.", "All of the Crane deploy.")
REFINED = "All of the Anchor (Crane)."


@pytest.fixture
def daemon(start_daemon: StartDaemon, model: Model) -> DaemonProcess:
    """A daemon whose model chooses three notes, two of which share words with the query."""
    model.word = "Crane"
    daemon = start_daemon(model.config)
    for number, title in enumerate(("Harbour Crane", "Crane deploy", "Anchor (Crane)")):
        daemon.write_note("project", f"{number}.md", note(title, f"About: {title}", f"All of the {title}."))
    daemon.wait_until_read(3)
    return daemon


@pytest.fixture
def agents_model(daemon: DaemonProcess) -> Iterator[AgentModel]:
    file = daemon.project / "read.txt"
    file.write_text("what the tool read\n")
    with agent_model(file) as model:
        yield model


@pytest.fixture
def qwen(daemon: DaemonProcess, agents_model: AgentModel) -> QwenCode:
    """Qwen Code without hooks."""
    return QwenCode(daemon.environment, daemon.project, agents_model)


def change_hooks(command: str, daemon: DaemonProcess) -> None:
    subprocess.run(
        [sys.executable, "-m", "memrecalld.cli", command, "--host", "qwen"],
        env=daemon.environment,
        cwd=daemon.project,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def text_of(*messages: Message) -> str:
    return json.dumps(messages, ensure_ascii=False)


def test_memory_is_in_the_first_request_the_choice_in_the_tool_result_and_nothing_comes_twice(
    daemon: DaemonProcess, model: Model, agents_model: AgentModel, qwen: QwenCode
):
    def chosen() -> bool:
        with Client.connect(str(daemon.socket)) as client:
            return client.status()["counters"].get("selector.answered", 0) > 0

    def choose() -> None:
        model.release()
        poll(chosen, "the choice")

    agents_model.before_answering = choose
    change_hooks("install-hooks", daemon)
    assert "That is all." in qwen.run("harbour deploy")
    prompt, result = agents_model.requests
    # The user's own words and the notes are parts of one message.
    assert "harbour deploy" in text_of(prompt[-1])
    assert all(text in text_of(prompt[-1]) for text in FAST)
    assert REFINED not in text_of(*prompt)
    assert "what the tool read" in text_of(*result) and REFINED in text_of(*result[len(prompt) :])
    assert all(text_of(*result).count(text) == 1 for text in (*FAST, REFINED))

    agents_model.sent.clear()
    qwen.run("harbour deploy again", "--continue")
    later = agents_model.requests[-1]
    assert "harbour deploy again" in text_of(*later)
    assert all(text_of(*later).count(text) == 1 for text in (*FAST, REFINED)), (
        "it is in the session's history, once"
    )


def test_without_the_daemon_every_request_is_the_same_byte_for_byte(
    daemon: DaemonProcess, agents_model: AgentModel, qwen: QwenCode
):
    daemon.stop()
    qwen.run("harbour deploy")
    without_hooks = agents_model.sent.copy()
    agents_model.sent.clear()
    change_hooks("install-hooks", daemon)
    assert "memrecalld/hooks/run.py" in qwen.settings.read_text()
    qwen.run("harbour deploy")
    assert len(without_hooks) == 2
    assert agents_model.sent == without_hooks
