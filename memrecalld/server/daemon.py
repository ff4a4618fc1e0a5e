"""The life of the process: put together, serve, drain, stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable
from typing import Final, Literal

from memrecalld.memory.catalog import Catalog
from memrecalld.recall.engine import Engine
from memrecalld.recall.library import Library
from memrecalld.server.client_selection import ClientSelection
from memrecalld.server.connection import Connection
from memrecalld.server.handlers import Handlers
from memrecalld.server.listener import BACKLOG, Listener
from memrecalld.server.observers import Observers

_log = logging.getLogger("memrecalld.server")

DRAIN_S: Final = 2.0
"""How long a stopping daemon waits for its last answers to be read."""


class StopSignals:
    """SIGTERM and SIGINT, from before there is an event loop that could take them.

    They are not blocked meanwhile, since a library's thread that was started earlier would take them then.
    """

    _NUMBERS: Final = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self._came = False
        for number in self._NUMBERS:
            signal.signal(number, self._take)

    def hand_over(self, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        """From now on ``loop`` calls ``stop``; at once for a signal that came before."""
        for number in self._NUMBERS:
            loop.add_signal_handler(number, stop)
        if self._came:
            stop()

    def _take(self, _number: int, _frame: object) -> None:
        self._came = True


class Daemon:
    """Everything that one process shares between its connections."""

    def __init__(
        self,
        *,
        listener: Listener,
        engine: Engine,
        catalog: Catalog,
        library: Library,
        observers: Observers,
        client_selection: ClientSelection | None,
        selector_kind: Literal["none", "openai", "client"],
    ) -> None:
        self.engine = engine
        self.catalog = catalog
        self.library = library
        self.observers = observers
        self.client_selection = client_selection
        self.selector_kind = selector_kind
        self.started = time.monotonic()
        self._listener = listener
        self._connections: set[Connection] = set()
        self._stopping = asyncio.Event()

    @property
    def connection_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    def stop(self) -> None:
        """Begin to stop; ``serve`` returns when everything is drained."""
        self._stopping.set()

    async def serve(self, signals: StopSignals) -> None:
        """Answer clients until ``stop`` or a signal, then end every open turn. The listener stays open."""
        loop = asyncio.get_running_loop()
        signals.hand_over(loop, self.stop)
        server = await loop.create_unix_server(
            lambda: Connection(lambda connection: Handlers(self, connection), self._connections),
            sock=self._listener.socket,
            backlog=BACKLOG,  # uvloop listens once more, with a shorter queue of its own
        )
        _log.info("serving")
        try:
            await self._stopping.wait()
        finally:
            server.close()
            await self._drain()
        _log.info("stopped")

    async def _drain(self) -> None:
        """Every open turn has its outcome, and every client what was written to it, or ``DRAIN_S`` passed."""
        self.engine.shutdown()
        for connection in list(self._connections):
            connection.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while self._connections:  # noqa: ASYNC110 - once in a process's life, and bounded
                    await asyncio.sleep(0.01)
        self.catalog.close()
