"""What others could read or replace is found, with the command that mends it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memrecalld.doctor import permissions
from tests.doctor.conftest import User, bad

DIRECTORIES = ("cache", "state", "runtime")


@pytest.fixture
def private(user: User) -> User:
    """All that a daemon makes, as it makes it."""
    for name in DIRECTORIES:
        getattr(user, name).mkdir(parents=True, mode=0o700)
    for file in files_of(user):
        file.touch(mode=0o600)
    return user


def files_of(user: User) -> list[Path]:
    return [
        user.runtime / "memrecalld.sock.lock",
        user.state / "daemon.log",
        *(user.state / f"sessions.sqlite{suffix}" for suffix in ("", "-wal", "-shm")),
        *(user.cache / f"notes.sqlite{suffix}" for suffix in ("", "-wal", "-shm")),
    ]


def test_nothing_is_in_order_as_well_as_what_a_daemon_makes(user: User, private: User) -> None:
    assert not bad(permissions.check(private.subject))


def test_nothing_at_all_is_in_order(user: User) -> None:
    assert [finding.severity for finding in permissions.check(user.subject)] == ["ok"]


@pytest.mark.parametrize("name", ["cache", "state"])
def test_a_directory_that_cannot_be_made_is_an_error(user: User, name: str) -> None:
    directory: Path = getattr(user, name)
    directory.parent.parent.mkdir(parents=True, exist_ok=True)
    directory.parent.touch()
    [finding] = bad(permissions.check(user.subject))
    assert finding.severity == "error"
    assert f"{directory.parent} is no directory" in finding.what
    subprocess.run(str(finding.fix).split(), check=True)
    assert not bad(permissions.check(user.subject))


@pytest.mark.parametrize("name", ["cache", "state"])
def test_a_directory_that_its_user_may_not_write_to_is_an_error(
    private: User, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory: Path = getattr(private, name)
    # The tests may be root's, who may write to all.
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(directory) and access(path, mode))
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.what) == ("error", f"{directory} cannot be written to")


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize(
    ("mode", "severity"), [(0o640, "warning"), (0o604, "warning"), (0o622, "error"), (0o666, "error")]
)
def test_a_file_that_is_open_to_others_is_mended_by_the_command_given(
    private: User, number: int, mode: int, severity: str
) -> None:
    file = files_of(private)[number]
    file.chmod(mode)
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.fix) == (severity, f"chmod 600 {file}")
    assert f"mode {mode:04o}" in finding.what
    subprocess.run(str(finding.fix).split(), check=True)
    assert not bad(permissions.check(private.subject))


@pytest.mark.parametrize("name", DIRECTORIES)
@pytest.mark.parametrize(("mode", "severity"), [(0o755, "warning"), (0o777, "error")])
def test_a_directory_that_is_open_to_others_is_mended_by_the_command_given(
    private: User, name: str, mode: int, severity: str
) -> None:
    directory = getattr(private, name)
    directory.chmod(mode)
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.fix) == (severity, f"chmod 700 {directory}")


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_directory_that_is_a_link_is_an_error(user: User, name: str) -> None:
    directory: Path = getattr(user, name)
    directory.parent.mkdir(parents=True, exist_ok=True)
    directory.symlink_to(user.project)
    [finding] = bad(permissions.check(user.subject))
    assert (finding.severity, finding.fix) == ("error", f"rm {directory}")


def test_a_file_that_is_a_link_is_an_error(private: User) -> None:
    log = private.state / "daemon.log"
    log.unlink()
    log.symlink_to("/dev/null")
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.fix) == ("error", f"rm {log}")


def test_a_file_of_another_owner_is_an_error(private: User) -> None:
    database = private.state / "sessions.sqlite"
    os.chown(database, 4242, 4242)
    [finding] = bad(permissions.check(private.subject))
    assert finding.severity == "error"
    assert "user 4242" in finding.what
    assert finding.fix == f"sudo chown {os.geteuid()} {database}"


def test_a_directory_in_place_of_a_file_is_an_error(private: User) -> None:
    database = private.cache / "notes.sqlite"
    database.unlink()
    database.mkdir()
    [finding] = bad(permissions.check(private.subject))
    assert finding.severity == "error"
    assert "no regular file" in finding.what


def test_a_database_that_was_set_aside_is_a_hint(private: User) -> None:
    aside = private.cache / "notes.sqlite.set-aside"
    aside.touch(mode=0o600)
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.fix) == ("hint", f"rm {aside}")


def test_a_configuration_that_others_can_change_is_an_error_and_one_they_can_read_is_not(
    private: User,
) -> None:
    private.configure("")
    file = Path(private.subject.paths.config_file)
    file.chmod(0o644)
    assert not bad(permissions.check(private.subject))
    file.chmod(0o664)
    [finding] = bad(permissions.check(private.subject))
    assert (finding.severity, finding.fix) == ("error", f"chmod go-w {file}")
