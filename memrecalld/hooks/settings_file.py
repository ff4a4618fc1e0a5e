"""An agent's settings file: read whole, replaced in one step."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from memrecalld.hooks.jsonc import SyntaxFault

_BOM: Final = "\ufeff"
_NEW_MODE: Final = 0o600
"""Settings hold keys."""


class SettingsError(Exception):
    """A settings file that cannot be used; the text names the file, what is wrong with it, and what to do."""


class SettingsFile:
    """The file at ``path``, or where the link there leads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bom = ""

    def read(self) -> str | None:
        """Its text without a byte order mark, which ``write`` puts back; None if there is no file.

        Raises ``SettingsError``.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed(error) from None
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            broken = data[: error.start].decode()
            raise self.broken(SyntaxFault(f"{broken}?", len(broken), "not UTF-8 text")) from None
        self._bom = _BOM if text.startswith(_BOM) else ""
        return text.removeprefix(_BOM)

    def write(self, text: str | None) -> None:
        """Replace the text, keeping mode and owner; None removes the file.

        Who reads meanwhile sees the old file or the new one. Raises ``SettingsError``.
        """
        try:
            target = self.path.resolve()
            if text is None:
                target.unlink()
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            self._replace(target, (self._bom + text).encode())
        except OSError as error:
            raise self._failed(error) from None

    def broken(self, fault: SyntaxFault) -> SettingsError:
        """The error for what does not parse."""
        return SettingsError(f"{self.path}, {fault}. Nothing was changed; mend it, then run this again.")

    def _failed(self, error: OSError) -> SettingsError:
        return SettingsError(f"{self.path}: {error.strerror}. Make it a file that you may read and write.")

    @staticmethod
    def _replace(target: Path, data: bytes) -> None:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                _take_after(file.fileno(), target)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _take_after(descriptor: int, target: Path) -> None:
    """Give the new file the mode, and the owner if need be, of the old one."""
    try:
        old = target.stat()
    except FileNotFoundError:
        os.fchmod(descriptor, _NEW_MODE)
        return
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
