"""What the service manager hears, and that it can hold nobody up."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time

import pytest

from memrecalld.client import Client
from memrecalld.server.notify import ServiceManager
from tests.support.daemon import DaemonProcess


@pytest.fixture(params=["path", "abstract"])
def ear(request, folder):
    """A manager's socket, bound."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(str(folder / "notify") if request.param == "path" else f"\0{folder}/notify")
        ear.setblocking(False)
        yield ear


def address(ear):
    name = ear.getsockname()
    return name if isinstance(name, str) else f"@{name[1:].decode()}"


def heard(ear):
    """Everything said so far."""
    messages = []
    while True:
        try:
            messages.append(ear.recv(4096).decode())
        except BlockingIOError:
            return messages


def test_each_state_is_one_message(ear):
    manager = ServiceManager(address(ear), watchdog_s=1.0)
    before = time.monotonic_ns() // 1000
    manager.ready()
    manager.status("connections: 1")
    manager.alive()
    manager.reloading()
    manager.stopping()
    ready, status, alive, reloading, stopping = heard(ear)
    assert (ready, status, alive, stopping) == (
        "READY=1",
        "STATUS=connections: 1",
        "WATCHDOG=1",
        "STOPPING=1",
    )
    state, when = reloading.split("\n")
    assert state == "RELOADING=1"
    assert before <= int(when.removeprefix("MONOTONIC_USEC=")) <= time.monotonic_ns() // 1000


def test_without_a_watchdog_nobody_asks_whether_it_is_alive(ear):
    ServiceManager(address(ear)).alive()
    assert heard(ear) == []


@pytest.mark.parametrize("where", [None, "/nowhere/at/all", "@nobody-is-there", "/" + "x" * 300])
def test_a_manager_that_is_not_there_is_no_fault(where):
    manager = ServiceManager(where, watchdog_s=1.0)
    manager.ready()
    manager.alive()
    manager.stopping()


def test_a_manager_that_does_not_read_holds_nobody_up_for_long(ear):
    manager = ServiceManager(address(ear))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as flood:
        flood.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                flood.sendto(b"x", ear.getsockname())
    started = time.monotonic()
    manager.status("x")
    assert time.monotonic() - started < 5.0


def test_the_variables_are_taken_out():
    environ = {"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": str(os.getpid()), "A": "1"}
    assert ServiceManager.from_environ(environ).watchdog_s == 2.0
    assert environ == {"A": "1"}


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [
        ("500000", "", 0.5),
        ("500000", "1", None),
        ("0", "", None),
        ("", "", None),
        ("soon", "", None),
        ("-1", "", None),
        ("٣", "", None),
    ],
)
def test_the_watchdog_is_ours_or_nobodys(usec, pid, seconds):
    environ = {"WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}
    assert ServiceManager.from_environ(environ).watchdog_s == seconds


@pytest.mark.parametrize("where", ["", "relative", "vsock:2:1234"])
def test_an_address_of_another_kind_is_nobodys(where, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    ServiceManager.from_environ({"NOTIFY_SOCKET": where}).ready()


def test_a_daemon_says_ready_when_it_serves_and_stopping_when_it_ends(tmp_path, folder):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(str(folder / "notify"))
        ear.settimeout(60.0)
        daemon = DaemonProcess(
            tmp_path / "home", environment={"NOTIFY_SOCKET": address(ear), "WATCHDOG_USEC": "200000"}
        )
        said = []

        def until(message):
            while not said or said[-1] != message:
                said.append(ear.recv(4096).decode())

        with contextlib.closing(daemon):
            daemon.start()
            with Client.connect(str(daemon.socket)) as client:
                until("READY=1")
                until("STATUS=connections: 1, sessions: 0, notes: 0")
                until("WATCHDOG=1")
                assert said.count("READY=1") == 1 and said[0] == "READY=1"
                os.kill(daemon.pid, signal.SIGHUP)
                until("READY=1")
                assert [each.partition("\n")[0] for each in said if "RELOADING" in each] == ["RELOADING=1"]
                assert client.status()["counters"]["config.reloaded"] == 1
            daemon.stop()
            until("STOPPING=1")
