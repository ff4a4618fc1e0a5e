from __future__ import annotations

import contextlib
import datetime
import json
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memrecalld.config import Config, MemoryConfig, Paths, SelectorConfig, is_loopback
from memrecalld.config_file import load_config
from memrecalld.errors import ConfigError

HOME = "/home/u"
KEYS = [
    f"{table}.{key}"
    for table, kind in (("memory", MemoryConfig), ("selector", SelectorConfig))
    for key in kind.__struct_fields__
]

Load = Callable[[str | bytes], Config]


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    file = tmp_path_factory.mktemp("config") / "config.toml"

    def write_and_load(content: str | bytes) -> Config:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_config(str(file), home=HOME)

    return write_and_load


def refusal(load: Load, content: str | bytes) -> str:
    """What is said about the content, after the name of the file."""
    with pytest.raises(ConfigError) as caught:
        load(content)
    name, _, text = str(caught.value).partition("/config.toml: ")
    assert text, name
    return text


# The file ---------------------------------------------------------------------------------------------------


def test_every_key_can_be_set(load: Load) -> None:
    config = load("""
        [memory]
        layouts = ["qwen", "native"]
        extra_project_roots = ["/srv/notes/", "~/shared//notes", "~"]
        extra_user_roots = ["/a"]
        trusted_projects = ["~/work/*", "/srv/**"]
        watch = false

        [selector]
        kind = "openai"
        base_url = "https://models.example:8443/v1/"
        model = "big"
        api_key_file = "~/.secrets/key"
    """)
    assert config == Config(
        memory=MemoryConfig(
            layouts=("qwen", "native"),
            extra_project_roots=("/srv/notes", "/home/u/shared/notes", "/home/u"),
            extra_user_roots=("/a",),
            trusted_projects=("/home/u/work/*", "/srv/**"),
            watch=False,
        ),
        selector=SelectorConfig(
            kind="openai",
            base_url="https://models.example:8443/v1",
            model="big",
            api_key_file="/home/u/.secrets/key",
        ),
    )


@pytest.mark.parametrize(
    "content", ["", "# nothing\n", "[memory]\n[selector]\n", b"\xef\xbb\xbf[memory]\r\n"]
)
def test_everything_is_optional(load: Load, content: str | bytes) -> None:
    config = load(content)
    assert config == Config()
    assert config.memory.layouts == ("native", "qwen", "claude")
    assert config.memory.watch
    assert config.selector.kind == "none"
    assert config.selector.api_key_env is None


def test_absent_file_means_defaults_unless_it_was_asked_for(tmp_path: Path) -> None:
    file = str(tmp_path / "config.toml")
    assert load_config(file, home=HOME) == Config()
    with pytest.raises(ConfigError, match=r"config\.toml: there is no such file"):
        load_config(file, home=HOME, required=True)


def test_link_to_nowhere_is_no_absent_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.symlink_to("moved.toml")
    with pytest.raises(ConfigError, match="there is no such file"):
        load_config(str(file), home=HOME)


def test_file_under_home_is_named_with_a_tilde(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("x = 1")
    with pytest.raises(ConfigError, match=r"\A~/config\.toml: x: "):
        load_config(str(file), home=str(tmp_path))


@contextlib.contextmanager
def _as_ordinary_user() -> Iterator[None]:
    """Root may read everything, so step down for a moment."""
    user = os.geteuid()
    os.seteuid(65_534 if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)


def test_unreadable_file_is_said_with_the_remedy(tmp_path: Path) -> None:
    locked = tmp_path / "locked.toml"
    locked.touch(mode=0o000)
    for file in (locked, tmp_path, locked / "below.toml"):
        with (
            _as_ordinary_user(),
            pytest.raises(ConfigError, match=r"cannot be read \(.+\).*chmod u\+r"),
        ):
            load_config(str(file), home=HOME)
    assert stat.S_IMODE(locked.stat().st_mode) == 0


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[memory]\nwatch = yes\n", "line 2, column 9"),
        ("[memory]\nwatch true\n", "line 2, column 7"),
        ("[memory]\nlayouts = [\n", "line 2, column 12"),
        ("a = 1\na = 2\n", "line 2, column 6"),
        ("[memory]\n[memory]\n", "line 2, column 8"),
        ('[memory]\n# ü\nx = "\\q"\n', "line 3, column 8"),
        (b"[memory]\n# \xc3\xbc \xe9\n", "line 2, column 5"),
        (b"\xef\xbb\xbf\xff", "line 1, column 1"),
    ],
)
def test_syntax_error_is_said_with_line_and_column(load: Load, content: str | bytes, place: str) -> None:
    assert refusal(load, content).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a = " + "[" * 5_000, "nested too deep"),
        ("a = " + "9" * 5_000, "more digits"),
        ("#" * 1_048_577, "larger than 1,048,576 bytes"),
    ],
)
def test_hostile_file_is_refused_like_any_other(load: Load, content: str, text: str) -> None:
    assert text in refusal(load, content)


# Keys and types ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("memory = 3", "memory: found an integer, expected a table"),
        ("[[memory]]", "memory: found an array, expected a table"),
        (
            "[memory]\nlayouts = 1.5",
            "memory.layouts: found a float, expected an array, "
            'each element one of "claude", "native", "qwen"',
        ),
        (
            '[memory]\nlayouts = ["qwen", 7]',
            'memory.layouts[1]: found an integer, expected one of "claude", "native", "qwen"',
        ),
        (
            '[memory]\nlayouts = ["qwen", "vim"]',
            'memory.layouts[1]: found a string, expected one of "claude", "native", "qwen"',
        ),
        (
            '[memory]\nextra_user_roots = "/a"',
            "memory.extra_user_roots: found a string, expected an array, each element a string",
        ),
        (
            "[memory]\ntrusted_projects = [2026-01-02]",
            "memory.trusted_projects[0]: found a date, expected a string",
        ),
        ('[memory]\nwatch = "no"', "memory.watch: found a string, expected true or false"),
        (
            '[selector]\nkind = "ollama"',
            'selector.kind: found a string, expected one of "client", "none", "openai"',
        ),
        ("[selector]\nbase_url = 07:32:00", "selector.base_url: found a time, expected a string"),
        ('[selector]\nmodel = ""', "selector.model: found a string, expected a string that is not empty"),
        (
            "[selector]\napi_key_file = 1979-05-27T07:32:00Z",
            "selector.api_key_file: found a date-time, expected a string",
        ),
        (
            "[selector]\napi_key_env = true",
            "selector.api_key_env: found a boolean, expected the name of an environment variable",
        ),
    ],
)
def test_wrong_type_is_said_with_key_found_and_expected(load: Load, content: str, text: str) -> None:
    assert refusal(load, content) == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[memroy]", "memroy: there is no such key; did you mean memory?"),
        ("[selektor]", "selektor: there is no such key; did you mean selector?"),
        ("[logging]", "logging: there is no such key; the keys here are memory, selector"),
        ("layouts = []", "layouts: there is no such key; did you mean memory.layouts?"),
        ("[selector]\nwatch = 1", "selector.watch: there is no such key; did you mean memory.watch?"),
        ("[memory]\nlayout = 1", "memory.layout: there is no such key; did you mean memory.layouts?"),
        (
            '[selector]\napi_key = "hunter2"',
            "selector.api_key: there is no such key; "
            "did you mean selector.api_key_env or selector.api_key_file?",
        ),
        (
            '[selector]\n"a\\nb" = 1',
            "selector.'a\\nb': there is no such key; "
            "the keys here are kind, base_url, model, api_key_env, api_key_file",
        ),
    ],
)
def test_unknown_key_is_said_with_the_nearest_known(load: Load, content: str, text: str) -> None:
    assert refusal(load, content) == text


def test_unknown_key_of_any_length_is_shown_on_one_short_line(load: Load) -> None:
    text = refusal(load, f"{'k' * 100_000} = 1")
    assert text.startswith("'kkk")
    assert len(text) < 200


def test_name_given_twice_is_taken_once(load: Load) -> None:
    memory = load('[memory]\nlayouts = ["qwen", "qwen"]\nextra_user_roots = ["/a", "/a/"]').memory
    assert memory.layouts == ("qwen",)
    assert memory.extra_user_roots == ("/a",)


@pytest.mark.parametrize("key", ["extra_project_roots", "extra_user_roots", "trusted_projects"])
@pytest.mark.parametrize("path", ["notes", "./notes", "", "~bob/notes", "*", "$HOME/notes"])
def test_relative_path_is_refused_by_its_key(load: Load, key: str, path: str) -> None:
    text = refusal(load, f'[memory]\n{key} = ["/fine", "{path}"]')
    assert text == f"memory.{key}[1]: found a relative path, expected one that begins with / or ~/"


def test_relative_key_file_is_refused(load: Load) -> None:
    assert "selector.api_key_file: found a relative path" in refusal(load, '[selector]\napi_key_file = "key"')


def test_path_with_nul_is_refused(load: Load) -> None:
    text = refusal(load, '[memory]\nextra_user_roots = ["/a\\u0000b"]')
    assert text.startswith("memory.extra_user_roots[0]: holds a NUL")


def test_home_with_brackets_is_no_pattern_in_trusted_projects(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[memory]\nextra_user_roots = ["~/n"]\ntrusted_projects = ["~/w/[ab]*"]')
    memory = load_config(str(file), home="/home/[u]").memory
    assert memory.extra_user_roots == ("/home/[u]/n",)
    assert memory.trusted_projects == ("/home/[[]u]/w/[ab]*",)


# The address and the key ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example/v1",
        "ftp://models.example",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "https://user:hunter2@models.example/v1",
        "https://models.example/v1?key=hunter2",
        "https://models.example/v1#x",
        "https://models.example:99999/v1",
        "https://models.example:0/v1",
        "https://models.example:port/v1",
        "https://[::1/v1",
        "https://models example/v1",
        "https://models.example/v1\\n",
        "https://münchen.example/v1",
    ],
)
def test_address_that_is_none_is_refused_without_being_shown(load: Load, url: str) -> None:
    text = refusal(load, f'[selector]\nbase_url = "{url}"')
    assert text.startswith("selector.base_url: found another string, expected an address such as")
    assert "hunter2" not in text


@pytest.mark.parametrize("key", ['api_key_env = "KEY"', 'api_key_file = "/k"'])
def test_key_is_not_sent_unencrypted_to_another_machine(load: Load, key: str) -> None:
    for host in (
        "models.example",
        "192.168.1.5:11434",
        "127.0.0.1.example",
        "[2001:db8::1]",
        "localhost.example",
    ):
        assert "use https" in refusal(load, f'[selector]\n{key}\nbase_url = "http://{host}/v1"')
        load(f'[selector]\n{key}\nbase_url = "https://{host}/v1"')
        load(f'[selector]\nbase_url = "http://{host}/v1"')
    for host in ("127.0.0.1:1", "127.9.9.9", "localhost:11434", "[::1]:80", "LOCALHOST"):
        load(f'[selector]\n{key}\nbase_url = "HTTP://{host}/v1"')


def test_loopback_is_this_machine_by_address_or_name() -> None:
    assert is_loopback("http://127.0.0.1:11434/v1")
    assert is_loopback("http://[::1]/v1")
    assert is_loopback("https://LocalHost/v1")
    assert not is_loopback("http://0.0.0.0/v1")
    assert not is_loopback("http://localhost.example/v1")


def test_key_from_two_places_is_refused(load: Load) -> None:
    text = refusal(load, '[selector]\napi_key_env = "KEY"\napi_key_file = "/k"')
    assert text.startswith("selector.api_key_file: ")


@pytest.mark.parametrize("pasted", ["sk-hunter2", "hunter2 ", "2hunter2", "", "hunter2\\n", "hunter2=x"])
def test_key_pasted_where_its_variable_belongs_is_refused_and_not_shown(load: Load, pasted: str) -> None:
    text = refusal(load, f'[selector]\napi_key_env = "{pasted}"')
    assert text == "selector.api_key_env: found a string, expected the name of an environment variable"


# Any value --------------------------------------------------------------------------------------------------

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    _TEXT,
    st.sampled_from(
        ["native", "qwen", "openai", "~", "~/x", "/x", "http://h/v1", "https://[::1]:1/", "KEY", "\0"]
    ),
    st.builds(lambda a, b: a + b, st.sampled_from(["http://", "https://", "/", "~/"]), _TEXT),
    st.datetimes(timezones=st.sampled_from([None, datetime.UTC])),
    st.dates(),
    st.times(),
)
_KEY = st.one_of(_TEXT, st.sampled_from([key.partition(".")[2] for key in KEYS]))
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=6,
)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{{', '.join(f'{_toml(key)} = {_toml(inner)}' for key, inner in value.items())}}}"
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return repr(value)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from([*KEYS, "memory", "selector"]), _VALUES)
@example("selector.base_url", "http://a" + "b" * 70 + "/v1")
@example("selector.base_url", "https://[fe80::1%lo]/")
@example("memory", {"x - at `$.memory": 1})
@example("selector.api_key_env", "KEY\n")
def test_any_value_at_any_key_decodes_or_is_refused_by_its_key(load: Load, key: str, value: Any) -> None:
    try:
        config = load(f"{key} = {_toml(value)}")
    except ConfigError as error:
        assert f"/config.toml: {key}" in str(error)
        assert str(error).isprintable()
    else:
        assert msgspec.convert(msgspec.to_builtins(config), Config) == config


# Places -----------------------------------------------------------------------------------------------------


def test_paths_are_below_the_xdg_folders() -> None:
    environ = {
        "HOME": "/home/u/",
        "XDG_CONFIG_HOME": "/c",
        "XDG_CACHE_HOME": "/k/",
        "XDG_DATA_HOME": "/d",
        "XDG_STATE_HOME": "/s",
        "XDG_RUNTIME_DIR": "/r",
    }
    assert Paths.from_environ(environ) == Paths(
        home="/home/u",
        socket="/r/memrecalld/memrecalld.sock",
        config_file="/c/memrecalld/config.toml",
        cache_dir="/k/memrecalld",
        data_dir="/d/memrecalld",
        state_dir="/s/memrecalld",
    )


@pytest.mark.parametrize("value", [None, "", "relative", "~/x"])
def test_xdg_folders_default_to_home(value: str | None) -> None:
    names = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    environ = {"HOME": "/home/u"} | ({} if value is None else dict.fromkeys(names, value))
    paths = Paths.from_environ(environ)
    assert paths.config_file == "/home/u/.config/memrecalld/config.toml"
    assert paths.cache_dir == "/home/u/.cache/memrecalld"
    assert paths.data_dir == "/home/u/.local/share/memrecalld"
    assert paths.state_dir == "/home/u/.local/state/memrecalld"


def test_home_at_the_root_makes_no_double_slash() -> None:
    assert Paths.from_environ({"HOME": "/"}).config_file == "/.config/memrecalld/config.toml"


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "u"}])
def test_home_comes_from_the_user_database_when_the_variable_does_not_help(environ: dict[str, str]) -> None:
    assert Paths.from_environ(environ).home == pwd.getpwuid(os.getuid()).pw_dir


def test_user_without_a_home_is_told_to_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_294_967_000)
    with pytest.raises(ConfigError, match="set HOME to an absolute path"):
        Paths.from_environ({})


def test_relative_socket_override_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="MEMRECALLD_SOCKET must be an absolute path"):
        Paths.from_environ({"HOME": "/home/u", "MEMRECALLD_SOCKET": "sock"})
