"""The unit files as text, and the command where there is no systemd."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memrecalld.config import Paths
from memrecalld.programs import program
from memrecalld.service.units import NAMES, SERVICE, SOCKET, directory, quoted, state, unit_files
from tests.support.daemon import REPOSITORY, START_S

ENVIRON = {"HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/1000"}


def units(environ=ENVIRON, command=("/opt/memrecalld",)):
    return unit_files(Paths.from_environ(environ), environ, command)


def settings(text):
    """The lines of a unit, without comments."""
    return [line for line in text.splitlines() if line and not line.startswith(("#", "["))]


def test_they_name_the_program_and_the_two_folders_of_this_machine():
    service = settings(units()[SERVICE])
    assert "ExecStart=/opt/memrecalld" in service
    assert "ReadWritePaths=-/home/me/.local/state/memrecalld -/home/me/.cache/memrecalld" in service
    assert "%h" not in units()[SERVICE]
    assert not [line for line in service if line.startswith("Environment=")]


def test_what_a_shell_sets_and_systemd_does_not_is_passed_on_and_nothing_else():
    environ = ENVIRON | {
        "XDG_STATE_HOME": "/data/my state",
        "CLAUDE_CONFIG_DIR": "/c",
        "MY_API_KEY": "secret",
    }
    service = settings(units(environ)[SERVICE])
    passed = [line for line in service if line.startswith("Environment=")]
    assert passed == ['Environment="XDG_STATE_HOME=/data/my state"', "Environment=CLAUDE_CONFIG_DIR=/c"]
    assert 'ReadWritePaths="-/data/my state/memrecalld" -/home/me/.cache/memrecalld' in service


def test_the_socket_is_where_clients_look_by_default():
    listen = next(line for line in settings(units()[SOCKET]) if line.startswith("ListenStream="))
    path = listen.removeprefix("ListenStream=").replace("%t", "/run/user/1000")
    assert path == Paths.from_environ(ENVIRON).socket


def test_the_program_is_the_one_beside_the_interpreter(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert program("memrecalld") == [str(tmp_path / "python"), "-m", "memrecalld.server.main"]
    (tmp_path / "memrecalld").touch()
    assert program("memrecalld") == [str(tmp_path / "memrecalld")]


def test_variables_are_replaced_nowhere_in_a_command():
    service = settings(units(command=("/a$b/python", "-m", "c$d"))[SERVICE])
    assert 'ExecStart="/a$b/python" -m "c$$d"' in service


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/plain/path-1.2_x@y:z+w=v", "/plain/path-1.2_x@y:z+w=v"),
        ("/ä/備", "/ä/備"),
        ("/a b", '"/a b"'),
        ("/50%", "/50%%"),
        ('/a"b', '"/a\\"b"'),
        ("/a\\b", '"/a\\\\b"'),
        ("/a;b", '"/a;b"'),
        ("", '""'),
    ],
)
def test_a_word_is_one_word_whatever_is_in_it(word, written):
    assert quoted(word) == written


@pytest.mark.parametrize("word", ["/a\nb", "/a\x00b", "/a\x7f", "/a\udcff"])
def test_what_no_unit_can_hold_is_refused(word):
    with pytest.raises(ValueError, match="cannot stand in a unit file"):
        quoted(word)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_ours_until_a_byte_of_it_is_changed(name):
    wanted, other = units()[name], units(command=("/elsewhere/memrecalld",))[name]
    assert state(None, wanted) == "absent"
    assert state(wanted, wanted) == "current"
    assert state(other, wanted) == ("current" if name == SOCKET else "outdated")
    assert state(f"{other}\n", wanted) == "changed"
    assert state(other.replace("Description", "description"), f"{wanted}\n") == "changed"
    assert state("[Unit]\n", wanted) == "changed"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "/home/me/.config/systemd/user"),
        ({"XDG_CONFIG_HOME": "/c"}, "/c/systemd/user"),
        ({"XDG_CONFIG_HOME": "relative"}, "/home/me/.config/systemd/user"),
    ],
)
def test_they_belong_where_systemd_looks_for_a_users_units(environ, expected):
    environ = ENVIRON | environ
    assert str(directory(environ, Paths.from_environ(environ))) == expected


# Without systemd -------------------------------------------------------------------------------------------


def service(home, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "memrecalld.cli", "service", *arguments],
        env={"HOME": str(home), "PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "reason"),
    [({"PATH": "/nowhere"}, "no systemctl"), ({"XDG_RUNTIME_DIR": "/nowhere"}, "no systemd of this user")],
    ids=["no systemd", "no manager"],
)
def test_without_systemd_the_command_says_what_to_do_instead_and_writes_nothing(
    tmp_path, environment, reason
):
    for action in ("install", "status"):
        refused = service(tmp_path, action, **environment)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert reason in refused.stderr and "run memrecalld yourself" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_shows_the_units_and_the_calls_and_does_nothing(tmp_path):
    shown = service(tmp_path, "install", "--dry-run", PATH="/nowhere")
    assert shown.returncode == 0
    for expected in (f"{tmp_path}/.config/systemd/user/{SOCKET}", "ExecStart=", f"enable --now {SOCKET}"):
        assert expected in shown.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_a_unit_is_left_alone(tmp_path):
    unit = tmp_path / ".config" / "systemd" / "user" / SERVICE
    unit.parent.mkdir(parents=True)
    unit.symlink_to("/dev/null")
    refused = service(tmp_path, "install", "--dry-run")
    assert refused.returncode == 1
    assert str(unit) in refused.stderr and "systemctl --user edit" in refused.stderr
