"""What the connections of one daemon share."""

from __future__ import annotations

from typing import Literal, Protocol

from memrecalld.memory.catalog import Catalog
from memrecalld.recall.engine import Engine
from memrecalld.recall.library import Library
from memrecalld.server.client_selection import ClientSelection
from memrecalld.server.observers import Observers


class Host(Protocol):
    """What all connections share."""

    engine: Engine
    catalog: Catalog
    library: Library
    observers: Observers
    client_selection: ClientSelection
    """Who offered to choose; asked where the configuration leaves the choice to a client's model."""
    started: float
    """``time.monotonic()`` at the start of the daemon."""

    @property
    def connection_count(self) -> int: ...

    @property
    def selector_kind(self) -> Literal["none", "openai", "client"]: ...

    @property
    def config_error(self) -> str | None: ...
