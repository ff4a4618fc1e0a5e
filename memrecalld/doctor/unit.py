"""Whether systemd starts the daemon, by units that are as they should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from memrecalld.doctor.finding import Finding, Severity
from memrecalld.doctor.subject import Subject
from memrecalld.errors import ConfigError
from memrecalld.programs import shown
from memrecalld.service.installation import Installation
from memrecalld.service.manager import Manager, ManagerError
from memrecalld.service.units import NAMES, SERVICE, SOCKET

CHECK: Final = "unit"

_PROPERTIES: Final = ("LoadState", "UnitFileState", "ActiveState", "Result", "NeedDaemonReload", "Listen")
_ENABLED: Final = frozenset({"enabled", "enabled-runtime", "linked", "static", "generated"})

_INSTALL: Final = shown("memrecall service install")
_BY_HAND: Final = "start memrecalld at login by other means; it needs nothing but its own command"


def check(subject: Subject) -> Iterator[Finding]:
    """Installed, unchanged, enabled, listening where clients look, and not failed."""
    try:
        units = Manager(subject.environ).show(NAMES, *_PROPERTIES)
    except ManagerError:
        yield Finding(check=CHECK, severity="hint", what="no systemd of this user answers", fix=_BY_HAND)
        return
    absent = [name for name in NAMES if units[name]["LoadState"] != "loaded"]
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
        active = units[SERVICE]["ActiveState"]
        state = "runs" if active == "active" else "starts at the first connection"
        yield Finding(check=CHECK, severity="ok", what=f"{SOCKET} is enabled, {SERVICE} {state}")


def _absent(absent: list[str], units: Mapping[str, Mapping[str, str]]) -> Finding:
    masked = [name for name in absent if units[name]["LoadState"] == "masked"]
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
    listens = socket["Listen"].removesuffix(" (Stream)")
    if socket["ActiveState"] != "active" or not listens:
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
    if "yes" in {socket["NeedDaemonReload"], service["NeedDaemonReload"]}:
        yield _fault(
            "warning", "systemd has not read the units since they changed", "systemctl --user daemon-reload"
        )
    if socket["UnitFileState"] not in _ENABLED:
        yield _fault(
            "warning",
            f"{SOCKET} is not enabled, so it is gone after a login",
            f"systemctl --user enable {SOCKET}",
        )
    if service["ActiveState"] == "failed":
        yield _fault(
            "error",
            f"{SERVICE} has failed ({service['Result'] or 'unknown'})",
            f"see {shown('memrecall logs')}; then: systemctl --user reset-failed {SERVICE}; "
            f"systemctl --user start {SOCKET}",
        )
    elif socket["ActiveState"] == "failed":
        yield _fault(
            "error",
            f"{SOCKET} has failed ({socket['Result'] or 'unknown'})",
            f"systemctl --user reset-failed {SOCKET} && systemctl --user start {SOCKET}",
        )
    elif socket["ActiveState"] != "active" and service["ActiveState"] != "active":
        yield _fault("warning", f"{SOCKET} does not listen", f"systemctl --user start {SOCKET}")


def _fault(severity: Severity, what: str, fix: str) -> Finding:
    return Finding(check=CHECK, severity=severity, what=what, fix=fix)
