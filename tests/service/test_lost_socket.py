"""A socket path that was a daemon's and is no longer: bound again, or left to whoever has it now."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from memrecalld.client import Client
from memrecalld.errors import AlreadyServed, StartError
from memrecalld.server.listener import Listener
from tests.support.polling import poll
from tests.support.sockets import connects, serve, serve_in_place_of


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "memrecalld" / "sock"


@pytest.fixture
def listener(path):
    listener = Listener.bind(path)
    yield listener
    listener.close()


# The listener ----------------------------------------------------------------------------------------------


def test_a_path_is_ours_until_it_is_removed_or_replaced(path, listener):
    assert listener.owns_path() and not listener.activated
    path.unlink()
    assert not listener.owns_path()
    with serve(path):
        assert not listener.owns_path()


def test_a_removed_socket_is_bound_again_with_the_same_lock_and_as_private(path, listener):
    lock = path.with_name("sock.lock").stat()
    path.unlink()
    before = os.umask(0)
    try:
        listener.renew()
    finally:
        os.umask(before)
    assert listener.owns_path() and connects(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.with_name("sock.lock").stat().st_ino == lock.st_ino
    with pytest.raises(AlreadyServed):
        Listener.bind(path)


def test_a_removed_folder_is_made_again_with_a_new_lock(path, listener):
    shutil.rmtree(path.parent)
    listener.renew()
    assert listener.owns_path() and connects(path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(AlreadyServed):
        Listener.bind(path)


def test_a_dead_socket_in_its_place_is_replaced(path, listener):
    path.unlink()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    listener.renew()
    assert connects(path)


def test_a_dead_socket_of_another_user_is_left_alone(path, listener):
    assert os.geteuid() == 0, "this needs root, as a container has it"
    path.unlink()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    os.chown(path, 4321, 4321)
    with pytest.raises(StartError, match="belongs to user 4321"):
        listener.renew()
    assert path.is_socket()


def test_a_live_socket_in_its_place_is_left_alone(path, listener):
    path.unlink()
    with serve(path):
        with pytest.raises(AlreadyServed):
            listener.renew()
        assert connects(path)
    assert not listener.owns_path()


def test_a_file_in_its_place_is_left_alone(path, listener):
    path.unlink()
    path.write_text("mine", encoding="ascii")
    with pytest.raises(StartError, match="no socket"):
        listener.renew()
    assert path.read_text(encoding="ascii") == "mine"


def test_another_daemon_that_took_a_new_lock_is_left_alone(path, listener):
    shutil.rmtree(path.parent)
    other = Listener.bind(path)
    with pytest.raises(AlreadyServed):
        listener.renew()
    assert other.owns_path() and connects(path)
    other.close()


def test_a_folder_that_was_opened_to_others_is_refused(path, listener):
    path.unlink()
    path.parent.chmod(0o777)
    with pytest.raises(StartError, match="chmod 700"):
        listener.renew()
    path.parent.chmod(0o700)


def test_a_renewed_listener_removes_its_socket_at_the_end(path):
    listener = Listener.bind(path)
    path.unlink()
    listener.renew()
    listener.close()
    assert not path.exists()
    Listener.bind(path).close()


# The daemon ------------------------------------------------------------------------------------------------


def test_a_daemon_binds_its_path_again_and_keeps_its_connections_and_stops_where_it_is_anothers(daemon):
    with Client.connect(str(daemon.socket)) as client:
        daemon.socket.unlink()
        poll(daemon.socket.exists, "the path is bound again")
        assert client.status()["connections"] == 1
        with Client.connect(str(daemon.socket)) as second:
            assert second.status()["pid"] == daemon.pid
    assert daemon.log().count("bound again") == 1

    with serve_in_place_of(daemon.socket):
        assert daemon.wait() == 0
        assert connects(daemon.socket)
    assert daemon.log().count("nobody can connect any more, so this daemon stops") == 1
