from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memrecalld import paths
from memrecalld.paths import socket_path, xdg_directory


@pytest.fixture
def runtime_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for ``/run/user``, which a test cannot arrange."""
    monkeypatch.setattr(paths, "_RUNTIME_ROOT", str(tmp_path))
    return tmp_path / str(os.getuid())


def test_override_wins() -> None:
    assert socket_path({"MEMRECALLD_SOCKET": "/a/b", "XDG_RUNTIME_DIR": "/run/user/1"}) == "/a/b"


def test_relative_override_is_refused() -> None:
    with pytest.raises(OSError, match="MEMRECALLD_SOCKET must be an absolute path"):
        socket_path({"MEMRECALLD_SOCKET": "here.sock"})


@pytest.mark.parametrize("value", ["/run/user/1", "/run/user/1/"])
def test_runtime_folder_of_the_session_is_next(value: str) -> None:
    environ = {"XDG_RUNTIME_DIR": value, "MEMRECALLD_SOCKET": ""}
    assert socket_path(environ) == "/run/user/1/memrecalld/memrecalld.sock"


@pytest.mark.parametrize("environ", [{}, {"XDG_RUNTIME_DIR": ""}, {"XDG_RUNTIME_DIR": "run"}])
def test_without_the_variable_the_folder_that_the_system_made_is_found(
    runtime_root: Path, environ: dict[str, str]
) -> None:
    runtime_root.mkdir(mode=0o700)
    assert socket_path(environ) == f"{runtime_root}/memrecalld/memrecalld.sock"


def _nothing(folder: Path) -> None:
    pass


def _writable_by_others(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o770)


def _link(folder: Path) -> None:
    folder.with_name("elsewhere").mkdir(mode=0o700)
    folder.symlink_to("elsewhere")


def _file(folder: Path) -> None:
    folder.touch(mode=0o600)


@pytest.mark.parametrize("arrange", [_nothing, _writable_by_others, _link, _file])
def test_folder_that_may_be_someone_elses_is_passed_over(runtime_root: Path, arrange) -> None:
    arrange(runtime_root)
    expected = f"/tmp/memrecalld-{os.getuid()}/memrecalld.sock"
    assert socket_path({"TMPDIR": "/elsewhere"}) == expected


def test_folder_of_another_user_is_passed_over(runtime_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    runtime_root.with_name(str(stranger)).mkdir(mode=0o700)
    assert socket_path({}) == f"/tmp/memrecalld-{stranger}/memrecalld.sock"


def test_xdg_value_must_be_absolute() -> None:
    environ = {"A": "/x/", "B": "x", "C": "", "D": "/", "E": "~/x"}
    assert [xdg_directory(environ, name) for name in "ABCDEF"] == ["/x", None, None, "/", None, None]


def test_importing_loads_nothing_that_the_interpreter_has_not_loaded() -> None:
    program = """if True:
        import os, sys
        before = set(sys.modules)
        import memrecalld.paths
        assert set(sys.modules) - before == {"memrecalld", "memrecalld.paths"}, set(sys.modules) - before
    """
    subprocess.run([sys.executable, "-S", "-c", program], check=True, timeout=60, env={"PYTHONPATH": "."})
