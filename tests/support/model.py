"""A model for tests of whole processes: a chat-completions endpoint that answers when it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

WAIT_S = 60.0


class Model(ThreadingTCPServer):
    """Holds every question until ``release``, then answers with the notes whose line holds a word."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.word = ""
        """Lines that hold it are chosen, at most five; with an empty one every line is."""
        self._released = threading.Event()
        self._asked = threading.Semaphore(0)

    @property
    def config(self) -> str:
        """The daemon's configuration that makes this its selector."""
        base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        return f'[selector]\nkind = "openai"\nbase_url = "{base_url}"\nmodel = "test"\n'

    def wait_until_asked(self) -> None:
        """Return when one more question has come."""
        assert self._asked.acquire(timeout=WAIT_S), "the model was not asked"

    def release(self) -> None:
        """Answer all questions, those to come too."""
        self._released.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A daemon that hangs up on a question is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        manifest = request["messages"][-1]["content"].partition("\n\nNotes:\n")[2]
        self.server._asked.release()
        self.server._released.wait()
        ids = [line.split()[0] for line in manifest.splitlines() if self.server.word in line]
        content = json.dumps({"selected": ids[:5]})
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@contextmanager
def running_model() -> Iterator[Model]:
    """A model that serves until the end of the block."""
    with Model() as model:
        thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            model.release()
            model.shutdown()
            thread.join()
