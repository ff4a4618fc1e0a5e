"""The connections that asked to see what every turn of this user hands over: an editor's view of its agents.

They get what a list shows of a note and why it matched, never its body, and never a query.
"""

from __future__ import annotations

from typing import Literal

from memrecalld.recall.delivery import DeliveredDocument, Delivery, DocumentSummary
from memrecalld.recall.exchange import RecallRequest
from memrecalld.recall.outcome import Outcome
from memrecalld.recall.session import SessionKey
from memrecalld.server.connection import Connection
from memrecalld.server.messages.recall import ObservedDocument, ObservedParams


class Observers:
    """The engine's observer: passes everything on to the connections in it.

    Every connection is one of this user's (``connection`` refuses others), so that none learns what it could
    not read anyway. One that does not read what it asked for is dropped like any other.
    """

    def __init__(self) -> None:
        self._connections: set[Connection] = set()

    def add(self, connection: Connection) -> None:
        """The connection sees what happens from now on."""
        self._connections.add(connection)

    def discard(self, connection: Connection) -> None:
        """The connection sees nothing more; it need not have been in here."""
        self._connections.discard(connection)

    def handed_over(
        self, key: SessionKey, request: RecallRequest, turn_id: str, delivery: Delivery | None
    ) -> None:
        if self._connections:
            event = "fast" if delivery is None else delivery.phase
            documents = [] if delivery is None else [_without_body(each) for each in delivery.documents]
            self._tell(key, request, turn_id, event=event, documents=documents)

    def ended(self, key: SessionKey, request: RecallRequest, outcome: Outcome) -> None:
        if self._connections:
            self._tell(key, request, outcome.turn_id, event="ended", documents=[], outcome=outcome)

    def _tell(
        self,
        key: SessionKey,
        request: RecallRequest,
        turn_id: str,
        *,
        event: Literal["fast", "refined", "ended"],
        documents: list[ObservedDocument],
        outcome: Outcome | None = None,
    ) -> None:
        params = ObservedParams(
            session_id=key.session_id,
            agent_id=key.agent_id,
            turn_id=turn_id,
            project_root=request.project_root,
            event=event,
            documents=documents,
            outcome=outcome,
        )
        for connection in self._connections:
            connection.protocol.notify("recall/observed", params)


def _without_body(document: DeliveredDocument) -> ObservedDocument:
    shown = {name: getattr(document, name) for name in DocumentSummary.__struct_fields__}
    return ObservedDocument(**shown, matched=document.matched or ())
