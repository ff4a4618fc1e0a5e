"""Whether systemd starts the daemon."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import Final

from memrecalld.doctor.finding import Finding, Severity
from memrecalld.doctor.subject import Subject

CHECK: Final = "unit"

SOCKET: Final = "memrecalld.socket"
SERVICE: Final = "memrecalld.service"

_ANSWER_S: Final = 5.0
_PROPERTIES: Final = ("Id", "LoadState", "UnitFileState", "ActiveState", "Result", "NeedDaemonReload")
_ENABLED: Final = frozenset({"enabled", "enabled-runtime", "linked", "static", "generated"})

_BY_HAND: Final = "start memrecalld at login by other means; it needs nothing but its own command"


def check(subject: Subject) -> Iterator[Finding]:
    """Installed, enabled, running: of the socket, and that the service has not failed."""
    units = show(subject.environ, SOCKET, SERVICE)
    if units is None:
        yield Finding(check=CHECK, severity="hint", what="no systemd of this user answers", fix=_BY_HAND)
        return
    absent = [name for name in (SOCKET, SERVICE) if units.get(name, {}).get("LoadState") != "loaded"]
    if absent:
        both = len(absent) == 2
        yield Finding(
            check=CHECK,
            severity="hint" if both else "warning",
            what="systemd does not start memrecalld"
            if both
            else f"the unit {absent[0]} is missing or broken",
            fix="memrecall service install",
        )
        return
    faults = list(_faults(units[SOCKET], units[SERVICE]))
    yield from faults
    if not faults:
        active = units[SERVICE].get("ActiveState", "")
        state = "runs" if active == "active" else "starts at the first connection"
        yield Finding(check=CHECK, severity="ok", what=f"{SOCKET} is enabled, {SERVICE} {state}")


def show(environ: Mapping[str, str], *units: str) -> dict[str, dict[str, str]] | None:
    """Properties of the user's units, by unit; ``None`` where there is no systemd to ask."""
    systemctl = shutil.which("systemctl", path=environ.get("PATH"))
    if systemctl is None:
        return None
    wanted = [f"--property={','.join(_PROPERTIES)}", *units]
    try:
        answer = subprocess.run(  # noqa: S603 - systemctl, with arguments of ours
            [systemctl, "--user", "--no-pager", "show", *wanted],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_S,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode:
        return None
    found: dict[str, dict[str, str]] = {}
    for block in answer.stdout.split("\n\n"):
        properties = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        found[properties.get("Id", "")] = properties
    return found


def _faults(socket: Mapping[str, str], service: Mapping[str, str]) -> Iterator[Finding]:
    if "yes" in {socket.get("NeedDaemonReload"), service.get("NeedDaemonReload")}:
        yield _fault(
            "warning", "systemd has not read the units since they changed", "systemctl --user daemon-reload"
        )
    if socket.get("UnitFileState") not in _ENABLED:
        yield _fault(
            "warning",
            f"{SOCKET} is not enabled, so it is gone after a login",
            f"systemctl --user enable {SOCKET}",
        )
    if service.get("ActiveState") == "failed":
        yield _fault(
            "error",
            f"{SERVICE} has failed ({service.get('Result', 'unknown')})",
            f"see memrecall logs; then: systemctl --user reset-failed {SERVICE}; "
            f"systemctl --user start {SOCKET}",
        )
    elif socket.get("ActiveState") == "failed":
        yield _fault(
            "error",
            f"{SOCKET} has failed ({socket.get('Result', 'unknown')})",
            f"systemctl --user reset-failed {SOCKET} && systemctl --user start {SOCKET}",
        )
    elif socket.get("ActiveState") != "active" and service.get("ActiveState") != "active":
        yield _fault("warning", f"{SOCKET} does not listen", f"systemctl --user start {SOCKET}")


def _fault(severity: Severity, what: str, fix: str) -> Finding:
    return Finding(check=CHECK, severity=severity, what=what, fix=fix)
