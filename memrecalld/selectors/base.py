"""The contract between the recall engine and whatever asks a model."""

from __future__ import annotations

from typing import Protocol


class Selector(Protocol):
    """Something that can ask a model which notes of a manifest help with a query.

    No selector at all is ``None``, not an object that refuses.
    """

    @property
    def kind(self) -> str:
        """``"openai"`` or ``"client"``, for status."""

    async def select(self, query: str, manifest: str) -> str:
        """Ask once and return the model's answer as it came, unchecked.

        The answer should be what ``ranking.selection`` reads; whether it is, the caller finds out. The
        caller also sets the time limit: it cancels the task that runs this, and that ends the request at
        once.

        Raises ``SelectionError`` whose text is a short code for counters and logs, such as
        ``"connection"``, and never anything that a server or a note said.
        """

    async def close(self) -> None:
        """Let go of connections; a selection still running fails. Harmless when repeated."""
