"""Which places a socket is bound at, on real directories; what is found there and is not ours stays."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from memrecalld.errors import StartError
from memrecalld.server.listener import Listener
from tests.support.sockets import connects


@pytest.fixture
def path():
    """Where to bind, in a folder that does not exist yet; pytest's own are too deep for a socket."""
    base = Path(tempfile.mkdtemp(prefix="memrecalld-test-", dir="/tmp"))
    yield base / "memrecalld" / "sock"
    shutil.rmtree(base)


def refused(path):
    with pytest.raises(StartError) as caught:
        Listener.bind(path)
    return str(caught.value)


def test_directory_socket_and_lock_are_private_whatever_the_umask(path):
    before = os.umask(0)
    try:
        listener = Listener.bind(path)
    finally:
        os.umask(before)
    assert connects(path)
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (path.parent, *path.parent.iterdir())}
    assert modes == {"memrecalld": 0o700, "sock": 0o600, "sock.lock": 0o600}
    listener.close()
    assert not path.exists()


def test_a_path_that_fits_just_so_is_bound_and_a_longer_one_is_refused(path):
    longest = path.parent / ("x" * (107 - len(str(path.parent)) - 1))
    Listener.bind(longest).close()
    said = refused(longest.with_name(f"{longest.name}x"))
    assert "longer than 107 bytes" in said and "--socket" in said


def test_the_length_of_a_path_counts_bytes(path):
    assert "107 bytes" in refused(path.parent / ("é" * 50))
    assert not path.parent.exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o750, 0o705, 0o701, 0o710])
def test_a_directory_that_others_may_enter_is_refused_with_the_chmod(path, mode):
    path.parent.mkdir()
    path.parent.chmod(mode)
    assert f"chmod 700 {path.parent}" in refused(path)
    assert list(path.parent.iterdir()) == []
    path.parent.chmod(0o700)
    Listener.bind(path).close()


@pytest.mark.parametrize("target", ["a private folder", "nothing"])
def test_a_directory_that_is_a_link_is_refused(path, target):
    elsewhere = path.parent.with_name("elsewhere")
    if target == "a private folder":
        elsewhere.mkdir(mode=0o700)
    path.parent.symlink_to(elsewhere)
    said = refused(path)
    assert f"{path.parent} is a link" in said and f"rm {path.parent}" in said
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


def test_a_file_in_place_of_the_directory_is_refused_and_kept(path):
    path.parent.write_text("mine", encoding="ascii")
    assert str(path.parent) in refused(path)
    assert path.parent.read_text(encoding="ascii") == "mine"


def test_a_directory_that_cannot_be_made_is_refused(path):
    path.parent.write_text("mine", encoding="ascii")
    said = refused(path.parent / "below" / "sock")
    assert "cannot be used" in said and "--socket" in said


@pytest.mark.parametrize("kind", ["file", "folder", "pipe", "link to a file", "link to nothing"])
def test_what_is_no_socket_is_refused_and_kept(path, kind):
    path.parent.mkdir(mode=0o700)
    target = path.with_name("target")
    target.touch()
    match kind:
        case "file":
            path.write_text("mine", encoding="ascii")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link to a file":
            path.symlink_to(target)
        case _:
            path.symlink_to("nothing")
    before = path.lstat()
    said = refused(path)
    assert f"{path} exists and is no socket" in said and "move it away" in said
    assert path.lstat() == before
    assert target.exists()


def test_a_socket_that_another_program_serves_is_refused_and_kept(path):
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        assert f"another program serves {path}" in refused(path)
        assert connects(path)


def test_a_dead_socket_of_ours_is_taken_over(path):
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    listener = Listener.bind(path)
    assert connects(path)
    listener.close()


def test_a_place_is_served_once_and_free_again_afterwards(path):
    first = Listener.bind(path)
    said = refused(path)
    assert f"another memrecalld serves {path}" in said and "memrecall status" in said
    assert connects(path)
    first.close()
    second = Listener.bind(path)
    assert connects(path)
    second.close()


def test_a_lock_counts_even_where_the_socket_is_gone(path):
    first = Listener.bind(path)
    path.unlink()
    assert not first.owns_path()
    assert "another memrecalld" in refused(path)
    first.close()


def test_a_lock_that_is_a_link_is_refused(path):
    path.parent.mkdir(mode=0o700)
    victim = path.with_name("victim")
    path.with_name("sock.lock").symlink_to(victim)
    assert "sock.lock cannot be opened" in refused(path)
    assert not victim.exists()


def test_a_socket_that_took_the_place_is_not_removed_at_the_end(path):
    listener = Listener.bind(path)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        assert not listener.owns_path()
        listener.close()
        assert path.is_socket()
