"""Which project a path belongs to.

A project is known by real paths, so that a link and its target, ``/p/`` and ``/p/./``, are one project. It
has two anchors: the nearest git root, where a worktree is a project of its own, and the main repository,
which all of its worktrees share. Outside any repository both are the directory itself.

``/``, the home directory and the temporary folders are no project, nor does a repository in one of them make
everything below it one: a home directory under version control does not turn all projects into one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from memrecalld.errors import InvalidProject

NoProject = Literal["not-given", "filesystem-root", "home", "temporary-folder"]
"""Why there is no project: only user notes are used then."""

MAX_PATH_BYTES: Final = 4_096
"""Longest project path (``PATH_MAX`` of Linux)."""

_MAX_GIT_FILE_BYTES: Final = 2 * MAX_PATH_BYTES


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """Where a project is anchored. Real absolute paths."""

    directory: str
    """The directory that was named."""
    git_root: str | None
    """The nearest git root; a linked worktree and a submodule are their own."""
    repository: str
    """The main repository of a linked worktree, else the git root, else the directory."""

    @property
    def root(self) -> str:
        """The nearest git root, or the directory outside any repository."""
        return self.git_root or self.directory


def project_path(value: str) -> str:
    """The absolute path in ``value``, which is one, or a ``file:`` URI of this host.

    Raises:
        InvalidProject: it is neither; the message says what was found and holds no part of it.
    """
    path = _path_of_uri(value) if value[:5].lower() == "file:" else value
    if "\0" in path:
        raise InvalidProject(_expected("a path with a NUL character"))
    if not path.startswith("/"):
        raise InvalidProject(_expected("an empty string" if not path else "a relative path"))
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise InvalidProject(_expected("a path that is not Unicode text")) from None
    if size > MAX_PATH_BYTES:
        raise InvalidProject(_expected(f"one of more than {MAX_PATH_BYTES} bytes"))
    return path


def _expected(found: str) -> str:
    return f"project path: expected an absolute path or a file: URI of this host, got {found}"


def _path_of_uri(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise InvalidProject(_expected("a malformed URI")) from None
    if parts.netloc.lower() not in {"", "localhost"}:
        raise InvalidProject(_expected("a URI of another host"))
    if "?" in uri or "#" in uri:
        raise InvalidProject(_expected("a URI with a query or a fragment; write ? as %3F and # as %23"))
    try:
        return unquote_to_bytes(parts.path).decode()
    except UnicodeDecodeError:
        raise InvalidProject(_expected("a URI that is not UTF-8")) from None


def locate(path: str, *, environment: Mapping[str, str], home: str) -> Project | NoProject:
    """The project at the absolute ``path``, which need not exist any more; or why it is none.

    Reads the file system: links, and the ``.git`` entries from ``path`` upwards.
    """
    places = _no_projects(environment, home)
    directory = os.path.realpath(path)
    status = _status(directory)
    if status is not None and stat.S_ISREG(status.st_mode):  # a client's open file, say
        directory = str(Path(directory).parent)
    if directory in places:
        return places[directory]
    git_root = _git_root(directory, places)
    repository = git_root or directory
    if git_root is not None:
        main = _main_repository(git_root)
        if main is not None and main not in places:
            repository = main
    return Project(directory=directory, git_root=git_root, repository=repository)


def _no_projects(environment: Mapping[str, str], home: str) -> dict[str, NoProject]:
    temporary = ("/tmp", "/var/tmp", environment.get("TMPDIR", ""))  # noqa: S108 - named to be refused
    places: dict[str, NoProject] = {
        os.path.realpath(folder): "temporary-folder" for folder in temporary if folder.startswith("/")
    }
    places[os.path.realpath(home)] = "home"
    places["/"] = "filesystem-root"
    return places


def _git_root(directory: str, places: Mapping[str, NoProject]) -> str | None:
    for folder in (directory, *map(str, Path(directory).parents)):
        if folder not in places and _status(f"{folder}/.git") is not None:
            return folder
    return None


def _status(path: str) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except OSError:
        return None


def _main_repository(git_root: str) -> str | None:
    """The main repository of the linked worktree at ``git_root``; ``None`` if it is no linked worktree.

    Follows gitrepository-layout(5): ``.git`` is a file naming the worktree's own git directory, whose
    ``commondir`` names the shared one and whose ``gitdir`` names the ``.git`` file in turn. Both directions
    must agree, since a ``.git`` file alone comes with whatever was unpacked there and could claim the notes
    of any other project.
    """
    pointer = _first_line(f"{git_root}/.git")
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    own = _real(git_root, pointer.removeprefix("gitdir:").strip())
    common_line = _first_line(f"{own}/commondir")
    back_line = _first_line(f"{own}/gitdir")
    if not common_line or not back_line:
        return None
    common = _real(own, common_line)
    if own.parent != common / "worktrees" or _real(own, back_line) != Path(git_root, ".git"):
        return None
    # A bare repository has no working tree of its own; it stands for itself.
    return str(common.parent if common.name == ".git" else common)


def _real(base: str | Path, path: str) -> Path:
    return Path(os.path.realpath(Path(base, path)))


def _first_line(path: str) -> str | None:
    """The first line of a regular file, bounded; ``None`` if there is no such file or it is not text."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, _MAX_GIT_FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    line = os.fsdecode(data).partition("\n")[0].rstrip("\r")
    return None if "\0" in line else line
