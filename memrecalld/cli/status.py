"""``memrecall status``: what the daemon holds, and how fast it answers."""

from __future__ import annotations

import argparse
import datetime
from typing import TYPE_CHECKING, cast

from memrecalld.cli.command import connect, project_of
from memrecalld.cli.text import counted, printable_json, table
from memrecalld.programs import shown

if TYPE_CHECKING:
    from memrecalld.client.shapes import Health, ProjectStatus, Status


def run(arguments: argparse.Namespace) -> None:
    """Ask and print."""
    project = project_of(arguments)
    with connect(arguments) as client:
        status = client.status(project_root=project)
    if arguments.json:
        print(printable_json(status))
        return
    print("\n".join(_daemon_lines(status)))
    if (described := status.get("project")) is not None:
        print("\n".join(["", *_project_lines(described)]))


def _daemon_lines(status: Status) -> list[str]:
    uptime = datetime.timedelta(seconds=int(status["uptimeS"]))
    latency = status["latency"]
    rows = [
        ("memrecalld", f"{status['version']}, process {status['pid']}, up {uptime}"),
        ("health", _health(status)),
        ("selector", status["selector"]["kind"]),
        *([("not in effect", error)] if (error := status.get("configError")) else []),
        ("notes held", str(status["topics"])),
        ("connections", str(status["connections"])),
        ("sessions", f"{status['sessions']}, {counted(status['openTurns'], 'open turn')}"),
    ]
    if latency["samples"]:
        percentiles = ", ".join(
            f"{name} {value:.1f} ms"
            for name, value in (
                ("p50", latency["p50"]),
                ("p90", latency["p90"]),
                ("p99", latency["p99"]),
                ("max", latency["max"]),
            )
        )
        rows.append(("initial wait", f"{percentiles} ({counted(latency['samples'], 'turn')})"))
    rows += [(f"skipped: {reason}", counted(files, "file")) for reason, files in status["skipped"].items()]
    rows += [(name, str(count)) for name, count in status["counters"].items()]
    return table(rows)


def _health(status: Status) -> str:
    health = cast("Health | None", status.get("health"))  # none from a daemon of an earlier version
    if health is None:
        return "not told; the daemon is of an earlier version"
    if not health["reasons"]:
        return health["state"]
    return f"{health['state']}: {', '.join(health['reasons'])} ({shown('memrecall doctor')} tells what to do)"


def _project_lines(project: ProjectStatus) -> list[str]:
    root = project["root"]
    named = root if root is not None else f"none: {project.get('reason', 'unknown')}"
    lines = table([("project", named)])
    lines += table(
        (
            root["scope"],
            root["layout"],
            counted(root["topics"], "note") if root["exists"] else "no folder",
            root["path"],
        )
        for root in project["roots"]
    )
    if project["skipped"]:
        lines += ["", "skipped files"]
        lines += table((each["reason"], each["path"]) for each in project["skipped"])
    return lines
