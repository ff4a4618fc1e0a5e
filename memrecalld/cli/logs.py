"""``memrecall logs``: what the daemon has reported, wherever that went."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from memrecalld.cli.command import Status, UsageError
from memrecalld.config import Paths
from memrecalld.errors import ConfigError
from memrecalld.service.manager import Manager, ManagerError
from memrecalld.service.units import SERVICE


def run(arguments: argparse.Namespace) -> int:
    """Print the last lines of the user unit's journal, else of the log file; follow them if asked to.

    Returns the exit status of the program that shows them: ``journalctl`` or ``tail``.
    """
    try:
        log_file = Path(Paths.from_environ(os.environ).log_file)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    command = _journal(arguments, log_file) or _tail(arguments, log_file)
    if command is None:
        raise UsageError(
            f"there is no log: no user unit {SERVICE}, and no file {log_file}; "
            "a daemon that you started by hand reports on its own terminal"
        )
    # A child rather than this process itself: it is to find the signals and streams as a shell gives them.
    status = subprocess.run(command, check=False).returncode  # noqa: S603 - arguments of ours
    return Status.OK if status == 0 else Status.ERROR


def _journal(arguments: argparse.Namespace, log_file: Path) -> list[str] | None:
    """``None`` where systemd does not run the daemon, or keeps no journal."""
    journalctl = shutil.which("journalctl")
    if journalctl is None:
        return None
    try:
        unit = Manager(os.environ).show([SERVICE], "LoadState", "ActiveState")[SERVICE]
    except ManagerError:
        return None
    if unit["LoadState"] != "loaded":
        return None
    if unit["ActiveState"] == "inactive" and log_file.is_file():  # the daemon that runs is another
        return None
    follow = ["--follow"] if arguments.follow else []
    return [journalctl, "--user", f"--unit={SERVICE}", "--no-pager", f"--lines={arguments.lines}", *follow]


def _tail(arguments: argparse.Namespace, log_file: Path) -> list[str] | None:
    if not log_file.is_file():
        return None
    follow = ["-F"] if arguments.follow else []
    return ["tail", "-n", str(arguments.lines), *follow, str(log_file)]
