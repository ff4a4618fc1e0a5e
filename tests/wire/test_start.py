"""Starting and stopping: a refusal says how to mend its cause, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.daemon import START_S, STOP_S, DaemonProcess
from tests.support.sockets import connects, serve_in_place_of
from tests.support.wire import WireClient

FAILED_START = 3
ALREADY_SERVED = 4


@pytest.fixture
def place(tmp_path):
    """A home for daemons that are started by hand; none is running."""
    daemon = DaemonProcess(tmp_path / "home")
    yield daemon
    daemon.close()


def command(*arguments):
    return [sys.executable, "-m", "memrecalld.server.main", *arguments]


def refused(place, *arguments, status=FAILED_START, **environment):
    """Standard error of a daemon that refuses to start."""
    done = subprocess.run(
        command(*arguments),
        cwd=place.home,
        env=place.environment | environment,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("memrecalld: ")
    return done.stderr


# Refused --------------------------------------------------------------------------------------------


async def test_a_second_daemon_is_told_what_to_do_and_leaves_the_first_one_its_socket(place):
    place.start()
    said = await asyncio.to_thread(refused, place, status=ALREADY_SERVED)
    assert f"another memrecalld serves {place.socket}" in said
    assert "stop it first" in said and "memrecall status" in said
    async with await WireClient.connect(place.socket) as client:
        assert (await client.call("daemon/status"))["pid"] == place.pid


def test_a_directory_that_others_may_enter_is_refused_with_the_chmod(place):
    place.socket.parent.mkdir(parents=True)
    place.socket.parent.chmod(0o777)
    assert f"chmod 700 {place.socket.parent}" in refused(place)
    assert not place.socket.exists()


def test_what_is_no_socket_is_refused_and_kept(place):
    place.socket.parent.mkdir(mode=0o700)
    place.socket.write_text("mine", encoding="ascii")
    said = refused(place)
    assert f"{place.socket} exists and is no socket" in said and "move it away" in said
    assert place.socket.read_text(encoding="ascii") == "mine"


def test_a_broken_configuration_is_refused_with_file_and_key(place):
    place.configure("[memory]\nlayout = ['native']\n")
    said = refused(place)
    assert "~/config/memrecalld/config.toml" in said
    assert "memory.layout" in said and "memory.layouts" in said
    assert not place.socket.exists()


def test_a_key_that_is_not_there_is_refused_and_leaves_no_socket_behind(place):
    place.configure(
        "[selector]\nkind = 'openai'\nbase_url = 'https://example.org/v1'\napi_key_env = 'NOT_SET'\n"
    )
    said = refused(place)
    assert "selector.api_key_env" in said and "not set" in said
    assert not place.socket.exists()


def test_a_configuration_that_is_named_must_exist(place):
    said = refused(place, "--config", str(place.home / "missing.toml"))
    assert "~/missing.toml" in said and "no such file" in said


# Started --------------------------------------------------------------------------------------------


async def test_a_dead_socket_of_ours_is_taken_over(place):
    place.start()
    place.kill()
    assert place.socket.is_socket()
    place.start()
    async with await WireClient.connect(place.socket) as client:
        await client.call("daemon/status")


def test_directory_and_socket_are_private_whatever_the_umask(place):
    before = os.umask(0)
    try:
        place.start()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (place.socket.parent, place.socket)]
    assert modes == [0o700, 0o600]
    for path in place.socket.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_daemon_cleanly_and_removes_the_socket(place, number):
    process = subprocess.Popen(command(), cwd=place.home, env=place.environment, stderr=subprocess.PIPE)
    try:
        wait_for(place.socket)
        # At any moment from here on; the daemon is still starting.
        process.send_signal(number)
        _, said = process.communicate(timeout=STOP_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, said) == (0, b"")
    assert not place.socket.exists()


async def test_the_socket_that_the_environment_names_is_served(place):
    path = place.runtime / "other" / "sock"
    process = subprocess.Popen(
        command(), cwd=place.home, env=place.environment | {"MEMRECALLD_SOCKET": str(path)}
    )
    try:
        wait_for_listener(path)
        async with await WireClient.connect(path) as client:
            assert (await client.call("daemon/status"))["pid"] == process.pid
    finally:
        process.terminate()
        assert process.wait(STOP_S) == 0


async def test_a_daemon_whose_output_is_closed_goes_on_serving(place):
    """As one does that an editor started which then ended."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        command("--log-level", "debug"),
        cwd=place.home,
        env=place.environment,
        stdout=writing,
        stderr=writing,
    )
    os.close(writing)
    try:
        wait_for_listener(place.socket)
        os.close(reading)
        async with await WireClient.connect(place.socket) as client:
            for number in range(20):
                await client.call("recall/start", {"sessionId": f"s{number}", "query": "deploy"})
    finally:
        process.terminate()
        assert process.wait(STOP_S) == 0


async def test_a_socket_that_was_replaced_is_not_removed_at_the_end(place):
    place.start()
    with serve_in_place_of(place.socket):
        place.stop()
        assert connects(place.socket)


async def test_a_missing_or_corrupt_state_is_no_reason_not_to_start(place):
    state = place.home / "state" / "memrecalld"
    state.mkdir(parents=True)
    (state / "sessions.sqlite").write_bytes(b"no database" * 1000)
    place.start()
    async with await WireClient.connect(place.socket) as client:
        await client.call("recall/start", {"sessionId": "s", "query": "deploy"})


def wait_for(path: Path) -> None:
    """Return when there is something at the path."""
    deadline = time.monotonic() + START_S
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_for_listener(path: Path) -> None:
    """Return when a connection is taken; a socket is there a moment before."""
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < deadline
                time.sleep(0.005)
            else:
                return
