"""The configuration in effect, and how another one takes its place under the open turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from memrecalld.config import Config
from memrecalld.errors import ConfigError
from memrecalld.memory.catalog import Catalog
from memrecalld.memory.watcher import Watcher
from memrecalld.recall.engine import Selection
from memrecalld.selectors.base import Selector
from memrecalld.selectors.selection import SelectionTasks

_log = logging.getLogger("memrecalld.server")


class Settings(NamedTuple):
    """A configuration that was read, and the selector that it names, if that is one of the daemon's own."""

    config: Config
    selector: Selector | None


class Selecting(Protocol):
    """The engine, as far as its selector goes."""

    selection: Selection | None


class Configuration:
    """What decides where notes are looked for and who selects among them.

    A turn that is open goes on with what it was opened with, as far as it has been asked for; sessions and
    connections are not touched.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read: Callable[[], Settings],
        client_selection: Selection,
        watcher: Watcher | None,
        make_watcher: Callable[[], Watcher | None],
    ) -> None:
        """``read`` blocks, and raises ``ConfigError``. ``watcher`` is the one in use for ``settings``."""
        self._config = settings.config
        self._read = read
        self._client_selection = client_selection
        self._watcher = watcher
        self._make_watcher = make_watcher
        self._tasks = None if settings.selector is None else SelectionTasks(settings.selector)
        self._retired: set[asyncio.Task[None]] = set()
        self.error: str | None = None
        """Why the file as it was read last is not in effect; ``None`` where it is."""

    @property
    def selector_kind(self) -> Literal["none", "openai", "client"]:
        """Who selects."""
        return self._config.selector.kind

    @property
    def selection(self) -> Selection | None:
        """The way to the selector."""
        return self._client_selection if self.selector_kind == "client" else self._tasks

    async def reload(self, catalog: Catalog, engine: Selecting) -> bool:
        """Read the file again, and put it into effect from the next recall on.

        A file that cannot be used changes nothing but ``error``; false then.
        """
        try:
            settings = await asyncio.to_thread(self._read)
        except ConfigError as error:
            self.error = str(error)
            _log.warning("the configuration stays as it was: %s", error)
            return False
        self.error = None
        before, self._config = self._config, settings.config
        if settings.config.memory != before.memory:
            catalog.reconfigure(settings.config.memory, self._watcher_wanted())
        if settings.config.selector != before.selector:
            self._retire(self._tasks)
            self._tasks = None if settings.selector is None else SelectionTasks(settings.selector)
            engine.selection = self.selection
        elif settings.selector is not None:
            await settings.selector.close()
        _log.info("the configuration was read again")
        return True

    async def close(self) -> None:
        """Let go of the selector, and of former ones that are still asked."""
        for task in self._retired:
            task.cancel()
        await asyncio.gather(*self._retired, return_exceptions=True)
        if self._tasks is not None:
            await self._tasks.close()

    def _watcher_wanted(self) -> Watcher | None:
        if not self._config.memory.watch:
            return None
        if self._watcher is None:
            self._watcher = self._make_watcher()
        return self._watcher

    def _retire(self, tasks: SelectionTasks | None) -> None:
        if tasks is not None:
            task = asyncio.get_running_loop().create_task(tasks.finish())
            self._retired.add(task)
            task.add_done_callback(self._retired.discard)
