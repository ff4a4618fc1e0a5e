"""What systemd says of the units, as ``systemctl show`` prints it."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from memrecalld.doctor import unit
from memrecalld.doctor.finding import Finding
from memrecalld.programs import program, shown
from memrecalld.service.units import SERVICE as SERVICE_UNIT
from memrecalld.service.units import SOCKET as SOCKET_UNIT
from memrecalld.service.units import unit_files
from tests.doctor.conftest import User, bad

SOCKET = {"Id": SOCKET_UNIT, "LoadState": "loaded", "UnitFileState": "enabled", "ActiveState": "active"}
SERVICE = {"Id": SERVICE_UNIT, "LoadState": "loaded", "UnitFileState": "static", "ActiveState": "inactive"}
RESULT = {"Result": "success", "NeedDaemonReload": "no"}


def answer(user: User, *units: dict[str, str], status: int = 0) -> list[Finding]:
    """The findings where ``systemctl`` answers so."""
    text = "\n\n".join(
        "\n".join(f"{name}={value}" for name, value in (RESULT | each).items()) for each in units
    )
    folder = user.home / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "systemctl"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n", encoding="ascii")
    program.chmod(0o755)
    user.environ["PATH"] = f"{folder}:{user.environ['PATH']}"
    return list(unit.check(user.subject))


def only(findings: list[Finding]) -> Finding:
    [finding] = findings
    return finding


@pytest.mark.parametrize(("state", "said"), [("inactive", "starts at the first"), ("active", "runs")])
def test_units_that_are_enabled_and_listen_are_in_order(user: User, state: str, said: str) -> None:
    finding = only(answer(user, SOCKET, SERVICE | {"ActiveState": state}))
    assert finding.severity == "ok"
    assert said in finding.what


def test_without_systemd_it_is_a_hint(user: User) -> None:
    user.environ["PATH"] = str(user.home)
    assert only(list(unit.check(user.subject))).severity == "hint"


def test_a_systemd_that_does_not_answer_is_a_hint(user: User) -> None:
    assert only(answer(user, status=1)).severity == "hint"


def test_units_that_are_not_installed_are_a_hint_with_the_command(user: User) -> None:
    absent = {"LoadState": "not-found", "UnitFileState": ""}
    finding = only(answer(user, SOCKET | absent, SERVICE | absent))
    assert (finding.severity, finding.fix) == ("hint", shown("memrecall service install"))


def test_one_unit_without_the_other_is_a_warning(user: User) -> None:
    finding = only(answer(user, SOCKET, SERVICE | {"LoadState": "not-found"}))
    assert (finding.severity, finding.fix) == ("warning", shown("memrecall service install"))
    assert SERVICE_UNIT in finding.what


@pytest.mark.parametrize(
    ("socket", "service", "severity", "fix"),
    [
        ({"UnitFileState": "disabled"}, {}, "warning", "systemctl --user enable memrecalld.socket"),
        ({"ActiveState": "inactive"}, {}, "warning", "systemctl --user start memrecalld.socket"),
        ({"NeedDaemonReload": "yes"}, {}, "warning", "systemctl --user daemon-reload"),
        ({}, {"ActiveState": "failed", "Result": "watchdog"}, "error", "memrecall logs"),
        ({"ActiveState": "failed", "Result": "resources"}, {}, "error", "reset-failed memrecalld.socket"),
    ],
)
def test_what_keeps_the_daemon_from_starting_is_told_with_the_command(
    user: User, socket: dict[str, str], service: dict[str, str], severity: str, fix: str
) -> None:
    finding = only(bad(answer(user, SOCKET | socket, SERVICE | service)))
    assert finding.severity == severity
    assert fix in str(finding.fix)


def test_a_unit_that_is_masked_is_a_warning(user: User) -> None:
    finding = only(answer(user, SOCKET, SERVICE | {"LoadState": "masked"}))
    assert finding.fix == "systemctl --user unmask memrecalld.service"


@pytest.fixture
def installed(user: User) -> Path:
    """The folder of units, with those that this installation writes."""
    folder = user.home / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    for name, text in unit_files(user.subject.paths, user.environ, program("memrecalld")).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_units_as_they_were_installed_are_in_order(user: User, installed: Path) -> None:
    assert not bad(answer(user, SOCKET, SERVICE))


def test_a_unit_that_was_changed_by_hand_is_a_warning(user: User, installed: Path) -> None:
    file = installed / SERVICE_UNIT
    file.write_text(file.read_text(encoding="utf-8") + "\nNice=5\n", encoding="utf-8")
    finding = only(bad(answer(user, SOCKET, SERVICE)))
    assert finding.severity == "warning"
    assert finding.what == f"{file} was changed by hand"
    assert "memrecall service install" in str(finding.fix)


def test_a_unit_of_another_installation_is_a_warning(user: User, installed: Path) -> None:
    user.environ["QWEN_HOME"] = str(user.home / "elsewhere")
    finding = only(bad(answer(user, SOCKET, SERVICE)))
    assert (finding.severity, finding.fix) == ("warning", shown("memrecall service install"))
    assert SERVICE_UNIT in finding.what


def test_a_socket_elsewhere_than_clients_look_is_a_warning(user: User) -> None:
    finding = only(bad(answer(user, SOCKET | {"Listen": "/tmp/elsewhere (Stream)"}, SERVICE)))
    assert user.subject.socket in finding.what
    assert "/tmp/elsewhere" in finding.what


def test_a_socket_that_was_removed_is_a_warning(user: User) -> None:
    with tempfile.TemporaryDirectory(prefix="memrecalld-test-", dir="/tmp") as folder:
        place = Path(folder, "sock")
        user.environ["MEMRECALLD_SOCKET"] = str(place)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(place))
            assert not bad(answer(user, SOCKET | {"Listen": f"{place} (Stream)"}, SERVICE))
        place.unlink()
        finding = only(bad(answer(user, SOCKET | {"Listen": f"{place} (Stream)"}, SERVICE)))
        assert (finding.severity, "was removed" in finding.what) == ("warning", True)
