"""Whether systemd starts the daemon, by units that are as they should be."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from memrecalld.doctor.finding import Finding, Severity
from memrecalld.doctor.subject import Subject
from memrecalld.errors import ConfigError
from memrecalld.service.installation import Installation
from memrecalld.service.manager import with_runtime_directory
from memrecalld.service.units import NAMES, SERVICE, SOCKET

CHECK: Final = "unit"

_ANSWER_S: Final = 5.0
_PROPERTIES: Final = (
    *("Id", "LoadState", "UnitFileState", "ActiveState", "Result", "NeedDaemonReload"),
    "Listen",
)
_ENABLED: Final = frozenset({"enabled", "enabled-runtime", "linked", "static", "generated"})

_INSTALL: Final = "memrecall service install"
_BY_HAND: Final = "start memrecalld at login by other means; it needs nothing but its own command"


def check(subject: Subject) -> Iterator[Finding]:
    """Installed, unchanged, enabled, listening where clients look, and not failed."""
    units = show(subject.environ, SOCKET, SERVICE)
    if units is None:
        yield Finding(check=CHECK, severity="hint", what="no systemd of this user answers", fix=_BY_HAND)
        return
    absent = [name for name in NAMES if units.get(name, {}).get("LoadState") != "loaded"]
    if absent:
        yield _absent(absent, units)
        return
    faults = [
        *_file_faults(subject),
        *_faults(units[SOCKET], units[SERVICE]),
        *_place_faults(units[SOCKET], subject.socket),
    ]
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
            env=with_runtime_directory(environ),
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


def _absent(absent: list[str], units: Mapping[str, Mapping[str, str]]) -> Finding:
    masked = [name for name in absent if units.get(name, {}).get("LoadState") == "masked"]
    if masked:
        fix = f"systemctl --user unmask {' '.join(masked)}"
        return _fault("warning", f"the unit {masked[0]} is masked, so that systemd never starts it", fix)
    if len(absent) == len(NAMES):
        return _fault("hint", "systemd does not start memrecalld", _INSTALL)
    return _fault("warning", f"the unit {absent[0]} is missing or broken", _INSTALL)


def _file_faults(subject: Subject) -> Iterator[Finding]:
    """What is wrong with the files that ``memrecall service install`` writes; units from elsewhere are not
    looked at."""
    try:
        installation = Installation(subject.environ)
        states = {name: installation.state(name) for name in NAMES}
    except (ConfigError, OSError, ValueError) as error:
        yield _fault("warning", f"the unit files cannot be looked at ({type(error).__name__})", _INSTALL)
        return
    for name, state in states.items():
        path = installation.path(name)
        if state == "changed":
            yield _fault(
                "warning",
                f"{path} was changed by hand",
                f"move it away, and keep your settings in a drop-in instead: systemctl --user edit {name}; "
                f"{_INSTALL}",
            )
        elif state == "outdated":
            yield _fault("warning", f"{path} is of another memrecalld, or of other folders", _INSTALL)


def _place_faults(socket: Mapping[str, str], wanted: str) -> Iterator[Finding]:
    listens = socket.get("Listen", "").removesuffix(" (Stream)")
    if socket.get("ActiveState") != "active" or not listens:
        return
    if listens != wanted:
        yield _fault(
            "warning",
            f"clients look for {wanted}, and {SOCKET} listens on {listens}",
            f"unset MEMRECALLD_SOCKET, or name that path in ListenStream=: systemctl --user edit {SOCKET}",
        )
    elif not Path(listens).is_socket():
        yield _fault("warning", f"{listens} was removed", f"make it anew: systemctl --user restart {SOCKET}")


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
