"""Sockets seen from outside."""

from __future__ import annotations

import socket
from pathlib import Path

_LISTENING = "00010000"
"""``__SO_ACCEPTCON`` among the flags in ``/proc/net/unix``, proc_net(5)."""


def connects(path: Path) -> bool:
    """Somebody listens at this path."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def listens(path: Path) -> bool:
    """As ``connects``, without a connection that the listener would notice."""
    lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return any(
        fields[3] == _LISTENING and fields[7] == str(path)
        for fields in (line.split(maxsplit=7) for line in lines)
        if len(fields) == 8
    )


def serve(path: Path) -> socket.socket:
    """Another program's listening socket."""
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(path))
    other.listen()
    return other


def serve_in_place_of(path: Path) -> socket.socket:
    """As ``serve``, where there is a socket already, which is never missing in between."""
    aside = path.with_name("aside")
    other = serve(aside)
    aside.replace(path)
    return other
