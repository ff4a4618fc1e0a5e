"""``memrecall install-hooks`` and ``uninstall-hooks`` on real files."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from memrecalld.cli import main
from memrecalld.hooks.process import EVENTS

OLD = b'\xef\xbb\xbf{\r\n\t"model": "m" // mine\r\n}'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, in which there is a project to stand in."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def install(host: str = "qwen", *options: str) -> int:
    return main(["install-hooks", "--host", host, *options])


def uninstall(host: str = "qwen", *options: str) -> int:
    return main(["uninstall-hooks", "--host", host, *options])


def settings_of(home: Path, data: bytes = OLD) -> Path:
    path = home / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("host", "options", "place"),
    [
        ("claude", [], ".claude/settings.json"),
        ("claude", ["--user"], ".claude/settings.json"),
        ("claude", ["--project"], "project/.claude/settings.local.json"),
        ("qwen", [], ".qwen/settings.json"),
        ("qwen", ["--project"], "project/.qwen/settings.json"),
    ],
)
def test_hooks_go_into_the_agents_own_file_and_out_again(home, capsys, host, options, place):
    assert install(host, *options) == 0
    path = home / place
    assert str(path) in capsys.readouterr().out
    hooks = json.loads(path.read_text())["hooks"]
    assert list(hooks) == list(EVENTS)
    for event, [group] in hooks.items():
        [handler] = group["hooks"]
        assert handler["command"].endswith(f"{event} --host {host}")
        assert handler["timeout"] == {"claude": 5, "qwen": 5000}[host]
        assert "matcher" not in group, "a session of every source is to start with its notes read"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert uninstall(host, *options) == 0
    assert not path.exists()


@pytest.mark.parametrize(("host", "variable"), [("claude", "CLAUDE_CONFIG_DIR"), ("qwen", "QWEN_HOME")])
def test_the_folder_that_the_agent_was_told_is_used(home, monkeypatch, host, variable):
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert install(host) == 0
    assert [path.name for path in (home / "elsewhere").iterdir()] == ["settings.json"]


def test_bytes_mode_and_owner_survive(home):
    path = settings_of(home)
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    before = path.stat()
    assert install() == 0
    installed = path.read_bytes()
    assert installed.startswith(b"\xef\xbb\xbf{\r\n\t") and b"\n" not in installed.replace(b"\r\n", b"")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert install() == 0
    assert path.read_bytes() == installed
    assert uninstall() == 0
    assert path.read_bytes() == OLD
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


def test_doing_nothing_twice_says_so(capsys):
    assert uninstall() == 0
    assert install() == 0
    assert install() == 0
    assert [line.startswith("Nothing to change in ") for line in capsys.readouterr().out.splitlines()] == [
        True,
        False,
        True,
    ]


def test_a_linked_settings_file_is_changed_where_it_lies(home):
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "qwen.json"
    real.write_bytes(OLD)
    link = home / ".qwen" / "settings.json"
    link.parent.mkdir()
    link.symlink_to("../dotfiles/qwen.json")
    assert install() == 0
    assert link.is_symlink() and b"memrecalld" in real.read_bytes()
    assert uninstall() == 0
    assert link.is_symlink() and real.read_bytes() == OLD


def test_a_dry_run_shows_the_change_and_makes_none(home, capsys):
    path = settings_of(home, b'{\n  "model": "m"\n}')
    assert install("qwen", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert '-  "model": "m"\n+  "model": "m",\n+  "hooks": {\n' in shown
    assert shown.count("memrecalld/hooks/run.py") == len(EVENTS)
    assert path.read_bytes() == b'{\n  "model": "m"\n}'
    assert install("claude", "--dry-run") == 0
    assert not (home / ".claude").exists()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: expected "," or "}"'),
        (b"", "line 1, column 1: expected a value, found the end of the file"),
        (b'{"a":\n"\xff"}', "line 2, column 2: not UTF-8 text"),
        (b"[]", "line 1, column 1: expected an object, {…}"),
    ],
)
def test_broken_settings_are_refused_with_file_and_place_and_left_alone(home, capsys, data, problem):
    path = settings_of(home, data)
    for command in (install, uninstall):
        assert command() == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert (
            printed.err
            == f"memrecall: {path}, {problem}. Nothing was changed; mend it, then run this again.\n"
        )
    assert path.read_bytes() == data


def test_comments_are_refused_where_the_agent_does_not_read_them(home, capsys):
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "a": 1\n}')
    assert install("claude") == 2
    assert "line 2, column 3: comments are not allowed here" in capsys.readouterr().err


def test_a_folder_in_the_place_of_the_file_is_an_error_and_no_traceback(home, capsys):
    (home / ".qwen" / "settings.json").mkdir(parents=True)
    assert install() == 2
    assert "Is a directory. Make it a file that you may read and write." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--host", "emacs"], ["--host", "qwen", "--user", "--project"]])
def test_a_wrong_call_is_a_usage_error(capsys, arguments):
    assert main(["install-hooks", *arguments]) == 2
    assert "usage: memrecall install-hooks" in capsys.readouterr().err
