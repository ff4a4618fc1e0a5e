"""The user's systemd, asked through ``systemctl --user``."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from memrecalld.paths import xdg_directory
from memrecalld.programs import shown

_CALL_S: Final = 60.0
"""Longer than the units' own time-outs, which systemctl waits for."""

_ANSWER_S: Final = 5.0
"""What systemd is asked it knows at once, unless it is stuck."""

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
        self._ask("--property=Version")

    def call(self, *arguments: str) -> None:
        """Run ``systemctl --user`` with these arguments. Raises ``ManagerError`` where it fails."""
        done = self._run(arguments, within_s=_CALL_S)
        if done.returncode:
            raise ManagerError(
                f"systemctl --user {' '.join(arguments)} failed: {_last_line(done.stderr)}; "
                f"see: {shown('memrecall service status')}"
            )

    def show(self, units: Iterable[str], *properties: str) -> dict[str, dict[str, str]]:
        """Some properties of some units, by unit; empty where there is no such unit or property.

        Raises ``ManagerError`` where systemd does not answer.
        """
        wanted = tuple(units)
        answer = self._ask(f"--property={','.join(('Id', *properties))}", *wanted)
        found: dict[str, dict[str, str]] = {}
        for block in answer.split("\n\n"):
            values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
            found[values.get("Id", "")] = values
        return {unit: {name: found.get(unit, {}).get(name, "") for name in properties} for unit in wanted}

    def _ask(self, *arguments: str) -> str:
        asked = self._run(("show", *arguments), within_s=_ANSWER_S)
        if asked.returncode:
            raise ManagerError(f"no systemd of this user answers ({_last_line(asked.stderr)}); {_INSTEAD}")
        return asked.stdout

    def _run(self, arguments: Iterable[str], *, within_s: float) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 - systemctl, with arguments of ours
                [self._command, "--user", "--no-pager", *arguments],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=within_s,
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
