"""SQLite files of ours: private, of a known version, and set aside when they cannot be used.

Nothing in such a file may keep the daemon from working. One that is corrupt, or of another version, is
renamed and a new one begun; where even that fails there is no file, and whoever wanted one works from memory.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import stat
from pathlib import Path
from typing import Final, Literal

from memrecalld.programs import shown

_log = logging.getLogger("memrecalld.database")

_ASIDE: Final = ".set-aside"
"""Suffix of a file that could not be used; one is kept, for whoever wants to look."""

_BUSY_S: Final = 1.0

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

Unusable = Literal["damaged", "of another version"]

damaged: Final[set[str]] = set()
"""Databases that this process has found damaged and set aside: the names of their files, without suffix. Of
another version is what an update leaves, and nothing to worry about."""


def open_database(
    path: Path, *, version: int, schema: str, check: bool = True, quiet: bool = False
) -> sqlite3.Connection | None:
    """Open or create a database with a schema; ``None`` where that is impossible, which is logged once.

    ``version`` is kept in the file (``PRAGMA user_version``); a file of another version is set aside.
    ``check`` reads the whole file for damage; without, it shows when it is met. With ``quiet`` it is not
    logged that there can be none, which is for trying again.
    """
    try:
        make_private_directory(path.parent)
        connection = _open(path, version, schema, check)
        if isinstance(connection, str):
            set_aside(path, connection)
            connection = _open(path, version, schema, check)
    except (OSError, sqlite3.Error) as error:
        if not quiet:
            _log.warning("%s cannot be used (%s); going on without it", path.name, _reason(error))
        return None
    if isinstance(connection, str):
        if not quiet:
            _log.warning("%s cannot be used; going on without it", path.name)
        return None
    return connection


class Place:
    """A database's path, and which file was there when the database was opened.

    Whoever opens a database asks now and then whether its file is still there: SQLite itself goes on with one
    that was removed or replaced, and what it writes is never found again.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._opened = _status(path)
        self._journals = {journal: _status(journal) for journal in _journals(path)}

    def holds_it(self) -> bool:
        """The file at the path is the one that was there.

        Where it is another one there must be no second connection: SQLite takes the memory that connections
        share for that of the file at the path, and would cut it off under the first one, a SIGBUS.
        """
        return _is_same(_status(self.path), self._opened)

    def leave(self) -> None:
        """Let another file have the path, once this one is not there any more: its journals go too.

        SQLite would read them as the other file's. Whoever still has this one open may go on.
        """
        for journal, opened in self._journals.items():
            if _is_same(_status(journal), opened):
                with contextlib.suppress(OSError):
                    journal.unlink()


def connect_again(path: Path) -> sqlite3.Connection:
    """Another connection to an open database. Raises ``sqlite3.Error``."""
    # Not to a new file: that would be without tables, and open to whoever the umask lets in.
    return sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
    )


def is_damage(error: Exception) -> bool:
    """``error`` says that the file is damaged."""
    # Of an extended code, which tells more, the lowest byte counts. SQLite's own message may quote what is
    # damaged, and be no text then.
    return isinstance(error, UnicodeDecodeError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def make_private_directory(directory: Path) -> None:
    """Create a directory for this user's eyes, and those above it that are missing, or find it to be one.

    Raises ``PermissionError`` for a link, for another user's directory, and for one that others may write to.
    """
    # mkdir of pathlib and of os give the directories above what the umask leaves of 0777.
    for missing in reversed([parent for parent in directory.parents if not parent.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(
            f"its directory is a link or no directory; move it away: {shown('memrecall doctor')} names it"
        )
    if found.st_uid != os.geteuid():
        raise PermissionError(
            f"its directory belongs to another user; chown mends that: {shown('memrecall doctor')} names it"
        )
    if found.st_mode & 0o022:
        raise PermissionError(
            f"others may write to its directory; chmod 700 mends that: {shown('memrecall doctor')} names it"
        )


def _open(path: Path, version: int, schema: str, check: bool) -> sqlite3.Connection | Unusable:
    """A connection, or why the file is no database of this version."""
    _make_private_file(path)
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        # A write-ahead log outlives a killed process, and with NORMAL no commit waits for the disk
        # (sqlite.org/wal).
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone() if check else ("ok",)
        if sound != "ok" or found not in ({version} if tables else {0, version}):
            connection.close()
            return "damaged" if sound != "ok" else "of another version"
        connection.executescript(schema)
        connection.execute(f"PRAGMA user_version={version:d}")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        connection.close()
        if is_damage(error):
            return "damaged"
        raise
    return connection


def _make_private_file(path: Path) -> None:
    """Create a file with mode 0600, or give that to one of ours, whatever was done to it.

    SQLite would create it by the umask; its journals take the mode of the file. Raises ``OSError``, such as
    ``PermissionError`` for another user's file.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise PermissionError(
                f"it belongs to another user; move it away: {shown('memrecall doctor')} names it"
            )
        if found.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def set_aside(path: Path, why: Unusable) -> None:
    """Rename a database out of the way, and remove its journals. Raises ``OSError``."""
    _log.warning("%s is %s; set aside, starting afresh", path.name, why)
    if why == "damaged":
        damaged.add(path.stem)
    path.replace(path.with_name(path.name + _ASIDE))
    for journal in _journals(path):
        journal.unlink(missing_ok=True)


def _journals(path: Path) -> list[Path]:
    """Where SQLite keeps the write-ahead log of a database, and the memory that its connections share."""
    return [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm")]


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _is_same(status: os.stat_result | None, other: os.stat_result | None) -> bool:
    return status is not None and other is not None and os.path.samestat(status, other)


def _reason(error: OSError | sqlite3.Error) -> str:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", type(error).__name__)
    return error.strerror or str(error)
