"""The unit files: what they say on this machine, and whether somebody has changed them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Final, Literal

from memrecalld.config import Paths

SOCKET: Final = "memrecalld.socket"
SERVICE: Final = "memrecalld.service"
NAMES: Final = (SOCKET, SERVICE)

PASSED_ON: Final = (
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "QWEN_CODE_MEMORY_BASE_DIR",
    "QWEN_RUNTIME_DIR",
    "QWEN_HOME",
    "CLAUDE_CONFIG_DIR",
)
"""Variables that move the configuration or the notes. A shell's start-up files set them, which systemd does
not read: the service would look for everything elsewhere."""

_SEAL: Final = (
    "# Written by memrecall service install; your own settings go into a drop-in: systemctl --user edit"
)
_DIGEST: Final = re.compile(r"# Digest: ([0-9a-f]{32})\n")

State = Literal["absent", "current", "outdated", "changed"]
"""``outdated``: as another installation of memrecalld wrote it. ``changed``: by somebody else."""


def directory(environ: Mapping[str, str], paths: Paths) -> Path:
    """Where a user's own units are (systemd.unit(5))."""
    base = environ.get("XDG_CONFIG_HOME", "")
    return Path(base if base.startswith("/") else f"{paths.home}/.config", "systemd", "user")


def unit_files(paths: Paths, environ: Mapping[str, str], command: Sequence[str]) -> dict[str, str]:
    """The text of each unit as it belongs on this machine, by name."""
    folders = (paths.state_dir, paths.cache_dir)
    program_path, *arguments = command
    start = " ".join([quoted(program_path), *map(_argument, arguments)])
    environment = [
        f"Environment={quoted(f'{name}={value}')}" for name in PASSED_ON if (value := environ.get(name))
    ]
    here = {
        "ExecStart": "\n".join([f"ExecStart={start}", *environment]),
        "ExecStartPre": f"ExecStartPre=-+mkdir -p -m 700 {' '.join(map(_argument, folders))}",
        "ReadWritePaths": f"ReadWritePaths={' '.join(quoted(f'-{folder}') for folder in folders)}",
    }
    return {name: _sealed(_filled(_shipped(name), here)) for name in NAMES}


def state(found: str | None, wanted: str) -> State:
    """What a unit file is, ``None`` being none, beside what it should be."""
    if found is None:
        return "absent"
    if found == wanted:
        return "current"
    return "outdated" if _is_sealed(found) else "changed"


def quoted(word: str) -> str:
    """One word of a setting, in which no specifier and no separator means anything (systemd.syntax(7)).

    Raises ``ValueError`` for what no unit file can hold.
    """
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", word):
        raise ValueError("a path with control characters, or not in UTF-8, cannot stand in a unit file")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return escaped if re.fullmatch(r"[\w%/.:=@+-]+", escaped) else f'"{escaped}"'


def _argument(word: str) -> str:
    """As ``quoted``, for the words after a command's first: there, variables are replaced."""
    return quoted(word).replace("$", "$$")


def _shipped(name: str) -> str:
    return (resources.files("memrecalld") / "units" / name).read_text(encoding="utf-8")


def _filled(template: str, here: Mapping[str, str]) -> str:
    lines = (here.get(line.partition("=")[0], line) for line in template.splitlines())
    return "".join(f"{line}\n" for line in lines)


def _sealed(text: str) -> str:
    return f"{_SEAL}\n# Digest: {_digest(text)}\n{text}"


def _is_sealed(text: str) -> bool:
    head, _, rest = text.partition("\n")
    digest = _DIGEST.match(rest)
    return head == _SEAL and digest is not None and digest[1] == _digest(rest[digest.end() :])


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
