"""The errors that memrecalld raises on purpose, each with its JSON-RPC code.

    Exception
    └── MemrecallError            -32603  something of ours failed (InternalError)
        ├── InvalidProject        -32602  a project path that cannot name a project (InvalidParams)
        ├── ProjectMemoryError    -32803  a project's notes exist and cannot be read (LSP RequestFailed)
        ├── TurnNotYours          -32803  a turn of another connection
        ├── TooManyTurns          -32803  no turn can be opened until others have ended
        ├── NoSuchNote            -32803  no note has the path that a client asks for
        ├── ConfigError           -32803  the configuration file cannot be used
        ├── SelectionError        -32803  a model selection failed; it changes the strategy, no client sees it
        └── StartError            -32803  the daemon cannot start here
            └── AlreadyServed     -32803  another program serves the socket

The text of an error (``str(error)``) says what was expected and what to do next, and is safe to log: it
holds no query, nothing of a note and no path of a note or project. What is meant for the owner's eyes only is
an attribute of its own.
"""

from __future__ import annotations

from typing import ClassVar


class MemrecallError(Exception):
    """Base of every error that memrecalld raises on purpose."""

    code: ClassVar[int] = -32603
    """JSON-RPC error code of the reply that carries this error."""


class InvalidProject(MemrecallError):
    """A project path that is no absolute path and no ``file:`` URI."""

    code = -32602


class ProjectMemoryError(MemrecallError):
    """A project's memory folder exists but cannot be read: recall for the project has failed.

    ``reason`` is a stable code such as ``"unreadable"``; ``path`` is the folder, for the reply to the
    client that asked and never for a log.
    """

    code = -32803

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(
            f"the project's memory folder cannot be read ({reason}); "
            "make it a folder that you may list, or remove it"
        )
        self.reason = reason
        self.path = path


class TurnNotYours(MemrecallError):
    """A turn was addressed by a connection that it does not belong to."""

    code = -32803


class TooManyTurns(MemrecallError):
    """As many turns are open as the daemon holds."""

    code = -32803


class NoSuchNote(MemrecallError):
    """No note of the project or of the user has the path that was asked for."""

    code = -32803


class ConfigError(MemrecallError):
    """The configuration cannot be used: an unknown key, a wrong type, a value out of range."""

    code = -32803


class SelectionError(MemrecallError):
    """The model selector failed: an error, a time-out, or an answer of the wrong shape."""

    code = -32803


class StartError(MemrecallError):
    """The daemon cannot start: the socket is held, a directory is not ours, a descriptor is missing."""

    code = -32803


class AlreadyServed(StartError):
    """Another daemon holds the socket's lock, or another program answers there."""
