"""Descriptors that a service manager passes on: the right one is served, any other refused by what it is."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

import pytest

from memrecalld.client import Client
from memrecalld.errors import StartError
from memrecalld.server.activation import passed_socket
from memrecalld.server.listener import Listener
from tests.support.daemon import STOP_S, DaemonProcess
from tests.support.polling import poll
from tests.support.sockets import listens


def told(**changes):
    """The variables as a manager sets them for this process."""
    return {
        "LISTEN_PID": str(os.getpid()),
        "LISTEN_FDS": "1",
        "LISTEN_FDNAMES": "memrecalld.socket",
    } | changes


@pytest.fixture
def listening(folder):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(folder / "sock"))
        sock.listen()
        yield sock


def passed(sock):
    """A duplicate of a socket, as a number that a program has to take care of."""
    return os.dup(sock.fileno())


def refused(environ, number):
    with pytest.raises(StartError) as caught:
        passed_socket(environ, first=number)
    return str(caught.value)


# What is passed --------------------------------------------------------------------------------------------


def test_the_socket_is_taken_and_the_variables_are_gone(listening):
    environ = told() | {"HOME": "/home"}
    number = passed(listening)
    os.set_inheritable(number, True)
    with passed_socket(environ, first=number) as sock:
        assert sock.fileno() == number
        assert sock.getsockname() == listening.getsockname()
        assert not os.get_inheritable(number)
        assert not sock.getblocking()
    assert environ == {"HOME": "/home"}


@pytest.mark.parametrize(
    "changes",
    [{"LISTEN_PID": "1"}, {"LISTEN_PID": ""}, {"LISTEN_PID": "x"}, {"LISTEN_FDS": ""}],
    ids=lambda changes: "=".join(*changes.items()),
)
def test_what_is_meant_for_another_process_is_nothing_to_us(listening, changes):
    environ = told(**changes)
    assert passed_socket(environ, first=listening.fileno()) is None
    assert environ == {}
    assert listening.fileno() >= 0


def test_without_variables_nothing_was_passed():
    assert passed_socket({"HOME": "/home"}) is None


@pytest.mark.parametrize("count", ["0", "2", "17", "-1", "many"])
def test_any_other_number_of_descriptors_than_one_is_refused_by_their_names(listening, count):
    environ = told(LISTEN_FDS=count, LISTEN_FDNAMES="memrecalld.socket:other")
    said = refused(environ, listening.fileno())
    assert f"{count} descriptors" in said and "memrecalld.socket:other" in said and "expected 1" in said
    assert environ == {}


@contextlib.contextmanager
def a_file(folder):
    with (folder / "file").open("w") as file:
        yield file.fileno()


@contextlib.contextmanager
def a_pipe(_folder):
    reading, writing = os.pipe()
    yield reading
    os.close(reading)
    os.close(writing)


@contextlib.contextmanager
def nothing(folder):
    with a_file(folder) as number:
        pass
    yield number


@contextlib.contextmanager
def a_tcp_socket(_folder):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.fileno()


@contextlib.contextmanager
def a_datagram_socket(folder):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(folder / "sock"))
        yield sock.fileno()


@contextlib.contextmanager
def a_socket_that_does_not_listen(folder):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(folder / "sock"))
        yield sock.fileno()


@contextlib.contextmanager
def a_connection(_folder):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours.fileno()


@contextlib.contextmanager
def an_abstract_socket(folder):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(f"\0{folder}")
        sock.listen()
        yield sock.fileno()


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (a_file, "no socket"),
        (a_pipe, "no socket"),
        (nothing, "not open"),
        (a_tcp_socket, "no Unix socket"),
        (a_datagram_socket, "no stream socket"),
        (a_socket_that_does_not_listen, "not listening"),
        (a_connection, "not listening"),
        (an_abstract_socket, "not bound to an absolute path"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_wrong_descriptor_is_refused_by_what_it_is_and_stays_open(folder, kind, problem):
    environ = told()
    with kind(folder) as number:
        said = refused(environ, number)
        assert problem in said and "memrecall service status" in said
        if kind is not nothing:
            os.fstat(number)
    assert environ == {}


# What is served --------------------------------------------------------------------------------------------


def test_a_passed_socket_is_never_removed_and_takes_no_lock(folder, listening):
    listener = Listener.adopt(listening.dup())
    assert listener.activated and listener.owns_path()
    listener.close()
    assert [each.name for each in folder.iterdir()] == ["sock"]


def test_a_passed_socket_whose_path_is_gone_or_anothers_is_refused(folder, listening):
    path = folder / "sock"
    path.unlink()
    for _ in range(2):
        with pytest.raises(StartError, match=r"not at .* any more.*restart memrecalld\.socket"):
            Listener.adopt(listening)
        path.write_text("mine", encoding="ascii")
    assert path.read_text(encoding="ascii") == "mine"


def test_a_passed_socket_in_a_folder_that_others_may_enter_is_refused_with_the_chmod(folder, listening):
    folder.chmod(0o755)
    with pytest.raises(StartError, match=f"chmod 700 {folder}"):
        Listener.adopt(listening)


def test_a_passed_socket_that_lost_its_path_is_not_bound_again(folder, listening):
    listener = Listener.adopt(listening.dup())
    (folder / "sock").unlink()
    assert not listener.owns_path()
    with pytest.raises(StartError, match="service manager's"):
        listener.renew()
    assert not (folder / "sock").exists()
    listener.close()


@pytest.fixture
def place(tmp_path):
    daemon = DaemonProcess(tmp_path / "home")
    yield daemon
    daemon.close()


IMPATIENT = (
    "import sys; from memrecalld.server import daemon, main; daemon.IDLE_S = 0.1; sys.exit(main.main())"
)


def test_a_daemon_started_on_demand_serves_who_came_first_and_leaves_when_unused_but_not_the_socket(place):
    """By the real program that passes descriptors."""
    place.socket.parent.mkdir(mode=0o700)
    activate = ["systemd-socket-activate", "--listen", str(place.socket), "--fdname", "memrecalld.socket"]
    passing = [f"--setenv={name}" for name in place.environment]
    process = subprocess.Popen(
        [*activate, *passing, sys.executable, "-c", IMPATIENT], env=place.environment, cwd=place.home
    )
    try:
        poll(lambda: listens(place.socket), "the socket is there")
        with Client.connect(str(place.socket), call_timeout=STOP_S) as client:
            assert client.status()["pid"] == process.pid
            assert client.status()["connections"] == 1
        assert process.wait(STOP_S) == 0
    finally:
        process.kill()
        process.wait()
    assert [each.name for each in place.socket.parent.iterdir()] == [place.socket.name]


def test_a_passed_socket_and_another_one_by_name_are_refused(place, listening):
    """The variables name a process id, so that it takes a process that becomes the daemon."""
    daemon = [sys.executable, "-m", "memrecalld.server.main", "--socket", str(place.socket)]
    become = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec 3<&0; exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", become, "sh", *daemon],
        env=place.environment,
        stdin=listening.fileno(),
        capture_output=True,
        text=True,
        timeout=STOP_S,
        check=False,
    )
    assert done.returncode == 3
    assert "leave --socket out" in done.stderr
    assert not place.socket.exists()
