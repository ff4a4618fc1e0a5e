"""The socket that a service manager made and passed on: the protocol of sd_listen_fds(3)."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import MutableMapping
from typing import Final

from memrecalld.errors import StartError
from memrecalld.programs import shown

FIRST: Final = 3
"""``SD_LISTEN_FDS_START``: the number of the first descriptor passed."""


def passed_socket(environ: MutableMapping[str, str], *, first: int = FIRST) -> socket.socket | None:
    """The listening socket that was passed to this process, or ``None`` where none was.

    The variables are taken out of ``environ``, so that no child process believes them. Raises ``StartError``
    for more than one descriptor, and for one that is no listening Unix stream socket at a path.
    """
    pid = environ.pop("LISTEN_PID", "")
    count = environ.pop("LISTEN_FDS", "")
    names = environ.pop("LISTEN_FDNAMES", "")
    if pid != str(os.getpid()) or not count:
        return None
    if count != "1":
        raise StartError(
            f"{count} descriptors were passed ({names or 'without names'}), expected 1; "
            "leave one ListenStream= in the socket unit: systemctl --user cat memrecalld.socket"
        )
    try:
        is_socket = stat.S_ISSOCK(os.fstat(first).st_mode)
    except OSError:
        raise _wrong(first, "not open") from None
    if not is_socket:
        raise _wrong(first, "no socket")
    # Closed on exec, whatever it was when it came here.
    os.set_inheritable(first, False)
    sock = socket.socket(fileno=first)
    problem = _problem(sock)
    if problem is not None:
        sock.detach()
        raise _wrong(first, problem)
    sock.setblocking(False)
    return sock


def _problem(sock: socket.socket) -> str | None:
    if sock.family != socket.AF_UNIX:
        return "no Unix socket"
    if sock.type != socket.SOCK_STREAM:
        return "no stream socket"
    if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return "not listening (Accept=yes passes such a one)"
    name = sock.getsockname()
    if not isinstance(name, str) or not name.startswith("/"):
        return "not bound to an absolute path"
    return None


def _wrong(descriptor: int, problem: str) -> StartError:
    return StartError(
        f"the descriptor that was passed ({descriptor}) is {problem}; expected a listening Unix stream "
        f"socket at a path, as memrecalld.socket makes it: {shown('memrecall service status')}"
    )
