"""The life of the process: put together, serve, drain, stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Final, Literal

from memrecalld.errors import StartError
from memrecalld.memory.catalog import Catalog
from memrecalld.recall.clock import Clock
from memrecalld.recall.engine import Engine
from memrecalld.recall.library import Library
from memrecalld.recall.store import SQLiteStore
from memrecalld.server.client_selection import ClientSelection
from memrecalld.server.configuration import Configuration
from memrecalld.server.connection import Connection
from memrecalld.server.handlers import Handlers
from memrecalld.server.listener import BACKLOG, Listener
from memrecalld.server.notify import ServiceManager
from memrecalld.server.observers import Observers
from memrecalld.server.signals import Signals
from memrecalld.server.upkeep import IDLE_S, Upkeep

_log = logging.getLogger("memrecalld.server")

DRAIN_S: Final = 2.0
"""How long a stopping daemon waits for its last answers to be read."""


class Daemon:
    """Everything that one process shares between its connections."""

    def __init__(
        self,
        *,
        listener: Listener,
        engine: Engine,
        store: SQLiteStore,
        catalog: Catalog,
        library: Library,
        observers: Observers,
        client_selection: ClientSelection,
        configuration: Configuration,
        clock: Clock,
        manager: ServiceManager,
    ) -> None:
        self.engine = engine
        self.catalog = catalog
        self.library = library
        self.observers = observers
        self.client_selection = client_selection
        self.started = time.monotonic()
        self._listener = listener
        self._store = store
        self._configuration = configuration
        self._clock = clock
        self._manager = manager
        self._connections: set[Connection] = set()
        self._stopping = asyncio.Event()
        self._server: asyncio.Server
        self._reloading: asyncio.Task[None] | None = None
        self._reload_again = False
        self._restoring: asyncio.Task[None] | None = None
        self.last_used = clock.monotonic()

    # What others want to know ---------------------------------------------------------------------

    @property
    def connection_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    @property
    def selector_kind(self) -> Literal["none", "openai", "client"]:
        """Who selects."""
        return self._configuration.selector_kind

    @property
    def config_error(self) -> str | None:
        """Why the configuration file as it was read last is not in effect."""
        return self._configuration.error

    @property
    def status_line(self) -> str:
        """Counts, for people."""
        return (
            f"connections: {len(self._connections)}, sessions: {self.engine.session_count}, "
            f"notes: {self.catalog.topics}"
        )

    @property
    def busy(self) -> bool:
        """Somebody is connected, or a turn is open."""
        return bool(self._connections or self.engine.open_turns)

    @property
    def reachable(self) -> bool:
        """The socket's path is still the daemon's."""
        return self._listener.owns_path()

    # Life -----------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Begin to stop; ``serve`` returns when everything is drained."""
        self._stopping.set()

    def reload(self) -> None:
        """Begin to read the configuration again; once more if that is under way already."""
        if self._reloading is None:
            self._reloading = asyncio.get_running_loop().create_task(self._reload())
        else:
            self._reload_again = True

    def look_after_record(self) -> None:
        """See to it that what sessions were given is in the file that a restart will read."""
        self._store.look_after()

    def restore(self) -> None:
        """Nobody can connect any more: bind the path again, or stop where it is another's."""
        self._server.close()
        try:
            self._listener.renew()
        except StartError as error:
            _log.warning("nobody can connect any more, so this daemon stops: %s", error)
            self.stop()
            return
        _log.warning("the socket was removed; it is bound again")
        self._restoring = asyncio.get_running_loop().create_task(self._listen())

    async def serve(self, signals: Signals) -> None:
        """Answer clients until ``stop`` or a signal, then end every open turn. The listener stays open."""
        await self._listen()
        self._manager.ready()
        signals.hand_over(asyncio.get_running_loop(), stop=self.stop, reload=self.reload)
        _log.info("serving")
        upkeep = Upkeep(
            self,
            clock=self._clock,
            manager=self._manager,
            idle_s=IDLE_S if self._listener.activated else None,
        )
        try:
            await self._stopping.wait()
        finally:
            self._manager.stopping()
            upkeep.close()
            if self._restoring is not None:
                await self._restoring
            self._server.close()
            await self._drain()
        _log.info("stopped")

    async def _listen(self) -> None:
        self._server = await asyncio.get_running_loop().create_unix_server(
            self._connect,
            sock=self._listener.socket,
            backlog=BACKLOG,  # uvloop listens once more, with a shorter queue of its own
        )

    def _connect(self) -> Connection:
        self.last_used = self._clock.monotonic()
        return Connection(lambda connection: Handlers(self, connection), self._connections)

    async def _reload(self) -> None:
        self._manager.reloading()
        try:
            while True:
                self._reload_again = False
                reloaded = await self._configuration.reload(self.catalog, self.engine)
                self.engine.telemetry.count("config.reloaded" if reloaded else "config.refused")
                if not self._reload_again:
                    return
        finally:
            self._reloading = None
            self._manager.ready()

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
