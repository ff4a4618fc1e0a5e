"""Messages of the Language Server Protocol, as far as the daemon needs their fields.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

from typing import Final

from memrecalld.server.messages.base import Message, MessageId

MAX_FOLDERS: Final = 64
"""Workspace folders of one connection; each is read when it is named."""


class WorkspaceFolder(Message, frozen=True, kw_only=True):
    """A folder of the workspace, as in LSP."""

    uri: str


class ClientOptions(Message, frozen=True, kw_only=True):
    """``initializationOptions.memrecall``"""

    selector: bool = False
    """The client answers ``recall/select``."""
    observe: bool = False
    """The client wants ``recall/observed`` for every turn of this user."""


class InitializationOptions(Message, frozen=True, kw_only=True):
    """``initializationOptions``: ours among those of others."""

    memrecall: ClientOptions | None = None


class InitializeParams(Message, frozen=True, kw_only=True):
    """``initialize``, the fields that matter here. The rest of LSP's is neither needed nor checked."""

    workspace_folders: list[WorkspaceFolder] | None = None
    root_uri: str | None = None
    root_path: str | None = None
    initialization_options: InitializationOptions | None = None


class FoldersEvent(Message, frozen=True, kw_only=True):
    """What changed in the workspace."""

    added: tuple[WorkspaceFolder, ...] = ()
    removed: tuple[WorkspaceFolder, ...] = ()


class DidChangeFoldersParams(Message, frozen=True, kw_only=True):
    """``workspace/didChangeWorkspaceFolders``"""

    event: FoldersEvent


class CancelParams(Message, frozen=True, kw_only=True):
    """``$/cancelRequest``"""

    id: MessageId
