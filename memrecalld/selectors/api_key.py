"""The key that a model server asks for, from where its owner keeps it."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Final

from memrecalld.config import SelectorConfig, is_loopback
from memrecalld.errors import ConfigError

_MAX_KEY_BYTES: Final = 16_384
"""Far beyond any key (signed tokens reach a few KiB), and little enough to send as one header."""


class ApiKey:
    """A key from the environment, from a file, or none.

    The environment is read once. A file is read for each request, so that a key can be replaced without a
    restart. No message and no ``repr`` holds the key, nor the name of its variable or file: people paste the
    key itself there by mistake.
    """

    def __init__(self, config: SelectorConfig, environ: Mapping[str, str]) -> None:
        """Take the key, or make sure that it can be taken later.

        Raises ``ConfigError`` when a key is configured and cannot be had. A variable that is not set is no
        error for a loopback server, which rarely wants a key.
        """
        self._file = config.api_key_file
        self._key: str | None = None
        if self._file is not None:
            _read_file(self._file)
        elif config.api_key_env is not None:
            value = environ.get(config.api_key_env, "")
            if value:
                self._key = _checked(value, "the environment variable that selector.api_key_env names")
            elif not is_loopback(config.base_url):
                raise ConfigError(
                    "selector.api_key_env names an environment variable that is not set here; set it in the "
                    "environment of memrecalld, or keep the key in a file and name that in "
                    "selector.api_key_file"
                )

    async def read(self) -> str | None:
        """Return the key as it is now; None for a server that needs none. Raises ``ConfigError``."""
        if self._file is None:
            return self._key
        # In a thread, since a home folder on a network share may hang and the event loop serves everyone.
        return await asyncio.to_thread(_read_file, self._file)


def _read_file(path: str) -> str:
    name = "the file that selector.api_key_file names"
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise ConfigError(f"{name} is not a regular file; put the key into one")
            if mode & 0o077:
                raise ConfigError(
                    f"{name} is open to others (mode {stat.S_IMODE(mode):04o}); run chmod 600 on it"
                )
            content = file.read(_MAX_KEY_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read ({error.strerror})") from None
    return _checked(content.decode("ascii", "replace"), name)


def _checked(value: str, name: str) -> str:
    """Return the key without its newline, if it can stand in a header as it is."""
    key = value.rstrip("\r\n")
    if not key:
        raise ConfigError(f"{name} is empty; put the key into it")
    if len(key) > _MAX_KEY_BYTES or " " in key or not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{name} does not hold a key alone; it must be one line of ASCII without blanks")
    return key
