"""How old a note is, in words."""

from __future__ import annotations

from typing import Final

_DAY_NS: Final = 24 * 60 * 60 * 1_000_000_000

STALE_DAYS: Final = 2
"""From this age on, a prompt says that a note is an observation of its day."""


def age_days(modified_ns: int, now_ns: int) -> int:
    """Whole days since the note was saved; 0 for one that claims to be from the future."""
    return max(0, now_ns - modified_ns) // _DAY_NS


def describe_age(modified_ns: int, now_ns: int) -> str:
    """``saved today``, ``saved yesterday`` or ``saved N days ago``, by whole days of 24 hours.

    Elapsed days and not calendar days: the daemon's time zone need not be the reader's.
    """
    match age_days(modified_ns, now_ns):
        case 0:
            return "saved today"
        case 1:
            return "saved yesterday"
        case days:
            return f"saved {days} days ago"
