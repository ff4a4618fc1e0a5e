"""The unit files of one user on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memrecalld.config import Paths
from memrecalld.programs import program
from memrecalld.service.units import State, directory, state, unit_files


class Installation:
    """The unit files of one user, as they are and as they should be."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raises ``ConfigError``, ``OSError``, and ``ValueError`` for paths that no unit can name."""
        self.environ = environ
        self.paths = Paths.from_environ(environ)
        self.directory = directory(environ, self.paths)
        self.wanted = unit_files(self.paths, environ, program("memrecalld"))

    def path(self, name: str) -> Path:
        """Where a unit's file is, or would be."""
        return self.directory / name

    def state(self, name: str) -> State:
        """What a unit's file is beside what it should be; a link is somebody else's."""
        path = self.path(name)
        if path.is_symlink():
            return "changed"
        try:
            found = path.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            found = None
        return state(found, self.wanted[name])

    def write(self, name: str) -> None:
        """Put a unit's file in place, whole."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{name}.new")
        new.write_text(self.wanted[name], encoding="utf-8")
        new.replace(path)
