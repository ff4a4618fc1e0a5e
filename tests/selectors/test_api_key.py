from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memrecalld.config import SelectorConfig
from memrecalld.errors import ConfigError
from memrecalld.selectors.api_key import ApiKey

FAR = "https://models.example/v1"


def _file(folder: Path, content: bytes, mode: int = 0o600) -> str:
    file = folder / "key-of-mine"
    file.touch(mode=0o600)
    file.write_bytes(content)
    file.chmod(mode)
    return str(file)


async def test_without_a_key_configured_there_is_none() -> None:
    assert await ApiKey(SelectorConfig(base_url=FAR), {"OPENAI_API_KEY": "secret"}).read() is None


async def test_environment_is_read_once() -> None:
    environ = {"KEY": "secret"}
    key = ApiKey(SelectorConfig(base_url=FAR, api_key_env="KEY"), environ)
    environ["KEY"] = "other"
    assert await key.read() == "secret"


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}])
async def test_unset_variable_is_fine_for_a_local_server_only(environ: dict[str, str]) -> None:
    for base_url in ("http://127.0.0.1:1/v1", "http://localhost/v1", "https://[::1]:9/v1"):
        assert await ApiKey(SelectorConfig(base_url=base_url, api_key_env="KEY"), environ).read() is None
    with pytest.raises(ConfigError, match="not set here; set it in the environment of memrecalld"):
        ApiKey(SelectorConfig(base_url=FAR, api_key_env="KEY"), environ)


@pytest.mark.parametrize("content", [b"secret", b"secret\n", b"secret\r\n", b"secret\n\n"])
async def test_final_newlines_of_the_file_are_no_part_of_the_key(tmp_path: Path, content: bytes) -> None:
    config = SelectorConfig(base_url=FAR, api_key_file=_file(tmp_path, content))
    assert await ApiKey(config, {}).read() == "secret"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601, 0o644, 0o777])
def test_file_that_others_may_open_is_refused_with_the_chmod(tmp_path: Path, mode: int) -> None:
    config = SelectorConfig(api_key_file=_file(tmp_path, b"secret\n", mode))
    with pytest.raises(ConfigError, match=rf"mode {mode:04o}\); run chmod 600"):
        ApiKey(config, {})


def test_mode_that_counts_is_that_of_the_file_behind_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(_file(tmp_path, b"secret\n", 0o644))
    with pytest.raises(ConfigError, match="chmod 600"):
        ApiKey(SelectorConfig(api_key_file=str(link)), {})


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"two words", b"a\nb", b"\xc3\xa9", b"\xff", b"a\0b", b"x" * 20_000]
)
def test_what_is_no_key_is_refused_without_being_shown(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(
        ConfigError, match=r"api_key_file names (is empty|does not hold a key alone)"
    ) as caught:
        ApiKey(SelectorConfig(api_key_file=_file(tmp_path, content)), {})
    assert "key-of-mine" not in str(caught.value)
    if text := content.decode("ascii", "ignore").strip():
        assert text not in str(caught.value)


def test_header_cannot_be_forged_through_the_environment() -> None:
    with pytest.raises(ConfigError, match="api_key_env names does not hold a key alone"):
        ApiKey(SelectorConfig(api_key_env="KEY"), {"KEY": "a\r\nHost: elsewhere"})


def test_missing_file_folder_and_pipe_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (tmp_path / "missing", tmp_path, pipe):
        with pytest.raises(ConfigError, match=r"the file that selector\.api_key_file names") as caught:
            ApiKey(SelectorConfig(api_key_file=str(path)), {})
        assert str(tmp_path) not in str(caught.value)


async def test_reading_again_notices_a_file_that_was_opened_to_others(tmp_path: Path) -> None:
    path = _file(tmp_path, b"secret\n")
    key = ApiKey(SelectorConfig(api_key_file=path), {})
    Path(path).chmod(0o600 | stat.S_IRGRP)
    with pytest.raises(ConfigError, match="chmod 600"):
        await key.read()
    Path(path).chmod(0o600)
    assert await key.read() == "secret"
