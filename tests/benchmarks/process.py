"""What the kernel says of the daemon's process."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_IDLE_S: Final = 0.5
_LIMIT_S: Final = 900.0


def resident_bytes(pid: int) -> int:
    """Resident set size."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid: int) -> int:
    """Open file descriptors."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def wait_until_idle(pid: int) -> float:
    """Return when the process has used no time for half a second: seconds waited until then."""
    started = time.monotonic()
    used, since = _used(pid), started
    while (now := time.monotonic()) - since < _IDLE_S:
        assert now - started < _LIMIT_S, "the daemon does not come to rest"
        time.sleep(0.02)
        if (used_now := _used(pid)) != used:
            used, since = used_now, now
    return since - started


def _used(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 100 // _TICKS
