"""All checks, in the order in which a person would look."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from memrecalld.config import Config, Paths
from memrecalld.config_file import load_config
from memrecalld.doctor import configuration, daemon, hooks, notes, permissions, selector, system, unit
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from memrecalld.errors import ConfigError

Check = Callable[[Subject], Iterable[Finding]]

CHECKS: Final[tuple[tuple[str, Check], ...]] = tuple(
    (module.CHECK, module.check)
    for module in (system, configuration, permissions, unit, daemon, selector, notes, hooks)
)
"""Each family's name and function."""


def subject_of(environ: Mapping[str, str], project: str, socket: str | None) -> Subject:
    """Whom an environment, a project's absolute path and perhaps a socket's path speak of.

    Raises ``ConfigError`` where there is no home, or no socket that could be meant.
    """
    paths = Paths.from_environ(environ)
    config, fault = Config(), None
    try:
        config = load_config(paths.config_file, home=paths.home)
    except ConfigError as error:
        fault = str(error)
    return Subject(
        paths=paths,
        environ=environ,
        socket=os.path.abspath(socket or paths.socket),  # noqa: PTH100 - its links are not to be resolved
        project=project,
        config=config,
        config_error=fault,
    )


def examine(subject: Subject, checks: Iterable[tuple[str, Check]] = CHECKS) -> list[Finding]:
    """The findings of all checks. A check that fails itself is a finding too: the others still help."""
    findings: list[Finding] = []
    for name, check in checks:
        try:
            findings.extend(check(subject))
        except Exception as error:
            # Its text could name anything; the kind is enough to look for.
            findings.append(
                Finding(
                    check=name,
                    severity="warning",
                    what=f"this could not be checked ({type(error).__name__})",
                    fix="report it as a fault of memrecall doctor",
                )
            )
    return findings
