"""``memrecall service``: let systemd start the daemon, no longer, or show whether it does."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from memrecalld.cli.command import CommandFailed, Status
from memrecalld.cli.text import printable, table
from memrecalld.config import Config
from memrecalld.doctor import unit
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject
from memrecalld.errors import ConfigError
from memrecalld.service.installation import Installation
from memrecalld.service.manager import Manager, ManagerError, with_runtime_directory
from memrecalld.service.units import NAMES, SERVICE, SOCKET, State

_SHOWN = ("UnitFileState", "ActiveState", "SubState", "Listen", "MainPID", "StatusText")
_DROP_IN = "keep your settings in a drop-in instead: systemctl --user edit"


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say. Raises ``CommandFailed``."""
    try:
        installation = Installation(os.environ)
        match arguments.action:
            case "install":
                return _install(installation, dry_run=arguments.dry_run)
            case "uninstall":
                return _uninstall(installation, dry_run=arguments.dry_run)
            case _:
                return _status(installation)
    except (ConfigError, ManagerError) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"a unit file cannot be read or written: {error}") from None
    except ValueError as error:
        raise CommandFailed(f"the units cannot be made: {error}") from None


# Install ---------------------------------------------------------------------------------------------------


def _install(installation: Installation, *, dry_run: bool) -> int:
    states = {name: installation.state(name) for name in NAMES}
    _refuse_changed(installation, states)
    todo = [name for name in NAMES if states[name] != "current"]
    calls = [["daemon-reload"], ["stop", SOCKET, SERVICE]] if todo else []
    calls.append(["enable", "--now", SOCKET])
    if dry_run:
        for name in todo:
            print(f"# {installation.path(name)}\n{installation.wanted[name]}")
        _print_calls(calls)
        return Status.OK
    manager = Manager(installation.environ)  # before anything is written
    for name in todo:
        installation.write(name)
        print(f"Wrote {printable(str(installation.path(name)))}.")
    for call in calls:
        manager.call(*call)
    print(f"{SOCKET} is enabled; the first connection starts the daemon.")
    return _status(installation)


def _refuse_changed(installation: Installation, states: Mapping[str, State]) -> None:
    changed = [str(installation.path(name)) for name in NAMES if states[name] == "changed"]
    if changed:
        raise CommandFailed(
            f"{' and '.join(changed)} was not written by this command, or was changed since, and is left "
            f"alone; move it away, and {_DROP_IN} {SERVICE}"
        )


# Uninstall -------------------------------------------------------------------------------------------------


def _uninstall(installation: Installation, *, dry_run: bool) -> int:
    states = {name: installation.state(name) for name in NAMES}
    there = [name for name in NAMES if states[name] != "absent"]
    ours = [name for name in there if states[name] != "changed"]
    if not there:
        print(f"Nothing is installed in {printable(str(installation.directory))}.")
        return Status.OK
    calls = [["disable", SOCKET]] if SOCKET in there else []
    calls.append(["stop", *there])
    if dry_run:
        _print_calls([*calls, ["daemon-reload"]])
        for name in ours:
            print(f"rm {installation.path(name)}")
        return Status.OK
    manager = Manager(installation.environ)
    for call in calls:
        manager.call(*call)
    for name in ours:
        installation.path(name).unlink()
        print(f"Removed {printable(str(installation.path(name)))}.")
    manager.call("daemon-reload")
    drop_ins = [folder for name in NAMES if (folder := installation.path(f"{name}.d")).is_dir()]
    if drop_ins:
        print(f"Your drop-ins stay: {printable(', '.join(map(str, drop_ins)))}")
    _refuse_changed(installation, states)
    return Status.OK


# Status ----------------------------------------------------------------------------------------------------


def _status(installation: Installation) -> int:
    manager = Manager(installation.environ)
    units = manager.show(NAMES, *_SHOWN)
    print("\n".join(table(_rows(installation, units[SOCKET], units[SERVICE]))))
    findings = [each for each in _findings(installation) if each.severity != "ok"]
    for each in findings:
        print(f"\n{each.severity}: {printable(each.what)}")
        if each.fix is not None:
            print(f"  {printable(each.fix)}")
    return Status.ERROR if findings else Status.OK


def _rows(
    installation: Installation, socket: Mapping[str, str], service: Mapping[str, str]
) -> list[tuple[str, str]]:
    listens = socket["Listen"].removesuffix(" (Stream)")
    process = f", process {service['MainPID']}" if service["MainPID"] not in {"", "0"} else ""
    counts = f" ({service['StatusText']})" if service["StatusText"] else ""
    return [
        *((name, f"{installation.state(name)} in {installation.directory}") for name in NAMES),
        ("enabled", socket["UnitFileState"] or "no"),
        ("socket", f"{socket['ActiveState']} ({socket['SubState']}) {listens}".rstrip()),
        ("service", f"{service['ActiveState']} ({service['SubState']}){process}{counts}"),
    ]


def _findings(installation: Installation) -> list[Finding]:
    subject = Subject(
        paths=installation.paths,
        environ=with_runtime_directory(installation.environ),
        socket=installation.paths.socket,
        project="/",
        config=Config(),
    )
    return list(unit.check(subject))


def _print_calls(calls: list[list[str]]) -> None:
    for call in calls:
        print(f"systemctl --user {' '.join(call)}")
