"""Whether the model server can be reached, and takes the key."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import msgspec

from memrecalld.config import SelectorConfig
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.patience import within
from memrecalld.doctor.subject import Subject
from memrecalld.errors import ConfigError
from memrecalld.selectors.api_key import ApiKey

CHECK: Final = "selector"

ANSWER_S: Final = 5.0
"""For a list of models; a selection may take six times as long."""

_MAX_LIST_BYTES: Final = 4 * 1024 * 1024
"""Gateways list thousands of models, 1 KiB each."""


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


def check(subject: Subject) -> Iterator[Finding]:
    """One harmless request to an ``openai`` selector: ``GET <base_url>/models``."""
    config = subject.config.selector
    if config.kind == "none":
        yield Finding(check=CHECK, severity="ok", what="no model is configured; the scorer chooses")
        return
    if config.kind == "client":
        yield Finding(check=CHECK, severity="ok", what="the model of a connected client chooses")
        return
    try:
        key = asyncio.run(ApiKey(config, subject.environ).read())
    except ConfigError as error:
        yield Finding(check=CHECK, severity="error", what=str(error), fix="mend the [selector] table")
        return
    if config.api_key_env is not None and key is None:
        yield Finding(
            check=CHECK,
            severity="hint",
            what="selector.api_key_env names a variable that is not set here; a local server may not need it",
            fix="set it where memrecalld is started, or use selector.api_key_file",
        )
    yield _answer(config, key)


def _answer(config: SelectorConfig, key: str | None) -> Finding:
    where = f"the model server at {config.base_url}"
    try:
        status, body = within(ANSWER_S, lambda: _list_models(config, key))
    except TimeoutError:
        return _warning(
            f"{where} did not answer within {ANSWER_S:g} s", "start it, or mend selector.base_url"
        )
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return _warning(f"{where} cannot be reached ({reason})", "start it, or mend selector.base_url")
    if status in {401, 403}:
        return _warning(
            f"{where} refuses the key (HTTP {status})", "put a valid key where the configuration says"
        )
    if status in {404, 405, 501}:
        return Finding(
            check=CHECK,
            severity="hint",
            what=f"{where} answers, but lists no models; it may be right all the same",
        )
    if status != 200:
        return _warning(f"{where} answers with HTTP {status}", "see that server's own log")
    try:
        models = {model.id for model in msgspec.json.decode(body, type=_Models).data}
    except (msgspec.DecodeError, RecursionError):
        return _warning(
            f"{where} answers, but not as such a server does", "mend selector.base_url; it ends in /v1 mostly"
        )
    if not {config.model, f"{config.model}:latest"} & models:
        return _warning(f"{where} has no model {config.model}", "load it there, or change selector.model")
    return Finding(check=CHECK, severity="ok", what=f"{where} answers and has {config.model}")


def _list_models(config: SelectorConfig, key: str | None) -> tuple[int, bytes]:
    """Status and body. As when the daemon asks, no redirect is followed and no proxy used."""
    url = urlsplit(config.base_url)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=ANSWER_S)
    try:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        connection.request("GET", f"{url.path}/models", headers=headers)
        response = connection.getresponse()
        return response.status, response.read(_MAX_LIST_BYTES)
    finally:
        connection.close()


def _warning(what: str, fix: str) -> Finding:
    return Finding(check=CHECK, severity="warning", what=what, fix=fix)
