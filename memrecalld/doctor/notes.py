"""The folders of the project and of the user: what is in them, what is left out, what looks wrong."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from memrecalld.doctor.finding import NAMED, Finding, counted, named
from memrecalld.doctor.patience import within
from memrecalld.doctor.reading import RootReport, find_places, read_root
from memrecalld.doctor.subject import Subject
from memrecalld.errors import InvalidProject, ProjectMemoryError
from memrecalld.memory.document import Problem
from memrecalld.memory.filesystem import is_local
from memrecalld.memory.layouts import Places, Root
from memrecalld.memory.scan import RootScan
from memrecalld.memory.skips import Reason

CHECK: Final = "notes"

READ_S: Final = 20.0
"""For all notes of one folder: some 100,000 on a slow machine."""

_AHEAD_NS: Final = 86_400 * 10**9
"""How far in the future a note's time is strange: a day, which no time zone reaches."""

_PROBLEMS: Final[dict[Problem, tuple[str, str]]] = {
    "frontmatter-unclosed": (
        "the head of {} has no closing ---, so all of it counts as body",
        "add a line ---",
    ),
    "frontmatter-yaml": (
        "the head of {} is not plain YAML, so its known keys were read line by line",
        "put values with special characters into quotes",
    ),
    "frontmatter-repaired": (
        "the head of {} holds a text that YAML would have cut or changed; it was kept as written",
        "put the value into quotes",
    ),
    "frontmatter-duplicate": ("the head of {} has a key twice", "keep one of them"),
}

_SKIPPED: Final[dict[Reason, str]] = {
    "unreadable": "chmod u+r on the files, u+rx on the folders",
    "io-error": "see the kernel's log: journalctl -k",
    "outside-roots": "move the file here, or name its folder in memory.extra_user_roots",
    "not-a-directory": "move the file away",
    "too-deep": "move the notes up",
    "name-not-unicode": "rename the files",
    "no-descriptors": "raise the limit of open files: ulimit -n, or LimitNOFILE= in the unit",
}
"""What to do about files that were left out. What is not named here needs nothing: it mends itself, or the
same note is read elsewhere."""


def check(subject: Subject) -> Iterator[Finding]:
    """Read every folder as the daemon would, a time limit for each, and tell what is in it."""
    try:
        found = find_places(subject)
    except InvalidProject as error:
        yield Finding(check=CHECK, severity="error", what=str(error), fix="use --project DIR")
        return
    if found.project is None:
        yield Finding(
            check=CHECK,
            severity="hint",
            what=f"{subject.project} is no project ({found.no_project}); only your own notes are recalled",
            fix="change to a project's folder, or use --project DIR",
        )
    yield from _untrusted(subject, found)
    for root in found.roots:
        yield from _of_root(root, found)


def _untrusted(subject: Subject, found: Places) -> Iterator[Finding]:
    """Notes that came with the repository and are not read."""
    if found.project is None or any(root.layout == "team" for root in found.roots):
        return
    trusting = msgspec.structs.replace(
        subject.config.memory, trusted_projects=(_escaped(found.project.root),)
    )
    for root in find_places(subject, trusting).roots:
        if root.layout == "team" and within(READ_S, Path(root.real_path).is_dir):
            yield Finding(
                check=CHECK,
                severity="hint",
                what=f"{root.path} came with the repository and is not read",
                fix=f"if you trust its authors, add {found.project.root} to memory.trusted_projects",
            )


def _of_root(root: Root, found: Places) -> Iterator[Finding]:
    name = f"{root.path} ({root.scope} notes, {root.layout})"
    try:
        report = within(READ_S, partial(read_root, root, found))
    except TimeoutError:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{name} does not answer within {READ_S:g} s; recalls go on without it",
            fix=f"see whether ls -R {root.path} answers",
        )
        return
    except ProjectMemoryError as error:
        yield Finding(
            check=CHECK,
            severity="error",
            what=f"{name} cannot be read ({error.reason}), so nothing is recalled in this project",
            fix="make it a folder that you may list, or remove it",
        )
        return
    scan = report.scan
    if scan.state == "failed":
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{name} cannot be read ({', '.join(scan.skipped)}); recalls go on without it",
            fix="make it a folder that you may list, or remove it",
        )
        return
    if scan.state == "missing":
        yield Finding(check=CHECK, severity="ok", what=f"{name} does not exist yet")
        return
    yield Finding(check=CHECK, severity="ok", what=f"{counted(len(scan.entries), 'note')} in {name}")
    if not is_local(root.real_path):
        yield Finding(
            check=CHECK,
            severity="hint",
            what=f"{root.path} may not tell of changes (a network folder, FUSE); recalls compare its files",
            fix="keep notes on a local disk, if there are many",
        )
    yield from _skipped(scan)
    yield from _problems(scan)
    yield from _secrets(report)
    yield from _from_the_future(scan)


def _skipped(scan: RootScan) -> Iterator[Finding]:
    for reason, count in scan.skipped.items():
        paths = [_path(scan, skip.relative_path) for skip in scan.skips if skip.reason == reason]
        if not reason.startswith("secret-"):  # they are named with the others that hold secrets
            fix = _SKIPPED.get(reason)
            yield Finding(
                check=CHECK,
                severity="hint" if fix is None else "warning",
                what=f"left out ({reason}): {named(paths, count)}",
                fix=fix,
            )


def _problems(scan: RootScan) -> Iterator[Finding]:
    paths: defaultdict[Problem, list[str]] = defaultdict(list)
    for document in scan.documents:
        if document.problem is not None:
            paths[document.problem].append(_path(scan, document.relative_path))
    for problem, of in paths.items():
        what, fix = _PROBLEMS[problem]
        yield Finding(check=CHECK, severity="hint", what=what.format(named(of)), fix=fix)


def _secrets(report: RootReport) -> Iterator[Finding]:
    team = report.scan.root.layout == "team"
    consequence = "it is not delivered" if team else "it goes to the model when it is recalled"
    for path, rules in list(report.secrets.items())[: 4 * NAMED]:
        yield Finding(
            check=CHECK,
            severity="warning",
            what=f"{_path(report.scan, path)} seems to hold a secret ({', '.join(rules)}); {consequence}",
            fix="take it out of the note, and replace the secret where others could have read it",
        )
    if len(report.secrets) > 4 * NAMED:
        counts = Counter(rule for rules in report.secrets.values() for rule in rules)
        of_rules = ", ".join(f"{rule} {count}" for rule, count in counts.items())
        what = f"in all, {len(report.secrets)} notes of {report.scan.root.path} seem to ({of_rules})"
        yield Finding(check=CHECK, severity="warning", what=what)


def _from_the_future(scan: RootScan) -> Iterator[Finding]:
    latest = time.time_ns() + _AHEAD_NS
    paths = [_path(scan, each.relative_path) for each in scan.documents if each.modified_ns > latest]
    if paths:
        yield Finding(
            check=CHECK,
            severity="hint",
            what=f"saved in the future, by this machine's clock: {named(paths)}",
            fix="see whether the clock is right (timedatectl), else touch the files",
        )


def _path(scan: RootScan, relative_path: str) -> str:
    return f"{scan.root.path}/{relative_path}".rstrip("/")


def _escaped(path: str) -> str:
    """A glob that stands for this path alone."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)
