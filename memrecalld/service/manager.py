"""The user's systemd, asked through ``systemctl --user``."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from memrecalld.paths import xdg_directory

_CALL_S: Final = 60.0
"""Longer than the units' own time-outs, which systemctl waits for."""

_INSTEAD: Final = "run memrecalld yourself at login, or let memrecall start it when it is first used"


class ManagerError(Exception):
    """systemd is not there, or did not do what it was told; the text says what to do instead."""


class Manager:
    """One user's service manager."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raises ``ManagerError`` where there is none that answers."""
        command = shutil.which("systemctl", path=environ.get("PATH"))
        if command is None:
            raise ManagerError(f"there is no systemd on this machine (no systemctl); {_INSTEAD}")
        self._command = command
        self._environ = with_runtime_directory(environ)
        asked = self._run("show", "--property=Version")
        if asked.returncode:
            raise ManagerError(f"no systemd of this user answers ({_last_line(asked.stderr)}); {_INSTEAD}")

    def call(self, *arguments: str) -> None:
        """Run ``systemctl --user`` with these arguments. Raises ``ManagerError`` where it fails."""
        done = self._run(*arguments)
        if done.returncode:
            raise ManagerError(
                f"systemctl --user {' '.join(arguments)} failed: {_last_line(done.stderr)}; "
                "see: memrecall service status"
            )

    def properties(self, unit: str, *names: str) -> dict[str, str]:
        """Some properties of a unit, empty where there is no such unit or property."""
        answer = self._run("show", unit, f"--property={','.join(names)}")
        found = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
        return {name: found.get(name, "") for name in names}

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 - systemctl, with arguments of ours
                [self._command, "--user", "--no-pager", *arguments],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_CALL_S,
                check=False,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, subprocess.TimeoutExpired):
            raise ManagerError(f"systemctl cannot be run, or does not answer; {_INSTEAD}") from None


def with_runtime_directory(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with ``XDG_RUNTIME_DIR``, by which systemctl finds the manager; ``su`` and cron leave
    it out."""
    runtime = f"/run/user/{os.getuid()}"
    if xdg_directory(environ, "XDG_RUNTIME_DIR") is None and Path(runtime).is_dir():
        return {**environ, "XDG_RUNTIME_DIR": runtime}
    return dict(environ)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
