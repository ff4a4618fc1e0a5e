"""Whether the agents on this machine recall by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from memrecalld.hooks.agents import AGENTS, hooks_of
from memrecalld.hooks.failures import failures_file
from memrecalld.hooks.jsonc import SyntaxFault
from memrecalld.hooks.settings import hooked_events, with_hooks
from memrecalld.hooks.settings_file import SettingsError, SettingsFile
from memrecalld.programs import shown

CHECK: Final = "hooks"


def check(subject: Subject) -> Iterator[Finding]:
    """For each agent that this user has: are the hooks in, do they run this installation, do they fail?"""
    for host in AGENTS:
        yield from _of_agent(host, subject)
    counted = failures_file(subject.environ)
    if counted is not None and Path(counted).exists():
        yield Finding(
            check=CHECK,
            severity="hint",
            what="the last hook that ran found no daemon",
            fix="nothing to do if the daemon answers now: the next prompt tries again",
        )


def _of_agent(host: str, subject: Subject) -> Iterator[Finding]:
    agent = AGENTS[host]
    install = shown(f"memrecall install-hooks --host {host}")
    users = agent.settings(subject.environ, Path(subject.paths.home))
    if not users.parent.is_dir():
        yield Finding(check=CHECK, severity="ok", what=f"{agent.title} is not in use here")
        return
    installed = False
    for path, where in ((users, ""), (Path(subject.project, agent.project_settings), " in this project")):
        try:
            hooks = _installed(host, SettingsFile(path))
        except (SyntaxFault, SettingsError):
            yield Finding(
                check=CHECK,
                severity="warning",
                what=f"{agent.title} may not be able to read its settings: {path} is broken",
                fix=f"{install}{' --project' if where else ''} --dry-run names the place",
            )
            installed = True  # there may be some
            continue
        if hooks == "current":
            yield Finding(check=CHECK, severity="ok", what=f"{agent.title} recalls by itself{where}")
        elif hooks == "other":
            yield Finding(
                check=CHECK,
                severity="warning",
                what=f"{agent.title} runs the hooks of another installation or version{where}",
                fix=f"{install}{' --project' if where else ''}",
            )
        installed = installed or hooks != "none"
    if not installed:
        yield Finding(
            check=CHECK, severity="hint", what=f"{agent.title} does not recall by itself", fix=install
        )


def _installed(host: str, file: SettingsFile) -> Literal["none", "current", "other"]:
    """Whose hooks are in a settings file. Raises ``SyntaxFault`` and ``SettingsError``."""
    agent = AGENTS[host]
    text = file.read()
    if text is None or not hooked_events(text, comments=agent.comments):
        return "none"
    ours = hooks_of(host, sys.executable)
    return "current" if with_hooks(text, ours, comments=agent.comments) == text else "other"
