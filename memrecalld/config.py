"""What the owner decides: the settings of the configuration file, and the folders of the environment."""

from __future__ import annotations

import ipaddress
import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from memrecalld.errors import ConfigError
from memrecalld.paths import socket_path, xdg_directory

LayoutName = Literal["native", "qwen", "claude"]
"""Whose arrangement of note folders is read."""

_Text = Annotated[str, msgspec.Meta(min_length=1)]
_VariableName = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z")]


class MemoryConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ``[memory]`` table. Paths are absolute here; the file may begin them with ``~/``."""

    layouts: tuple[LayoutName, ...] = ("native", "qwen", "claude")
    """In the order of their documents; no name twice."""
    extra_project_roots: tuple[str, ...] = ()
    """Further folders of notes, for every project."""
    extra_user_roots: tuple[str, ...] = ()
    trusted_projects: tuple[str, ...] = ()
    """Globs of project roots whose in-repository notes may be read."""
    watch: bool = True
    """Learn of changes from file events; without, every recall compares file data."""


class SelectorConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ``[selector]`` table.

    There is no default for the key: the default server is a local one, and a key that lies in the
    environment for something else is not sent to whatever listens there.
    """

    kind: Literal["none", "openai", "client"] = "none"
    base_url: str = "http://127.0.0.1:11434/v1"
    """``http`` or ``https``, without a final slash; ``http`` to another machine only without a key."""
    model: _Text = "qwen3:4b"
    api_key_env: _VariableName | None = None
    """Name of the environment variable that holds the key."""
    api_key_file: str | None = None
    """Absolute path of a file that holds the key and that nobody else may read. Not with ``api_key_env``."""


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    memory: MemoryConfig = MemoryConfig()
    selector: SelectorConfig = SelectorConfig()


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Where things are, as absolute paths; nothing is created or checked here."""

    home: str
    socket: str
    config_file: str
    cache_dir: str
    """What can be made again."""
    data_dir: str
    """The owner's notes in the native layout."""
    state_dir: str
    """What must outlive a restart and is of no use on another machine."""

    @property
    def log_file(self) -> str:
        """Where a daemon writes that a command started; under systemd the journal has its log."""
        return f"{self.state_dir}/daemon.log"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Paths:
        """Derive the paths from environment variables, by the XDG Base Directory Specification 0.8.

        A relative ``HOME`` counts as none; without one, the user database is asked. Raises ``ConfigError``
        when that does not know the user either, and for a relative ``MEMRECALLD_SOCKET``.
        """
        home = xdg_directory(environ, "HOME")
        try:
            home = home or pwd.getpwuid(os.getuid()).pw_dir
            socket = socket_path(environ)
        except KeyError:
            raise ConfigError("there is no home folder; set HOME to an absolute path") from None
        except OSError as error:
            raise ConfigError(str(error)) from None

        def base(name: str, default: str) -> str:
            return str(Path(xdg_directory(environ, name) or Path(home, default), "memrecalld"))

        return cls(
            home=home,
            socket=socket,
            config_file=f"{base('XDG_CONFIG_HOME', '.config')}/config.toml",
            cache_dir=base("XDG_CACHE_HOME", ".cache"),
            data_dir=base("XDG_DATA_HOME", ".local/share"),
            state_dir=base("XDG_STATE_HOME", ".local/state"),
        )


def is_loopback(base_url: str) -> bool:
    """Whether a URL that ``SelectorConfig.base_url`` may hold stays on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
