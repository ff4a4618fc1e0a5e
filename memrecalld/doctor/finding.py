"""What a check has found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, get_args

import msgspec

Severity = Literal["ok", "hint", "warning", "error"]
"""``ok``: as it should be. ``hint``: works, and could be better, or is worth knowing. ``warning``: something
is left out, or others could see what is private. ``error``: no recall until it is mended."""

_ORDER: Final[tuple[Severity, ...]] = get_args(Severity)

NAMED: Final = 5
"""Files named in one finding; a person mends some and asks again."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of what is, and one of what to do. It names files and rules, and holds no text of a note."""

    check: str
    """The family of checks, such as ``socket``."""
    severity: Severity
    what: str
    fix: str | None = None
    """A command where there is one."""


def worst(findings: Iterable[Finding]) -> Severity:
    """The gravest severity among findings; ``ok`` for none."""
    return max((each.severity for each in findings), key=_ORDER.index, default="ok")


def counted(number: int, noun: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def named(paths: Sequence[str], count: int | None = None) -> str:
    """Some paths, and how many more there are of ``count``."""
    more = (len(paths) if count is None else count) - NAMED
    shown = ", ".join(paths[:NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
