"""Next steps name commands that work when they are pasted, whoever started what shows them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memrecalld.programs import install, program, shown


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scripts folder of the running interpreter, with both programs, which no PATH leads to."""
    folder = tmp_path / "a clone" / "bin"
    folder.mkdir(parents=True)
    place(folder)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr(sys, "argv", ["/somewhere/agent.py"])
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    return folder


def place(folder: Path) -> None:
    for name in ("memrecall", "memrecalld"):
        (folder / name).write_text("#!/bin/sh\necho ran $0 $*\n", encoding="ascii")
        (folder / name).chmod(0o755)


def said(line: str, path: str) -> str:
    return subprocess.run(
        ["/bin/sh", "-c", line], env={"PATH": path}, cwd="/", capture_output=True, text=True, check=False
    ).stdout


def test_programs_that_are_not_found_by_name_are_shown_with_their_path(scripts: Path) -> None:
    line = shown('memrecall recall "how do we deploy?"')
    assert line == f'{shlex.quote(str(scripts / "memrecall"))} recall "how do we deploy?"'
    assert said(line, os.environ["PATH"]) == f"ran {scripts}/memrecall recall how do we deploy?\n"
    assert shown("memrecalld") == shlex.quote(str(scripts / "memrecalld"))


def test_programs_that_are_found_by_name_are_shown_by_it(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/empty:{scripts}")
    assert shown("memrecall doctor") == "memrecall doctor"
    # So it is where a link leads to them, as some installers make it.
    links = tmp_path / "links"
    links.mkdir()
    (links / "memrecall").symlink_to(scripts / "memrecall")
    monkeypatch.setenv("PATH", str(links))
    assert shown("memrecall doctor") == "memrecall doctor"


def test_a_name_that_leads_to_another_installation_is_not_shown(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    place(other)
    monkeypatch.setenv("PATH", f"{other}:{scripts}")
    assert str(scripts) in shown("memrecall doctor")


def test_the_programs_of_a_user_who_installed_them_apart_from_the_interpreter_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "local"
    folder.mkdir()
    place(folder)
    monkeypatch.setattr(sys, "executable", "/usr/bin/no-such-python")
    monkeypatch.setattr(sys, "argv", [str(folder / "memrecall")])
    monkeypatch.setenv("PATH", str(folder))
    assert shown("memrecalld") == "memrecalld"


def test_without_scripts_the_interpreter_runs_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shown("memrecall doctor") == f"{tmp_path}/python -m memrecalld.cli doctor"
    assert program("memrecalld") == [f"{tmp_path}/python", "-m", "memrecalld.server.main"]


def test_both_modules_are_there() -> None:
    for line in (
        [sys.executable, "-m", "memrecalld.cli", "--version"],
        [sys.executable, "-m", "memrecalld.server.main", "--version"],
    ):
        assert subprocess.run(line, check=True, capture_output=True, text=True).stdout.startswith("memrecall")


def test_what_is_missing_is_installed_for_the_interpreter_that_runs_in_the_version_that_is_needed() -> None:
    assert install("mcp") == f"{shlex.quote(sys.executable)} -m pip install 'mcp<3,>=2.3'"
    assert shlex.split(install("PyYAML"))[-1].lower().startswith("pyyaml>=")
    assert install("no-such-package") == f"{shlex.quote(sys.executable)} -m pip install no-such-package"
