"""``memrecall install-hooks`` and ``uninstall-hooks``: recall in an agent, by its settings."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path

from memrecalld.cli.command import UsageError
from memrecalld.cli.text import printable
from memrecalld.hooks.agents import AGENTS, Agent, hooks_of
from memrecalld.hooks.jsonc import SyntaxFault
from memrecalld.hooks.settings import new_settings, with_hooks, without_hooks
from memrecalld.hooks.settings_file import SettingsError, SettingsFile


def run(arguments: argparse.Namespace) -> None:
    """Change the settings, or show how they would change."""
    agent = AGENTS[arguments.host]
    file = SettingsFile(_path(arguments, agent))
    try:
        before = file.read()
        after = _changed(before, arguments, agent)
        if after == before:
            print(f"Nothing to change in {printable(str(file.path))}.")
        elif arguments.dry_run:
            sys.stdout.write(_difference(before, after, file.path))
        else:
            file.write(after)
            print(_report(file.path, agent, after, arguments))
    except SyntaxFault as fault:
        raise UsageError(str(file.broken(fault))) from None
    except SettingsError as error:
        raise UsageError(str(error)) from None


def _path(arguments: argparse.Namespace, agent: Agent) -> Path:
    try:
        if arguments.project:
            return Path.cwd() / agent.project_settings
        return agent.settings(os.environ, Path.home())
    except (OSError, RuntimeError):
        raise UsageError("there is no current folder, or no home; change to a folder, or set HOME") from None


def _changed(before: str | None, arguments: argparse.Namespace, agent: Agent) -> str | None:
    if arguments.uninstall:
        return None if before is None else without_hooks(before, comments=agent.comments)
    hooks = hooks_of(arguments.host, sys.executable)
    return new_settings(hooks) if before is None else with_hooks(before, hooks, comments=agent.comments)


def _difference(before: str | None, after: str | None, path: Path) -> str:
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        (after or "").splitlines(keepends=True),
        str(path) if before is not None else os.devnull,
        str(path) if after is not None else os.devnull,
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _report(path: Path, agent: Agent, after: str | None, arguments: argparse.Namespace) -> str:
    shown = printable(str(path))
    if after is None:
        return f"Removed {shown}, which held nothing else. {agent.title} is as it was from its next start on."
    done = "taken out of" if arguments.uninstall else "put into"
    return f"Hooks {done} {shown}; {agent.title} reads it at its next start."
