"""A selector behind the callback that the engine knows: one task for each question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from memrecalld.errors import SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.selection import parse_selection
from memrecalld.selectors.base import Selector

_log = logging.getLogger("memrecalld.selectors")

Done = Callable[[Sequence[Document] | SelectionError], None]


class SelectionTasks:
    """Asks the selector, checks what it answers, and closes the request when nobody wants the answer any
    more."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._tasks: set[asyncio.Task[None]] = set()

    available = True

    def select(self, query: str, manifest: Manifest, done: Done, _owner: object) -> Callable[[], None]:
        """Ask; ``done`` is called once, unless the returned function is called before."""
        task = asyncio.get_running_loop().create_task(self._ask(query, manifest, done))
        self._tasks.add(task)
        task.add_done_callback(self._finished)

        def close() -> None:
            task.cancel()

        return close

    async def finish(self) -> None:
        """Close when what is open has ended; no question may be put any more."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._selector.close()

    async def close(self) -> None:
        """Close what is open."""
        for task in self._tasks:
            task.cancel()
        await self._selector.close()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.result()  # a fault of ours surfaces in the loop now, and not when the task is collected

    async def _ask(self, query: str, manifest: Manifest, done: Done) -> None:
        selection: Sequence[Document] | SelectionError
        try:
            selection = parse_selection(await self._selector.select(query, manifest.text), manifest)
        except SelectionError as error:
            selection = error
        except Exception as error:
            # A selector is somebody else's program at the other end of a wire; a turn never fails for it.
            _log.error("selector failed: %s", type(error).__name__)
            selection = SelectionError("internal")
        done(selection)
