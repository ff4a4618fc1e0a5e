"""What the setup document tells people to write is what works."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from memrecalld.cli import main
from memrecalld.hooks.process import EVENTS
from tests.support.daemon import REPOSITORY

DOCUMENT = (REPOSITORY / "editor-clients" / "AGENTS-SETUP.md").read_text(encoding="utf-8")
SERVER = {"command": "memrecall", "args": ["mcp"]}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[list[str]]:
    for block in blocks("sh"):
        yield from (shlex.split(line) for line in block.splitlines())


def test_every_settings_snippet_starts_the_server():
    settings: list[dict[str, Any]] = [json.loads(block) for block in blocks("json")]
    settings += [tomllib.loads(block) for block in blocks("toml")]
    assert len(settings) == 3
    for setting in settings:
        [servers] = setting.values()
        assert servers == {"memrecall": SERVER}


def test_every_command_that_adds_the_server_names_it():
    added = [command for command in commands() if command[1:3] == ["mcp", "add"]]
    assert len(added) == 2
    for command in added:
        assert command[-2:] == [SERVER["command"], *SERVER["args"]]


@pytest.mark.parametrize("host", ["claude", "qwen"])
def test_every_command_of_ours_works(host, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    ours = [command for command in commands() if command[0] == "memrecall" and host in command]
    assert ours == [["memrecall", "install-hooks", "--host", host]]
    assert main(ours[0][1:]) == 0


def test_the_events_are_those_that_are_hooked():
    rows = re.findall(r"^\| (`\w+`.*?) \|", DOCUMENT, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted([*EVENTS])
