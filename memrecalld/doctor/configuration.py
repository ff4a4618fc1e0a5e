"""Whether the configuration file can be used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from memrecalld.doctor.finding import Finding
from memrecalld.doctor.subject import Subject

CHECK: Final = "configuration"


def check(subject: Subject) -> Iterator[Finding]:
    """The file's fault, or that there is none; then folders that the file names and that do not exist."""
    file = subject.paths.config_file
    if subject.config_error is not None:
        # The text names the file, the place in it, and what was expected.
        yield Finding(
            check=CHECK,
            severity="error",
            what=subject.config_error,
            fix=f"mend {file}, then restart memrecalld",
        )
        return
    there = os.path.exists(file)  # noqa: PTH110 - a path that cannot be looked at is an error of its own
    what = f"{file} is in order" if there else "the defaults, since there is no file"
    yield Finding(check=CHECK, severity="ok", what=what)
    memory = subject.config.memory
    for name in ("extra_project_roots", "extra_user_roots"):
        for path in getattr(memory, name):
            if not os.path.isdir(path):  # noqa: PTH112
                yield Finding(
                    check=CHECK,
                    severity="hint",
                    what=f"memory.{name}: {path} is no folder (yet)",
                    fix="make the folder, or take it out of the configuration",
                )
