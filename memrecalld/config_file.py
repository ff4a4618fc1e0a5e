"""Reading the configuration file, and saying exactly what is wrong with it."""

from __future__ import annotations

import codecs
import datetime
import difflib
import glob
import re
import tomllib
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import inspect

from memrecalld.config import Config, MemoryConfig, SelectorConfig, is_loopback
from memrecalld.errors import ConfigError

_MAX_FILE_BYTES: Final = 1_048_576
"""Nobody writes a megabyte of settings; what is larger is another file, or a device."""

_MAX_KEY_CHARS: Final = 40
"""Characters shown of a key that is not one of ours."""

_FOUND: Final = {
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    str: "a string",
    list: "an array",
    dict: "a table",
    datetime.datetime: "a date-time",
    datetime.date: "a date",
    datetime.time: "a time",
}
"""What ``tomllib`` makes of TOML's types, in TOML's words."""

_TABLES: Final[dict[str, type[MemoryConfig | SelectorConfig]]] = {
    "memory": MemoryConfig,
    "selector": SelectorConfig,
}


def load_config(file: str, *, home: str, required: bool = False) -> Config:
    """Read a configuration file; an absent one means the defaults, unless it is ``required``.

    Raises ``ConfigError`` whose text names the file, the place in it (a dotted key such as
    ``memory.layouts[1]``, or line and column), what was found and what was expected. Of what was found it
    names the type and never the value, which may be a key that was pasted into the wrong place.
    """
    name = f"~{file.removeprefix(home)}" if file.startswith(f"{home}/") else file
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        if not required and not Path(file).is_symlink():
            return Config()
        raise ConfigError(f"{name}: there is no such file; create it, or do without it") from None
    except OSError as error:
        raise ConfigError(
            f"{name}: cannot be read ({error.strerror}); make it a regular file that you may read (chmod u+r)"
        ) from None
    try:
        return _decode(_parse(content), home)
    except _Refused as refused:
        raise ConfigError(f"{name}: {refused}") from None


class _Refused(Exception):
    """The content cannot be used; the text stands after the name of the file."""


def _parse(content: bytes) -> dict[str, Any]:
    if len(content) > _MAX_FILE_BYTES:
        raise _Refused(f"larger than {_MAX_FILE_BYTES:,} bytes; is it the right file?")
    content = content.removeprefix(codecs.BOM_UTF8)  # editors on Windows still write it
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        place = _end_of(content[: error.start].decode())
        raise _Refused(f"{place}: not UTF-8; save the file as UTF-8") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).rpartition(" (at ")
        place = _end_of(text.rstrip()) if place == "end of document)" else place.removesuffix(")")
        raise _Refused(f"{place}: {problem}") from None
    except RecursionError:
        raise _Refused("arrays or tables are nested too deep") from None
    except ValueError:  # the interpreter's limit on the length of a number
        raise _Refused("a number has more digits than can be read") from None


def _end_of(text: str) -> str:
    """The place right after a text, in the words of ``tomllib``."""
    lines = text.split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"


def _decode(data: dict[str, Any], home: str) -> Config:
    _refuse_unknown_keys(data)
    try:
        config = msgspec.convert(data, Config)
    except msgspec.ValidationError as error:
        raise _wrong_value(str(error), data) from None
    memory = config.memory
    return Config(
        memory=msgspec.structs.replace(
            memory,
            layouts=tuple(dict.fromkeys(memory.layouts)),
            extra_project_roots=_absolute("memory.extra_project_roots", memory.extra_project_roots, home),
            extra_user_roots=_absolute("memory.extra_user_roots", memory.extra_user_roots, home),
            # Here a [ in the name of the home folder would otherwise start a set of characters.
            trusted_projects=_absolute("memory.trusted_projects", memory.trusted_projects, glob.escape(home)),
        ),
        selector=_usable(config.selector, home),
    )


def _refuse_unknown_keys(data: dict[str, Any]) -> None:
    for table, content in data.items():
        if table not in _TABLES:
            raise _unknown_key("", table, tuple(_TABLES))
        known = _TABLES[table].__struct_fields__
        for key in content if isinstance(content, dict) else ():
            if key not in known:
                raise _unknown_key(f"{table}.", key, known)


def _unknown_key(prefix: str, key: str, known: tuple[str, ...]) -> _Refused:
    short = key if len(key) <= _MAX_KEY_CHARS else f"{key[:_MAX_KEY_CHARS]}..."
    shown = short if re.fullmatch(r"[A-Za-z0-9_-]+", short) else ascii(short)
    elsewhere = [f"{table}.{key}" for table, kind in _TABLES.items() if key in kind.__struct_fields__]
    close = elsewhere or [f"{prefix}{name}" for name in difflib.get_close_matches(short, known, n=2)]
    advice = f"did you mean {' or '.join(close)}?" if close else f"the keys here are {', '.join(known)}"
    return _Refused(f"{prefix}{shown}: there is no such key; {advice}")


def _wrong_value(message: str, data: dict[str, Any]) -> _Refused:
    """Say what stands at the place that msgspec's message names (``... - at `$.memory.layouts[1]```)."""
    location = message.rpartition(" - at `$.")[2].removesuffix("`")
    kind: Any = inspect.type_info(Config)
    found: Any = data
    for name, index in re.findall(r"([a-z_]+)|\[(\d+)\]", location):
        if name:
            kind = next(field.type for field in kind.fields if field.encode_name == name)
            found = found[name]
        else:
            kind, found = kind.item_type, found[int(index)]
    return _Refused(f"{location}: found {_FOUND[type(found)]}, expected {_expected(kind)}")


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType():
            return "a table"
        case inspect.BoolType():
            return "true or false"
        case inspect.VarTupleType():
            return f"an array, each element {_expected(kind.item_type)}"
        case inspect.LiteralType():
            return "one of " + ", ".join(f'"{value}"' for value in kind.values)
        case inspect.UnionType():
            return _expected(next(one for one in kind.types if not isinstance(one, inspect.NoneType)))
        case inspect.StrType(pattern=str()):
            return "the name of an environment variable"
        case inspect.StrType(min_length=int()):
            return "a string that is not empty"
        case _:
            return "a string"


def _absolute(key: str, values: tuple[str, ...], home: str) -> tuple[str, ...]:
    expanded = (_expand(f"{key}[{index}]", value, home) for index, value in enumerate(values))
    return tuple(dict.fromkeys(expanded))


def _expand(key: str, value: str, home: str) -> str:
    if "\0" in value:
        raise _Refused(f"{key}: holds a NUL character, which no path can")
    if value == "~" or value.startswith("~/"):
        value = home + value[1:]
    if not value.startswith("/"):
        raise _Refused(f"{key}: found a relative path, expected one that begins with / or ~/")
    return str(Path("/" + value.lstrip("/")))  # POSIX leaves the meaning of two leading slashes open


def _usable(selector: SelectorConfig, home: str) -> SelectorConfig:
    """Check what types cannot say: the address, and that a key only travels encrypted."""
    key_file = selector.api_key_file
    if key_file is not None:
        if selector.api_key_env is not None:
            raise _Refused("selector.api_key_file: the key comes from selector.api_key_env too; keep one")
        key_file = _expand("selector.api_key_file", key_file, home)
    base_url = _base_url(selector.base_url)
    has_key = key_file is not None or selector.api_key_env is not None
    if has_key and base_url.startswith("http:") and not is_loopback(base_url):
        raise _Refused(
            "selector.base_url: with http, the key would travel unencrypted to another machine; use https, "
            "or configure no key"
        )
    return msgspec.structs.replace(selector, base_url=base_url, api_key_file=key_file)


def _base_url(value: str) -> str:
    problem = _Refused(
        "selector.base_url: found another string, expected an address such as https://api.openai.com/v1: "
        "http or https, a host, and no user name, query, fragment or blank"
    )
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise problem
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError:
        raise problem from None
    if url.scheme not in ("http", "https") or not url.hostname or port == 0:
        raise problem
    if "@" in url.netloc or url.query or url.fragment:
        raise problem
    return url._replace(path=url.path.rstrip("/")).geturl()
