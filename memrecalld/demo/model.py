"""What plays the model in the demonstration: a local chat-completions endpoint with a simple rule."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final

ANSWER_S: Final = 0.3
"""How long an answer takes: about what a small local model needs."""

_RELATED: Final = {
    "deploy": ("rollback", "live systems"),
    "hotfix": ("urgent",),
    "friday": ("weekend", "freeze"),
}
"""What the rule knows beyond the words themselves, as a model knows far more."""

_MAX_CHOSEN: Final = 5


class ModelStandIn(ThreadingTCPServer):
    """Answers each request after ``answer_s`` seconds with the notes that ``choose`` picks.

    No ``HTTPServer``, which would ask the name service for the name of this machine.
    """

    daemon_threads = True

    def __init__(self, answer_s: float = ANSWER_S) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer_s = answer_s
        self.stopping = threading.Event()

    @property
    def base_url(self) -> str:
        """For the ``[selector]`` table of the configuration."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's signature
        """A question whose turn has ended is hung up on; that is no error."""


@contextmanager
def model_stand_in() -> Iterator[ModelStandIn]:
    """A stand-in that serves on a free port of this machine until the end of the block."""
    with ModelStandIn() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


def choose(query: str, manifest: str) -> list[str]:
    """Ids of the lines that hold most words of the query, or words related to them."""
    lowered = query.lower()
    words = [word.strip("?!.,") for word in lowered.split()]
    wanted = {word for word in words if word in _RELATED}
    wanted |= {related for word in wanted for related in _RELATED[word]}
    found: list[tuple[int, str]] = []
    for line in manifest.splitlines():
        identifier, _, text = line.lower().partition(" ")
        if hits := sum(word in text for word in wanted):
            found.append((-hits, identifier))
    return [identifier for _, identifier in sorted(found, key=lambda each: each[0])][:_MAX_CHOSEN]


class _Handler(BaseHTTPRequestHandler):
    server: ModelStandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        query, _, manifest = request["messages"][-1]["content"].partition("\n\nNotes:\n")
        self.server.stopping.wait(self.server.answer_s)
        content = json.dumps({"selected": choose(query, manifest)})
        completion = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}
        body = json.dumps(completion).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Nothing: the demonstration tells what happens itself."""
