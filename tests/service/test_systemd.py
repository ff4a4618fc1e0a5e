"""The units in a real ``systemd --user``: started on demand, watched, restarted, reloaded, stopped."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.client import Client, ClientError
from memrecalld.service.units import SERVICE, SOCKET, quoted
from tests.service.systemd import CALL_S, ORDINARY_USER, UserSystemd
from tests.support.polling import poll

# One manager for all, and one test at a time on it.
EXPOSURE = 53
"""In tenths: what can be had without an option that needs a capability."""


@contextlib.contextmanager
def installed(uid: int) -> Iterator[UserSystemd]:
    """A manager with the units in place and nothing running yet."""
    manager = UserSystemd(uid)
    try:
        manager.memrecall("service", "install")
        # No journal runs here.
        output = f"StandardOutput=append:{manager.log}\nStandardError=append:{manager.log}\n"
        manager.drop_in(SERVICE, "log", f"[Service]\n{output}")
        yield manager
    finally:
        manager.close()


@pytest.fixture(scope="module")
def manager() -> Iterator[UserSystemd]:
    with installed(0) as manager:
        yield manager


@pytest.fixture
def systemd(manager: UserSystemd) -> UserSystemd:
    """Root's manager, which listens, whatever the test before did; the service may run."""
    if manager.systemctl("is-active", SOCKET, check=False) != "active":
        manager.systemctl("reset-failed", SOCKET, SERVICE)
        manager.systemctl("start", SOCKET)
    return manager


@pytest.fixture
def pid(systemd: UserSystemd) -> int:
    """Process id of the running service, as its namespace has it."""
    return served(systemd)


def served(systemd):
    """Connect, which starts the service if it does not run, and return the process id that answers."""
    with Client.connect(str(systemd.socket), call_timeout=CALL_S) as client:
        return client.status()["pid"]


def state(systemd, unit=SERVICE):
    return systemd.show(unit, "ActiveState")


# Started ---------------------------------------------------------------------------------------------------


def starts_on_demand(manager):
    assert (state(manager, SOCKET), state(manager)) == ("active", "inactive")
    modes = [path.stat().st_mode & 0o777 for path in (manager.socket.parent, manager.socket)]
    assert modes == [0o700, 0o600]
    status = manager.status()
    assert state(manager) == "active"
    assert manager.show(SERVICE, "MainPID") == str(status["pid"])
    assert re.fullmatch(r"connections: \d+, sessions: 0, notes: 0", manager.show(SERVICE, "StatusText"))
    assert manager.memrecall("service", "status").returncode == 0
    for file in (".local/state/memrecalld/sessions.sqlite", ".cache/memrecalld/notes.sqlite"):
        assert (manager.home / file).stat().st_mode & 0o077 == 0
    assert manager.log.read_text(encoding="utf-8") == ""


def test_the_first_connection_starts_the_service(systemd):
    systemd.systemctl("stop", SERVICE)
    starts_on_demand(systemd)


def test_it_starts_for_an_ordinary_user_too():
    with installed(ORDINARY_USER) as manager:
        starts_on_demand(manager)
        assert (manager.home / ".cache/memrecalld/notes.sqlite").stat().st_uid == ORDINARY_USER


def test_the_service_can_write_nothing_but_its_cache_and_its_state(systemd, pid):
    mounts = systemd.run("cat", f"/proc/{pid}/mountinfo").stdout
    points = {line.split()[4]: line.split()[5].split(",")[0] for line in mounts.splitlines()}
    writable = [point for point, mode in points.items() if mode == "rw" and not is_kernels(point)]
    home = systemd.home
    assert sorted(writable) == [f"{home}/.cache/memrecalld", f"{home}/.local/state/memrecalld"]


def is_kernels(point):
    return point.startswith(("/proc", "/sys", "/dev"))


# Kept alive ------------------------------------------------------------------------------------------------


def test_a_reload_takes_the_new_configuration_and_keeps_the_process_and_its_connections(systemd, pid):
    file = systemd.home / ".config" / "memrecalld" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    with Client.connect(str(systemd.socket)) as client:
        file.write_text("[memory]\nlayouts = ['native']\n", encoding="utf-8")
        systemd.systemctl("reload", SERVICE)
        poll(lambda: client.status()["counters"].get("config.reloaded") == 1, "the file is read again")
        status = client.status(project_root="/")
    assert (status["pid"], {root["layout"] for root in status["project"]["roots"]}) == (pid, {"native"})
    assert state(systemd) == "active"
    file.unlink()


def test_a_killed_service_serves_again(systemd, pid):
    systemd.systemctl("kill", "--signal=KILL", SERVICE)
    assert served(systemd) != pid
    assert state(systemd) == "active"


def test_a_service_whose_loop_is_blocked_is_restarted(systemd):
    systemd.drop_in(SERVICE, "watchdog", "[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\nRestartSec=0\n")
    systemd.systemctl("stop", SERVICE)
    pid = served(systemd)
    systemd.systemctl("kill", "--signal=STOP", SERVICE)
    poll(lambda: systemd.show(SERVICE, "NRestarts") == "1", "the watchdog acts")
    assert served(systemd) != pid
    (systemd.units / f"{SERVICE}.d" / "watchdog.conf").unlink()
    systemd.systemctl("daemon-reload")


def test_a_broken_configuration_fails_the_start_and_the_remedy_that_is_named_brings_it_back(systemd):
    systemd.drop_in(SERVICE, "limit", "[Unit]\nStartLimitBurst=2\n")
    systemd.systemctl("stop", SERVICE)
    systemd.systemctl("reset-failed", SERVICE)
    file = systemd.home / ".config" / "memrecalld" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("[memory]\nlayout = []\n", encoding="utf-8")
    with pytest.raises(ClientError):
        served(systemd)
    poll(lambda: state(systemd, SOCKET) == "failed", "systemd gives up")
    assert "memory.layouts" in systemd.log.read_text(encoding="utf-8")
    told = systemd.memrecall("service", "status", check=False)
    assert told.returncode == 1
    remedies = re.findall(r"systemctl --user (reset-failed|start) ([\w.]+)", told.stdout)
    assert remedies == [("reset-failed", SERVICE), ("start", SOCKET)]
    file.unlink()
    (systemd.units / f"{SERVICE}.d" / "limit.conf").unlink()
    systemd.systemctl("daemon-reload")
    for remedy in remedies:
        systemd.systemctl(*remedy)
    assert served(systemd)


# Stopped ---------------------------------------------------------------------------------------------------


def test_a_stopped_service_leaves_the_socket_and_one_stopped_with_the_socket_does_not(systemd, pid):
    systemd.systemctl("stop", SERVICE)
    assert (state(systemd), systemd.show(SERVICE, "Result")) == ("inactive", "success")
    assert served(systemd) != pid
    systemd.systemctl("stop", SOCKET)
    assert not systemd.socket.exists()
    poll(lambda: state(systemd) == "inactive", "the service stops")
    assert systemd.show(SERVICE, "Result") == "success"
    # Where systemd is in charge, a command starts no daemon beside it.
    refused = systemd.memrecall("search", "deploy", check=False)
    assert refused.returncode == 3
    assert f"systemctl --user start {SOCKET}" in refused.stderr


def test_a_service_whose_socket_was_removed_by_hand_says_so_and_stops(systemd, pid):
    systemd.socket.unlink()
    poll(lambda: state(systemd) == "inactive", "the service stops")
    assert "<4>" not in systemd.log.read_text(encoding="utf-8"), "only the journal reads levels"
    assert "nobody can connect any more" in systemd.log.read_text(encoding="utf-8")
    told = systemd.memrecall("service", "status", check=False)
    assert told.returncode == 1
    assert f"systemctl --user restart {SOCKET}" in told.stdout
    systemd.systemctl("restart", SOCKET)
    assert systemd.socket.is_socket()


# The unit files --------------------------------------------------------------------------------------------


def test_the_units_are_verified_without_a_word_and_expose_little(systemd):
    files = [str(systemd.units / name) for name in (SOCKET, SERVICE)]
    done = systemd.run("systemd-analyze", "verify", "--user", "--recursive-errors=yes", "--man=no", *files)
    assert done.stdout + done.stderr == ""
    judged = ["systemd-analyze", "security", "--user", "--offline=true"]
    systemd.run(*judged, f"--threshold={EXPOSURE}", files[1])
    assert systemd.run(*judged, "--threshold=10", files[1], check=False).returncode != 0


@pytest.mark.parametrize("name", ["a b", "a$HOME", "a$$b", "a%t", "ä"])
def test_a_program_in_a_folder_with_an_odd_name_is_found(tmp_path: Path, name):
    program = tmp_path / name / "memrecalld"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    unit = tmp_path / "odd.service"
    unit.write_text(f"[Service]\nExecStart={quoted(str(program))}\n", encoding="utf-8")

    def verified():
        return subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
            env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )

    done = verified()
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    program.unlink()
    assert "not executable" in verified().stderr


# memrecall service -----------------------------------------------------------------------------------------


def test_installing_is_idempotent_and_uninstalling_leaves_nothing_but_drop_ins(systemd, pid):
    assert "Wrote" not in systemd.memrecall("service", "install").stdout
    assert served(systemd) == pid
    # Of another installation: its units are replaced, and the service is the new one's from then on.
    elsewhere = {"XDG_DATA_HOME": str(systemd.home / "other")}
    told = systemd.memrecall("service", "status", check=False, environment=elsewhere)
    assert told.returncode == 1 and "memrecall service install" in told.stdout
    systemd.memrecall("service", "install", environment=elsewhere)
    assert served(systemd) != pid
    roots = [root["path"] for root in systemd.status()["project"]["roots"] if root["layout"] == "native"]
    assert all(path.startswith(f"{systemd.home}/other/") for path in roots)

    removed = systemd.memrecall("service", "uninstall")
    assert removed.stdout.count("Removed") == 2 and f"{SERVICE}.d" in removed.stdout
    assert not systemd.socket.exists()
    assert [each.name for each in systemd.units.rglob("*") if not each.is_dir()] == ["log.conf"]
    assert "Nothing is installed" in systemd.memrecall("service", "uninstall").stdout
    told = systemd.memrecall("service", "status", check=False)
    assert told.returncode == 1 and "memrecall service install" in told.stdout
    systemd.memrecall("service", "install")


def test_a_unit_that_was_changed_by_hand_is_neither_overwritten_nor_removed(systemd):
    unit = systemd.units / SERVICE
    ours = unit.read_text(encoding="utf-8")
    unit.write_text(f"{ours}\n[Service]\nNice=5\n", encoding="utf-8")
    for action in ("install", "uninstall"):
        refused = systemd.memrecall("service", action, check=False)
        assert refused.returncode == 1
        assert "systemctl --user edit" in refused.stderr
        assert "Nice=5" in unit.read_text(encoding="utf-8")
    unit.write_text(ours, encoding="utf-8")
    systemd.memrecall("service", "install")


def test_a_socket_that_clients_do_not_look_for_is_named(systemd):
    environment = {"MEMRECALLD_SOCKET": str(systemd.base / "elsewhere")}
    told = systemd.memrecall("service", "status", check=False, environment=environment)
    assert told.returncode == 1
    assert "unset MEMRECALLD_SOCKET" in told.stdout
