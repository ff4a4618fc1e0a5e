"""Whether the agents on this machine recall by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from memrecalld.hooks.agents import AGENTS, hooks_of
from memrecalld.hooks.failures import failures_file
from memrecalld.hooks.jsonc import SyntaxFault
from memrecalld.hooks.settings import hooked_events, with_hooks
from memrecalld.hooks.settings_file import SettingsError, SettingsFile

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
    file = SettingsFile(agent.settings(subject.environ, Path(subject.paths.home)))
    install = f"memrecall install-hooks --host {host}"
    if not file.path.parent.is_dir():
        yield Finding(check=CHECK, severity="ok", what=f"{agent.title} is not in use here")
        return
    try:
        text = file.read()
        installed = text is not None and bool(hooked_events(text, comments=agent.comments))
        ours = hooks_of(host, sys.executable)
        current = text is not None and with_hooks(text, ours, comments=agent.comments) == text
    except (SyntaxFault, SettingsError):
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{agent.title} may not be able to read its settings: {file.path} is broken",
            fix=f"{install} --dry-run names the place",
        )
        return
    if not installed:
        yield Finding(
            check=CHECK, severity="hint", what=f"{agent.title} does not recall by itself", fix=install
        )
    elif not current:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{agent.title} runs the hooks of another installation or version",
            fix=install,
        )
    else:
        yield Finding(check=CHECK, severity="ok", what=f"{agent.title} recalls by itself")
