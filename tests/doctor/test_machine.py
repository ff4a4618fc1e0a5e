"""The configuration, the machine, the agents' hooks, and the socket without a daemon behind it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.cli import main
from memrecalld.doctor import configuration, daemon, examination, hooks, system
from memrecalld.doctor.finding import Finding, worst
from memrecalld.doctor.subject import Subject
from memrecalld.memory.layouts import native_key
from memrecalld.programs import shown
from tests.doctor.conftest import User, bad
from tests.support.daemon import REPOSITORY

# Configuration ----------------------------------------------------------------------------------------------


def test_no_file_and_a_right_one_are_in_order(user: User) -> None:
    assert not bad(configuration.check(user.subject))
    user.configure("[memory]\nwatch = false\n")
    assert not bad(configuration.check(user.subject))


def test_a_file_that_cannot_be_used_is_an_error_that_names_the_place(user: User) -> None:
    user.configure('[memory]\nlayouts = "qwen"\n')
    [finding] = bad(configuration.check(user.subject))
    assert finding.severity == "error"
    assert "memory.layouts" in finding.what
    # The other checks go on with the defaults.
    assert user.subject.config.memory.layouts == ("native", "qwen", "claude")


def test_a_configured_folder_that_does_not_exist_is_a_hint(user: User) -> None:
    user.configure('[memory]\nextra_user_roots = ["~/nowhere"]\n')
    [finding] = bad(configuration.check(user.subject))
    assert finding.severity == "hint"
    assert f"{user.home}/nowhere" in finding.what


# The machine ------------------------------------------------------------------------------------------------


def test_the_machine_of_the_tests_is_in_order_and_versions_are_told(user: User) -> None:
    findings = list(system.check(user.subject))
    assert not [finding for finding in bad(findings) if "inotify" not in str(finding.fix)]
    assert "msgspec" in findings[0].what
    assert "aiohttp" not in findings[0].what
    user.configure('[selector]\nkind = "openai"\n')
    assert "aiohttp" in next(iter(system.check(user.subject))).what


def test_more_folders_than_can_be_watched_are_a_warning(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = user.home / ".local/share/memrecalld/projects" / native_key(str(user.project))
    for number in range(5):
        (folder / str(number)).mkdir(parents=True)
    limits = tmp_path / "limits"
    limits.mkdir()
    (limits / "max_user_watches").write_text("11\n", encoding="ascii")
    monkeypatch.setattr(system, "_LIMITS", limits)
    [finding] = [each for each in bad(system.check(user.subject)) if "max_user_watches" in str(each.fix)]
    assert finding.what.startswith("6 folders")
    (limits / "max_user_watches").write_text("12\n", encoding="ascii")
    assert not [each for each in bad(system.check(user.subject)) if "max_user_watches" in str(each.fix)]


def test_events_that_are_switched_off_are_in_order(user: User) -> None:
    user.configure("[memory]\nwatch = false\n")
    assert "switched off" in [finding.what for finding in system.check(user.subject)][1]


def test_a_missing_package_is_an_error_with_the_command(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_PACKAGES", ("msgspec", "no-such-package-here"))
    [finding] = [each for each in system.check(user.subject) if each.severity == "error"]
    assert "no-such-package-here" in finding.what
    assert "pip install" in str(finding.fix)


def test_a_clock_that_is_behind_is_a_warning(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000.0)
    assert any("clock" in finding.what for finding in bad(system.check(user.subject)))


# Hooks ------------------------------------------------------------------------------------------------------


def of(host: str, user: User) -> Finding:
    title = {"claude": "Claude Code", "qwen": "Qwen Code"}[host]
    return next(finding for finding in hooks.check(user.subject) if title in finding.what)


@pytest.mark.parametrize("host", ["claude", "qwen"])
def test_hooks_are_found_missing_installed_and_of_another_installation(
    user: User, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in user.environ.items():
        monkeypatch.setenv(name, value)
    assert of(host, user).severity == "ok"  # the agent is not in use
    (user.home / f".{host}").mkdir()
    install = shown(f"memrecall install-hooks --host {host}")
    assert (of(host, user).severity, of(host, user).fix) == ("hint", install)
    assert main(["install-hooks", "--host", host]) == 0
    assert (of(host, user).severity, "by itself" in of(host, user).what) == ("ok", True)
    settings = user.home / f".{host}" / "settings.json"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("/run.py", "/elsewhere/memrecalld/hooks/run.py"), encoding="utf-8")
    assert (of(host, user).severity, of(host, user).fix) == ("warning", install)
    settings.write_text("{", encoding="utf-8")
    assert (of(host, user).severity, str(settings) in of(host, user).what) == ("warning", True)


def test_hooks_of_one_project_are_found_there(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in user.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(user.project)
    (user.home / ".claude").mkdir()
    assert main(["install-hooks", "--host", "claude", "--project"]) == 0
    assert (of("claude", user).severity, "in this project" in of("claude", user).what) == ("ok", True)


def test_every_trouble_that_a_daemon_may_report_has_words_and_a_remedy() -> None:
    protocol = (REPOSITORY / "editor-clients" / "PROTOCOL.md").read_text(encoding="utf-8")
    table = protocol.partition("| reason | what is less good")[2].partition("\n\n")[0]
    first_cells = "".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE))
    documented = set(re.findall(r"`([a-z-]+)`", first_cells))
    assert documented == set(daemon.TROUBLES)


def test_a_hook_that_found_no_daemon_is_a_hint(user: User) -> None:
    user.state.mkdir(parents=True)
    (user.state / "hook-failures").write_bytes(b"f")
    assert any("found no daemon" in finding.what for finding in bad(hooks.check(user.subject)))


# The socket -------------------------------------------------------------------------------------------------


def only(user: User) -> Finding:
    [finding] = daemon.check(user.subject)
    return finding


@pytest.fixture
def place(user: User) -> Iterator[Path]:
    """A socket's path in a private folder; pytest's own are too deep for one."""
    folder = Path(tempfile.mkdtemp(prefix="memrecalld-test-", dir="/tmp"))
    user.environ["MEMRECALLD_SOCKET"] = str(folder / "sock")
    yield folder / "sock"
    shutil.rmtree(folder)


def bound(place: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(place))
    place.chmod(0o600)
    return sock


def test_no_socket_is_an_error_that_says_how_to_start(user: User) -> None:
    user.environ["MEMRECALLD_SOCKET"] = "/tmp/memrecalld-nobody-serves-here/sock"
    assert only(user).severity == "error"
    assert "memrecalld" in str(only(user).fix)


def test_a_path_that_no_socket_can_have_is_an_error(user: User) -> None:
    user.environ["MEMRECALLD_SOCKET"] = f"/tmp/{'x' * 110}/sock"
    assert "longer than 107 bytes" in only(user).what


def test_a_socket_that_nobody_serves_is_an_error(user: User, place: Path) -> None:
    with bound(place):
        assert only(user).severity == "error"
        assert "no memrecalld serves" in only(user).what


def test_a_daemon_that_does_not_answer_is_an_error(
    user: User, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "ANSWER_S", 0.05)
    with bound(place) as silent:
        silent.listen()
        assert "did not answer" in only(user).what
        assert "restart" in str(only(user).fix)


def test_a_socket_that_is_open_to_others_is_an_error_with_the_command(user: User, place: Path) -> None:
    with bound(place):
        place.chmod(0o666)
        assert (only(user).severity, only(user).fix) == ("error", f"chmod 600 {place}")


def test_a_socket_or_a_directory_of_another_user_is_an_error(user: User, place: Path) -> None:
    with bound(place):
        os.chown(place, 4242, 4242)
        assert "not a socket of yours" in only(user).what
        os.chown(place.parent, 4242, 4242)
        assert "not a directory of yours" in only(user).what


def test_what_is_no_socket_is_an_error(user: User, place: Path) -> None:
    place.write_text("mine", encoding="ascii")
    assert "not a socket of yours" in only(user).what
    assert place.read_text(encoding="ascii") == "mine"


def test_a_check_that_fails_itself_is_a_finding_and_the_others_go_on(user: User) -> None:
    def broken(subject: Subject) -> list[Finding]:
        raise ValueError(subject.project)

    def fine(_subject: Subject) -> list[Finding]:
        return [Finding(check="fine", severity="ok", what="fine")]

    broke, went_on = examination.examine(user.subject, [("broken", broken), ("fine", fine)])
    assert (broke.check, broke.severity) == ("broken", "warning")
    assert "ValueError" in broke.what
    assert str(user.project) not in broke.what
    assert went_on.what == "fine"


def test_the_worst_counts() -> None:
    def finding(severity: str) -> Finding:
        return Finding(check="x", severity=severity, what="")  # type: ignore[arg-type]

    assert worst([]) == "ok"
    assert worst(map(finding, ["hint", "ok"])) == "hint"
    assert worst(map(finding, ["warning", "error", "hint"])) == "error"
