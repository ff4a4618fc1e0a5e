"""``memrecall doctor``: what is wrong with the service, and how to mend it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Final

import msgspec

from memrecalld.cli.command import Status, UsageError, project_of
from memrecalld.cli.text import counted, printable, printable_json
from memrecalld.doctor.examination import examine, subject_of
from memrecalld.doctor.finding import Finding, worst
from memrecalld.errors import ConfigError

_MARKS: Final = {"ok": "ok", "hint": "hint", "warning": "warning", "error": "ERROR"}
_WIDTH: Final = max(map(len, _MARKS.values()))


def run(arguments: argparse.Namespace) -> Status:
    """Examine and print. ``Status.OK`` where nothing is worse than a hint, else ``Status.ERROR``."""
    try:
        subject = subject_of(os.environ, project_of(arguments), arguments.socket)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    findings = examine(subject)
    if arguments.json:
        print(printable_json({"worst": worst(findings), "findings": msgspec.to_builtins(findings)}))
    else:
        print("\n".join([*_lines(findings), "", _summary(findings)]))
    return Status.OK if worst(findings) in {"ok", "hint"} else Status.ERROR


def _lines(findings: Sequence[Finding]) -> list[str]:
    lines: list[str] = []
    for check, of in groupby(findings, key=lambda finding: finding.check):
        lines += ["", check] if lines else [check]
        for finding in of:
            lines.append(f"  {_MARKS[finding.severity]:{_WIDTH}}  {printable(finding.what)}")
            if finding.fix is not None:
                lines.append(f"  {'':{_WIDTH}}  -> {printable(finding.fix)}")
    return lines


def _summary(findings: Sequence[Finding]) -> str:
    numbers = [
        counted(number, noun)
        for noun in ("error", "warning", "hint")
        if (number := sum(finding.severity == noun for finding in findings))
    ]
    return f"{', '.join(numbers)}." if numbers else "Everything is as it should be."
