"""Telling the service manager how the daemon is: the protocol of sd_notify(3), over its datagram socket."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import MutableMapping
from typing import Final, Self

_SEND_S: Final = 0.1
"""How long a manager that does not read may hold the daemon up."""


class ServiceManager:
    """Who started the daemon and wants to hear of it; nobody where ``address`` is ``None``.

    Nothing here fails: a daemon does not stop serving because its manager is not listening.
    """

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        self._address = address
        self.watchdog_s = watchdog_s
        """A daemon that is not heard of (``alive``) for so many seconds is killed; ``None``: never."""

    @classmethod
    def from_environ(cls, environ: MutableMapping[str, str]) -> Self:
        """Take the manager's variables out of the environment, so that no child process believes them.

        ``NOTIFY_SOCKET`` is a path, or the name of an abstract socket after an ``@``. The watchdog is ours
        where ``WATCHDOG_PID`` is this process or not set (sd_watchdog_enabled(3)).
        """
        address = environ.pop("NOTIFY_SOCKET", "")
        watchdog = environ.pop("WATCHDOG_USEC", "")
        watched = environ.pop("WATCHDOG_PID", "")
        ours = watched in {"", str(os.getpid())} and watchdog.isascii() and watchdog.isdigit()
        return cls(
            address if address.startswith(("/", "@")) else None,
            int(watchdog) / 1e6 if ours and int(watchdog) > 0 else None,
        )

    def ready(self) -> None:
        """The daemon serves, or serves again after ``reloading``."""
        self._tell("READY=1")

    def reloading(self) -> None:
        """The configuration is being read; ``ready`` follows."""
        # The manager tells an answer to its own request from an older one by this time.
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The daemon drains its turns and ends."""
        self._tell("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for people, without anything private."""
        self._tell(f"STATUS={text}")

    def alive(self) -> None:
        """The event loop goes round."""
        if self.watchdog_s is not None:
            self._tell("WATCHDOG=1")

    def _tell(self, *assignments: str) -> None:
        if self._address is None:
            return
        name = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
        ):
            sender.settimeout(_SEND_S)
            sender.sendto("\n".join(assignments).encode(), name)
