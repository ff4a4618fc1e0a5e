"""What a name stands for is decided on the opened descriptor, however it changed since it was listed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrecalld.memory.reader import (
    MAX_FILE_BYTES,
    Found,
    Refused,
    followed,
    followed_file,
    is_inside,
    open_folder,
    opened_root,
    read,
    real_path_of,
    signature_of,
)
from tests.memory.trees import in_time

NOW_NS = time.time_ns()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def found(path: Path, folder: int) -> Found:
    return Found(path.name, path.stat(), path.name, folder)


def test_file_is_read_whole(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.md").write_bytes(b"text")

    reading = read(found(tmp_path / "a.md", folder), NOW_NS)

    assert (reading.data, reading.shortened, reading.steady) == (b"text", False, True)
    assert signature_of(reading.status) == signature_of((tmp_path / "a.md").stat())


@pytest.mark.parametrize("extra", [-1, 0, 1, 100 * MAX_FILE_BYTES])
def test_file_beyond_the_bound_is_read_up_to_it(extra: int, tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.md").touch()
    os.truncate(tmp_path / "a.md", MAX_FILE_BYTES + extra)

    reading = read(found(tmp_path / "a.md", folder), NOW_NS)

    assert len(reading.data) == MAX_FILE_BYTES + min(extra, 0)
    assert reading.shortened == (extra > 0)
    assert reading.steady


def test_file_that_says_it_is_empty_is_read_to_its_end() -> None:
    reading = read(Found("status", Path("/proc/self/status").stat(), "/proc/self/status", None), NOW_NS)

    assert reading.data.startswith(b"Name:")
    assert reading.data.endswith(b"\n")


def test_link_in_place_of_a_listed_file_is_not_followed(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    listed = found(tmp_path / "a.md", folder)
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    (tmp_path / "a.md").symlink_to("b.md")

    with pytest.raises(OSError, match="symbolic links"):
        read(listed, NOW_NS)


def test_pipe_in_place_of_a_listed_file_neither_blocks_nor_is_read(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    listed = found(tmp_path / "a.md", folder)
    (tmp_path / "a.md").unlink()
    os.mkfifo(tmp_path / "a.md")

    with pytest.raises(Refused) as refusal:
        in_time(lambda: read(listed, NOW_NS))

    assert refusal.value.reason == "not-a-regular-file"


def test_folder_in_place_of_a_listed_file_is_not_read(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    listed = found(tmp_path / "a.md", folder)
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").mkdir()

    with pytest.raises(Refused):
        read(listed, NOW_NS)


def test_link_in_place_of_a_listed_folder_is_not_followed(tmp_path: Path, folder: int) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    os.close(open_folder("real", folder))
    with pytest.raises(OSError, match="Not a directory"):
        open_folder("link", folder)


def test_reference_is_checked_where_it_lies(tmp_path: Path, folder: int) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in-not"
    for each in (inside, outside):
        each.mkdir()
        (each / "a.md").write_bytes(b"text")
    (tmp_path / "link.md").symlink_to(inside / "a.md")

    with followed(folder, "link.md", [str(inside)]) as (reference, status):
        assert real_path_of(reference) == f"{inside}/a.md"
        file = followed_file("link.md", reference, status)
        (tmp_path / "link.md").unlink()
        (tmp_path / "link.md").symlink_to(outside / "a.md")
        (inside / "a.md").rename(inside / "b.md")
        (inside / "a.md").write_bytes(b"another")
        assert read(file, NOW_NS).data == b"text"

    with pytest.raises(Refused) as refusal, followed(folder, "link.md", [str(inside)]):
        pass
    assert refusal.value.reason == "outside-roots"


def test_file_deleted_under_the_reference_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    held = os.open(tmp_path / "a.md", os.O_RDONLY)
    (tmp_path / "a.md").unlink()
    descriptors = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        with pytest.raises(Refused) as refusal, followed(descriptors, str(held), [str(tmp_path)]):
            pass
    finally:
        os.close(held)
        os.close(descriptors)

    assert refusal.value.reason == "vanished"


def test_root_is_opened_under_its_real_path_only(tmp_path: Path) -> None:
    (tmp_path / "real/root").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")

    with opened_root(str(tmp_path / "real/root")) as descriptor:
        assert real_path_of(descriptor) == f"{tmp_path}/real/root"
    with pytest.raises(OSError, match="Stale"), opened_root(str(tmp_path / "link/root")):
        pass


def test_inside_goes_by_whole_components() -> None:
    roots = ["/home/u/notes", "/srv/x"]

    assert is_inside("/home/u/notes", roots)
    assert is_inside("/home/u/notes/a.md", roots)
    assert is_inside("/srv/x/y/z.md", roots)
    assert not is_inside("/home/u/notes-evil/a.md", roots)
    assert not is_inside("/home/u/note", roots)
    assert not is_inside("/home/u", roots)
    assert not is_inside("/srv", roots)
    assert not is_inside("/srv/x/a.md", [])
