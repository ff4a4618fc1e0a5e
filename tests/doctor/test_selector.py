"""A model server that is asked once, harmlessly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memrecalld.doctor import selector
from memrecalld.doctor.finding import Finding
from tests.doctor.conftest import User

KEY = "qkeyx"


class Server(ThreadingHTTPServer):
    """Answers everything with ``status`` and ``body``, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.body = json.dumps({"object": "list", "data": [{"id": "qwen3:4b"}, {"id": "other"}]}).encode()
        self.location: str | None = None
        self.requests: list[tuple[str, str, str | None]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append((self.command, self.path, self.headers["Authorization"]))
        self.send_response(self.server.status)
        if self.server.location is not None:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def configure(user: User, base_url: str, more: str = "") -> None:
    user.configure(f'[selector]\nkind = "openai"\nbase_url = "{base_url}"\n{more}\n')


def only(user: User) -> Finding:
    [finding] = selector.check(user.subject)
    assert KEY not in str(finding)
    return finding


@pytest.mark.parametrize("kind", ["none", "client"])
def test_nothing_is_asked_where_there_is_no_server(user: User, kind: str) -> None:
    user.configure(f'[selector]\nkind = "{kind}"\n')
    assert only(user).severity == "ok"


def test_a_server_that_has_the_model_is_in_order(user: User, server: Server) -> None:
    configure(user, server.base_url)
    assert only(user).severity == "ok"
    assert server.requests == [("GET", "/v1/models", None)]


def test_a_model_may_be_listed_with_the_tag_latest(user: User, server: Server) -> None:
    server.body = b'{"data": [{"id": "mistral:latest"}]}'
    configure(user, server.base_url, 'model = "mistral"')
    assert only(user).severity == "ok"


def test_a_model_that_is_not_there_is_a_warning(user: User, server: Server) -> None:
    configure(user, server.base_url, 'model = "absent"')
    assert (only(user).severity, "no model absent" in only(user).what) == ("warning", True)


@pytest.mark.parametrize(
    ("status", "severity", "said"),
    [
        (401, "warning", "refuses the key"),
        (403, "warning", "refuses the key"),
        (404, "hint", "lists no models"),
        (500, "warning", "HTTP 500"),
    ],
)
def test_what_a_server_answers_is_told(
    user: User, server: Server, status: int, severity: str, said: str
) -> None:
    server.status = status
    configure(user, server.base_url)
    assert only(user).severity == severity
    assert said in only(user).what


@pytest.mark.parametrize("body", [b"<html>hello</html>", b'{"models": []}', b"", b"[" * 100_000])
def test_what_is_no_list_of_models_is_a_warning(user: User, server: Server, body: bytes) -> None:
    server.body = body
    configure(user, server.base_url)
    assert "not as such a server does" in only(user).what


def test_the_key_goes_to_the_server_and_nowhere_else(user: User, server: Server) -> None:
    server.status, server.location = 302, "http://127.0.0.1:9/elsewhere"
    user.environ["MODEL_KEY"] = KEY
    configure(user, server.base_url, 'api_key_env = "MODEL_KEY"')
    assert "HTTP 302" in only(user).what
    assert server.requests == [("GET", "/v1/models", f"Bearer {KEY}")]


def test_a_key_file_that_others_may_read_is_an_error(user: User, server: Server) -> None:
    file = user.home / "key"
    file.write_text(KEY, encoding="ascii")
    file.chmod(0o644)
    configure(user, server.base_url, 'api_key_file = "~/key"')
    assert (only(user).severity, "chmod 600" in only(user).what) == ("error", True)
    assert server.requests == []


def test_a_variable_that_is_not_set_is_a_hint_for_a_local_server(user: User, server: Server) -> None:
    configure(user, server.base_url, 'api_key_env = "MODEL_KEY"')
    hint, answer = selector.check(user.subject)
    assert (hint.severity, answer.severity) == ("hint", "ok")


def test_a_server_that_is_not_there_is_a_warning(user: User) -> None:
    with socket.socket() as taken:  # bound but not listening, so that nobody else can take the port either
        taken.bind(("127.0.0.1", 0))
        configure(user, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        assert "cannot be reached" in only(user).what


def test_a_server_that_never_answers_is_a_warning(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selector, "ANSWER_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        configure(user, f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        assert only(user).severity == "warning"
