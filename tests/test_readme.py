"""What README shows works as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memrecalld.client import Client
from memrecalld.config_file import load_config
from tests.support.daemon import REPOSITORY, DaemonProcess
from tests.support.model import Model
from tests.support.notes import note
from tests.support.polling import poll

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def block(language: str, holding: str) -> str:
    """The one block in a language that holds a text."""
    (found,) = (text for name, text in BLOCKS if name == language and holding in text)
    return found


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch):
    """``run_turn``, in the environment that the caller's daemon runs in."""

    def make(daemon: DaemonProcess):
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        namespace: dict = {}
        exec(compile(block("python", "run_turn"), "README.md", "exec"), namespace)
        return namespace["run_turn"]

    return make


def test_the_agent_loop_has_memory_in_its_first_request_and_beside_a_tool_result(
    start_daemon, model: Model, agent
) -> None:
    daemon = start_daemon(model.config)
    for number in range(3):
        daemon.write_note("project", f"deploy-{number}.md", note(f"Deploy {number}", "how to deploy"))
    daemon.write_note("project", "lunch.md", note("Lunch", "where we eat"))
    daemon.wait_until_read(4)
    model.word = "Lunch"
    requests: list[list[str]] = []

    def chosen() -> bool:
        with Client.connect(str(daemon.socket)) as client:
            return client.status()["counters"].get("selector.answered", 0) == 1

    def answer(messages: list[dict[str, str]]) -> dict[str, str]:
        requests.append([f"{each['role']}: {each['content']}" for each in messages])
        if len(requests) == 2:  # at the first tool result the model was still choosing
            model.release()
            poll(chosen, "the model's choice")
        if len(requests) == 3:
            return {"role": "assistant", "content": "done"}
        return {"role": "assistant", "tool": "look"}

    said = agent(daemon)(
        "how do we deploy?", answer, {"look": lambda _: "seen"}, session_id="s", project_root=daemon.project
    )
    assert said == "done"
    assert requests[0][0].startswith("system: <recalled-memory>")
    assert len(re.findall("Deploy [0-2]", requests[0][0])) >= 2
    assert requests[0][1] == "user: how do we deploy?"
    assert requests[1][-1] == "tool: seen"
    assert "Lunch" in requests[2][-1]
    assert sum("Lunch" in text for text in requests[-1]) == 1


def test_the_agent_loop_without_notes_is_the_agent_alone(start_daemon, agent) -> None:
    said = agent(start_daemon())(
        "how do we deploy?",
        lambda messages: {"content": str(len(messages))},
        {},
        session_id="s",
        project_root="/",
    )
    assert said == "1"


def test_the_commands_run(start_daemon, tmp_path: Path) -> None:
    daemon = start_daemon()
    daemon.write_note("project", "deploy.md", note("Deploys", "how to deploy"))
    daemon.wait_until_read(1)
    lines = [line for line in block("sh", "memrecall search").splitlines() if line]
    assert len(lines) == 4
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == ".venv/bin/memrecall"
        result = subprocess.run(
            [sys.executable, "-m", "memrecalld.cli", *arguments],
            cwd=daemon.project,
            env=daemon.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout


def test_the_configuration_shown_is_the_default(tmp_path: Path) -> None:
    text = block("toml", "[memory]")
    assert set(tomllib.loads(text)) == {"memory", "selector"}
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    home = str(tmp_path)
    shown = load_config(str(file), home=home, required=True)
    default = load_config(str(tmp_path / "none.toml"), home=home, required=False)
    assert shown.memory == default.memory
    assert shown.selector.kind == default.selector.kind == "none"
    file.write_text(
        text.replace('"none"', '"openai"').replace("# api_key_env", "api_key_env"), encoding="utf-8"
    )
    openai = load_config(str(file), home=home, required=True)
    assert (openai.selector.kind, openai.selector.api_key_env) == ("openai", "MY_API_KEY")


def test_the_note_shown_is_read_as_it_stands(start_daemon) -> None:
    daemon = start_daemon()
    text = block("markdown", "---")
    daemon.write_note("project", "friday.md", text)
    daemon.wait_until_read(1)
    head = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
    with Client.connect(str(daemon.socket)) as client:
        (listed,) = client.list(project_root=daemon.project)
    assert {name: listed[key] for name, key in (("name", "title"), ("type", "type"))} == {
        "name": head["name"],
        "type": head["type"],
    }


def test_every_file_named_is_there() -> None:
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (REPOSITORY / link.partition("#")[0]).exists()] == []
