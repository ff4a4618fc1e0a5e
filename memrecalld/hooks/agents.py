"""The agents whose settings can be given our hooks, and what those settings hold."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from memrecalld.hooks.process import EVENTS
from memrecalld.hooks.settings import Hook

TIMEOUT_S: Final = 5
"""Far more than a hook takes, for a machine that is busy; what an agent waits at most."""

_RUN: Final = Path(__file__).with_name("run.py")


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent. Paths are relative to the user's home, or to the folder that the agent is started in."""

    title: str
    home_variable: str
    """The environment variable that may name another folder for the user's settings."""
    home: str
    user_settings: str
    """Under that folder."""
    project_settings: str
    comments: bool
    """Its settings may hold comments."""
    timeout: int
    """``TIMEOUT_S`` in its unit."""

    def settings(self, environ: Mapping[str, str], home: Path) -> Path:
        """Where the user's settings are."""
        folder = environ.get(self.home_variable, "")
        return (Path(folder).expanduser() if folder else home / self.home) / self.user_settings


AGENTS: Final[Mapping[str, Agent]] = {
    "claude": Agent(
        title="Claude Code",
        home_variable="CLAUDE_CONFIG_DIR",
        home=".claude",
        user_settings="settings.json",
        # The one that is not shared: the command names paths of this machine.
        project_settings=".claude/settings.local.json",
        comments=False,
        timeout=TIMEOUT_S,
    ),
    "qwen": Agent(
        title="Qwen Code",
        home_variable="QWEN_HOME",
        home=".qwen",
        user_settings="settings.json",
        project_settings=".qwen/settings.json",
        comments=True,
        # Milliseconds up to version 0.15, and in later ones, which count seconds, still for 1,000 and more.
        timeout=TIMEOUT_S * 1000,
    ),
}


def hooks_of(host: str, python: str) -> list[Hook]:
    """The hooks that an agent runs, with this Python."""
    return [Hook(event=event, handler=_handler(host, event, python)) for event in EVENTS]


def _handler(host: str, event: str, python: str) -> dict[str, Any]:
    command = shlex.join([python, "-I", "-S", str(_RUN), event, "--host", host])
    return {"type": "command", "command": command, "timeout": AGENTS[host].timeout}
