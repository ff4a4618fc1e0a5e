"""What this process has received last in each session, so that a daemon can be told that comes after a killed
one: it has recorded what it was about to send, and only the client knows whether that arrived."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memrecalld.client.shapes import Delivery

MAX_SESSIONS = 1024
"""Sessions that are remembered; of a forgotten one the daemon is told nothing, as of a new one."""


class Received:
    """Ids of deliveries, by session and agent. Any number of threads may use it."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}

    def last(self, session_id: str, agent_id: str, before: str | None) -> str | None:
        """The id of the last delivery; "" for none so far, None where that is not known.

        ``before`` is what the caller knows of the time before this process, and holds from now on.
        """
        last = self._ids.get((session_id, agent_id))
        if last is None and before is not None:
            last = before
            self._keep(session_id, agent_id, last)
        return last

    def add(self, session_id: str, agent_id: str, delivery: Delivery | None) -> None:
        """A message of the daemon was received, perhaps with a delivery."""
        # Before anything else is waited for: what was received and not kept would come again.
        if delivery is not None:
            self._keep(session_id, agent_id, delivery["id"])

    def _keep(self, session_id: str, agent_id: str, delivery_id: str) -> None:
        self._ids.pop((session_id, agent_id), None)
        self._ids[session_id, agent_id] = delivery_id
        if len(self._ids) > MAX_SESSIONS:
            for oldest in list(self._ids)[:1]:  # a list at once, whatever other threads do
                self._ids.pop(oldest, None)


RECEIVED = Received()
"""Of all connections: a client's own ends with the daemon."""
