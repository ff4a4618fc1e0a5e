"""The selector that a client brings along: an editor or agent that has a model, and keeps its own keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

import msgspec
from pygls.exceptions import JsonRpcException

from memrecalld.errors import SelectionError
from memrecalld.memory.document import Document
from memrecalld.ranking.manifest import Manifest
from memrecalld.ranking.selection import MAX_SELECTED, parse_selection
from memrecalld.recall.engine import Done
from memrecalld.server.connection import Connection
from memrecalld.server.messages.recall import SelectParams


class ClientSelection:
    """The connections that offered to select, and the questions put to them.

    The connection that started a turn is asked first, since its model is the one that the turn is for; else
    the one that offered last.
    """

    def __init__(self) -> None:
        self._offering: dict[Connection, None] = {}

    @property
    def available(self) -> bool:
        """Somebody can be asked."""
        return bool(self._offering)

    def add(self, connection: Connection) -> None:
        """The connection answers ``recall/select`` from now on."""
        self._offering.pop(connection, None)
        self._offering[connection] = None

    def discard(self, connection: Connection) -> None:
        """The connection answers no more; it need not have been in here."""
        self._offering.pop(connection, None)

    def select(self, query: str, manifest: Manifest, done: Done, owner: object) -> Callable[[], None]:
        """Ask; ``done`` is called once, unless the returned function is called before."""
        connection = self._choose(owner)
        if connection is None:
            done(SelectionError("no-client"))
            return lambda: None
        params = SelectParams(query=query, manifest=manifest.text, max_selected=MAX_SELECTED)
        protocol = connection.protocol
        request_id, future = protocol.ask("recall/select", params)

        def settle(answer: Future[msgspec.Raw]) -> None:
            if not answer.cancelled():
                done(_selection(answer, manifest))

        future.add_done_callback(settle)

        def close() -> None:
            if future.cancel():
                protocol.withdraw(request_id)

        return close

    def _choose(self, owner: object) -> Connection | None:
        if isinstance(owner, Connection) and owner in self._offering:
            return owner
        return next(reversed(self._offering), None)


def _selection(answer: Future[msgspec.Raw], manifest: Manifest) -> Sequence[Document] | SelectionError:
    try:
        return parse_selection(bytes(answer.result()).decode("utf-8", "replace"), manifest)
    except SelectionError as error:
        return error
    except JsonRpcException:
        return SelectionError("client-error")
    except ConnectionError:
        return SelectionError("connection")
