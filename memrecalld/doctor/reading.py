"""The folders of notes, read as the daemon reads them and without it."""

from __future__ import annotations

import msgspec

from memrecalld.config import MemoryConfig
from memrecalld.doctor.subject import Subject
from memrecalld.memory.layouts import Places, Root, places
from memrecalld.memory.parse import decode
from memrecalld.memory.scan import RootScan, scan_root, screen_of
from memrecalld.memory.secret_rules import Rule
from memrecalld.memory.secrets import secrets_in
from memrecalld.memory.skips import Reason


class RootReport(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of notes, read without the daemon."""

    scan: RootScan
    secrets: dict[str, tuple[Rule, ...]]
    """Rules by relative path, of all notes that seem to hold any, whether they are left out for it or not."""
    folders: int
    """The folder and those below it, which take a watch each."""


def find_places(subject: Subject, memory: MemoryConfig | None = None) -> Places:
    """The folders of the subject's project and user, by its configuration or by another."""
    memory = memory or subject.config.memory
    return places(
        subject.project,
        environment=subject.environ,
        home=subject.paths.home,
        layouts=memory.layouts,
        extra_project_roots=memory.extra_project_roots,
        extra_user_roots=memory.extra_user_roots,
        trusted_projects=memory.trusted_projects,
    )


def read_root(root: Root, found: Places) -> RootReport:
    """Read all notes of one folder. Blocks; raises ``ProjectMemoryError`` as ``scan_root`` does."""
    secrets: dict[str, tuple[Rule, ...]] = {}
    folders: list[str] = []
    screened = screen_of(root)

    def screen(path: str, data: bytes) -> Reason | None:
        rules = secrets_in(decode(data))
        if rules:
            secrets[path] = rules
        return None if screened is None else screened(path, data)

    scan = scan_root(
        root,
        allowed=found.real_paths,
        entering=lambda _descriptor, prefix: folders.append(prefix),
        screen=screen,
    )
    return RootReport(scan=scan, secrets=secrets, folders=len(folders))
