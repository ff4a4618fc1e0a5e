"""What can go wrong between a client and the daemon.

    Exception
    └── ClientError
        ├── DaemonUnavailable   nobody serves the socket, it is not to be trusted, or the connection ended
        ├── ResponseError       the daemon answered with an error
        ├── CallTimeout         no answer in time (a ``TimeoutError`` too)
        └── ProtocolError       what came, or would have been sent, is no message of the protocol

Their texts name the next step and hold no query, no note and no project.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ClientError(Exception):
    """Base of every error that the clients raise on purpose."""


class DaemonUnavailable(ClientError):
    """There is no daemon to talk to."""


class ResponseError(ClientError):
    """An error answer: its JSON-RPC ``code``, ``message`` and ``data`` (None where the daemon sent none)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:  # noqa: ANN401 - any JSON
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class CallTimeout(ClientError, TimeoutError):
    """The daemon did not answer in time."""


class ProtocolError(ClientError):
    """A message that the protocol does not allow."""
