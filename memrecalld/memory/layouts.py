"""Where the notes of a project and of a person live, in each host's own layout."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

import msgspec

from memrecalld.memory.document import Scope
from memrecalld.memory.project import NoProject, Project, locate, project_path

Layout = Literal["native", "qwen", "claude"]
LAYOUTS: Final[tuple[Layout, ...]] = ("native", "qwen", "claude")

RootLayout = Literal["native", "qwen", "claude", "team", "extra"]
"""Where a root comes from: a layout, a repository's team notes, or the configuration."""

TEAM_FOLDER: Final = ".qwen/team-memory"
"""Where a repository keeps notes for all who work on it; read in trusted projects only."""

_MAX_NAME_BYTES: Final = 255
"""Longest file name on Linux file systems (``NAME_MAX``)."""

_HASH_BYTES: Final = 16


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of notes. It need not exist."""

    scope: Scope
    layout: RootLayout
    path: str
    """As the layout names it; for the eyes of a person."""
    real_path: str
    """Links resolved at the time of asking: what is opened."""
    required: bool
    """If it exists and cannot be read, the whole recall has failed (project notes), else it is left out."""


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """All folders of notes for one project, project notes before user notes."""

    project: Project | None
    no_project: NoProject | None
    """Why there is no project, if there is none."""
    roots: tuple[Root, ...]

    @property
    def real_paths(self) -> tuple[str, ...]:
        """Where links inside a root may lead: any of these roots."""
        return tuple(root.real_path for root in self.roots)


def places(
    project: str | None,
    *,
    environment: Mapping[str, str],
    home: str,
    layouts: Iterable[Layout] = LAYOUTS,
    extra_project_roots: Sequence[str] = (),
    extra_user_roots: Sequence[str] = (),
    trusted_projects: Sequence[str] = (),
) -> Places:
    """The folders of notes for ``project``, an absolute path or ``file:`` URI, or for no project (``None``).

    Args:
        environment: the variables that move a layout, by name.
        home: the home directory, absolute.
        extra_project_roots: further folders for every project; ``~/`` stands for ``home``.
        extra_user_roots: further folders of user notes.
        trusted_projects: globs of real project roots whose own team notes are read. ``*`` stays within one
            component of the path, ``**`` is any number of components.

    Reads the file system (links, ``.git`` entries), so its answer holds for the moment only: ask before each
    scan.

    Raises:
        InvalidProject: ``project`` is neither an absolute path nor a ``file:`` URI.
    """
    found: Project | NoProject = "not-given"
    if project is not None:
        found = locate(project_path(project), environment=environment, home=home)
    roots: list[Root] = []
    if isinstance(found, Project):
        roots += _project_roots(found, environment, home, layouts)
        if _is_trusted(found, trusted_projects, home):
            roots += _team_roots(found)
        roots += [_root("project", "extra", _expand(path, home)) for path in extra_project_roots]
    roots += _user_roots(environment, home, layouts)
    roots += [_root("user", "extra", _expand(path, home)) for path in extra_user_roots]
    return Places(
        project=found if isinstance(found, Project) else None,
        no_project=None if isinstance(found, Project) else found,
        roots=_distinct(roots),
    )


def native_key(path: str) -> str:
    """The name of a project's folder in the native layout: one file name, different for different paths.

    ``/`` becomes ``+``; other bytes outside ``A-Z a-z 0-9 . _ -`` are percent-encoded, ``+`` and ``~`` among
    them. A name that would be too long is cut and ends in ``~`` and a hash of the path.
    """
    key = quote(os.fsencode(path), safe="/").replace("~", "%7E").replace("/", "+")
    if len(key) <= _MAX_NAME_BYTES:
        return key
    digest = blake2b(os.fsencode(path), digest_size=_HASH_BYTES).hexdigest()
    return f"{key[: _MAX_NAME_BYTES - len(digest) - 1]}~{digest}"


def slug(path: str) -> str:
    """The name that Qwen Code and Claude Code give to a project's folder.

    Each UTF-16 unit outside ``A-Z a-z 0-9`` becomes ``-``: both hosts are JavaScript programs, where a
    character beyond the basic plane is two units. Different paths can have the same slug; that is the hosts'
    own doing.
    """
    return re.sub(r"[^A-Za-z0-9]", lambda match: "--" if match[0] > "\uffff" else "-", path)


def _native_base(environment: Mapping[str, str], home: str) -> str:
    # A relative value is to be ignored (XDG Base Directory Specification 0.8).
    data_home = environment.get("XDG_DATA_HOME", "")
    return f"{data_home if data_home.startswith('/') else f'{home}/.local/share'}/memrecalld"


def _qwen_base(environment: Mapping[str, str], home: str) -> str:
    for name in ("QWEN_CODE_MEMORY_BASE_DIR", "QWEN_RUNTIME_DIR", "QWEN_HOME"):
        folder = _expand(environment.get(name, ""), home)
        if folder.startswith("/"):  # a relative one depends on where the host was started
            return folder
    return f"{home}/.qwen"


def _claude_base(environment: Mapping[str, str], home: str) -> str:
    folder = _expand(environment.get("CLAUDE_CONFIG_DIR", ""), home)
    return folder if folder.startswith("/") else f"{home}/.claude"


def _project_roots(
    project: Project, environment: Mapping[str, str], home: str, layouts: Iterable[Layout]
) -> list[Root]:
    paths: dict[Layout, str] = {
        "native": f"{_native_base(environment, home)}/projects/{native_key(project.repository)}",
        "qwen": f"{_qwen_base(environment, home)}/projects/{slug(project.root)}/memory",
        "claude": f"{_claude_base(environment, home)}/projects/{slug(project.repository)}/memory",
    }
    return [_root("project", layout, paths[layout]) for layout in layouts]


def _user_roots(environment: Mapping[str, str], home: str, layouts: Iterable[Layout]) -> list[Root]:
    paths: dict[Layout, str] = {
        "native": f"{_native_base(environment, home)}/user",
        "qwen": f"{_qwen_base(environment, home)}/memories",
    }
    return [_root("user", layout, paths[layout]) for layout in layouts if layout in paths]


def _team_roots(project: Project) -> list[Root]:
    """The notes that come with the repository; only from inside it, so that a link cannot bring in others."""
    if project.git_root is None:
        return []
    root = _root("project", "team", f"{project.git_root}/{TEAM_FOLDER}")
    return [root] if root.real_path.startswith(f"{project.git_root}/") else []


def _root(scope: Scope, layout: RootLayout, path: str) -> Root:
    return Root(
        scope=scope,
        layout=layout,
        path=path,
        real_path=os.path.realpath(path),
        required=scope == "project",
    )


def _expand(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _is_trusted(project: Project, globs: Sequence[str], home: str) -> bool:
    parts = project.root.split("/")
    return any(_matches(parts, _expand(glob, home).rstrip("/").split("/")) for glob in globs)


def _matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Whether the components of a path match those of a glob.

    ``fnmatch`` alone would let ``*`` run across ``/`` and so trust more than was meant.
    """
    if not glob:
        return not parts
    if glob[0] == "**":
        return any(_matches(parts[skipped:], glob[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and _matches(parts[1:], glob[1:])


def _distinct(roots: Iterable[Root]) -> tuple[Root, ...]:
    """The first root of each folder; by device and inode where it exists, since a bind mount has two
    paths."""
    distinct: dict[tuple[int, int] | str, Root] = {}
    for root in roots:
        try:
            status = Path(root.real_path).stat()
        except (OSError, ValueError):
            distinct.setdefault(root.real_path, root)
        else:
            distinct.setdefault((status.st_dev, status.st_ino), root)
    return tuple(distinct.values())
