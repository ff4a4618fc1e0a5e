"""Whom the checks are about."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from memrecalld.config import Config, Paths


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One user's service, seen from one project. Nothing here is checked yet."""

    paths: Paths
    environ: Mapping[str, str]
    socket: str
    """Absolute path of the socket that clients would use."""
    project: str
    """Absolute path."""
    config: Config
    """The defaults where the file cannot be used."""
    config_error: str | None = None
    """Why the configuration file cannot be used."""
