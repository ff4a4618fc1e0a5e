"""Which file systems tell of every change, and answer without asking the network."""

from __future__ import annotations

import re
from typing import Final

_LOCAL: Final = frozenset(
    {
        "bcachefs",
        "btrfs",
        "exfat",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "jfs",
        "nilfs2",
        "ntfs3",
        "overlay",
        "ramfs",
        "reiserfs",
        "tmpfs",
        "vfat",
        "xfs",
        "zfs",
    }
)
"""Types whose changes all pass through this kernel. Anything else (NFS, SMB, 9p, FUSE, …) can change behind
its back, and can take any time to answer. A list of what is known to be good: an unknown one costs some
speed, a wrongly trusted one would cost notes."""

_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


def is_local(real_path: str, mounts: str | None = None) -> bool:
    """The file system at a real path is one of those. ``mounts`` is the text of ``/proc/self/mountinfo``.

    Reads the kernel's table and not the path: asking a file system what it is would wait for it.
    """
    if mounts is None:
        try:
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
                mounts = table.read()
        except OSError:
            return False
    best, best_type = "", ""
    for line in mounts.splitlines():
        # proc_pid_mountinfo(5): … (5) mount point … "-" (9) type …; the optional fields before "-" vary in
        # number.
        fields, _, tail = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) < 5:
            continue
        point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), parts[4])
        inside = point in {"/", real_path} or real_path.startswith(f"{point}/")
        # The last mount on a point hides the earlier ones.
        if inside and len(point) >= len(best):
            best, best_type = point, tail.split(" ", 1)[0]
    return best_type in _LOCAL
