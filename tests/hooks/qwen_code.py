"""The real Qwen Code, without a screen, and the model that it talks to."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any

VERSION = "0.15.10"
"""The last one that runs on Node.js 20."""

_ENVIRONMENT = dict(os.environ)
"""As it was before a test: npm needs the developer's own settings for registry, proxy and certificates."""

INSTALL_S = 300.0
RUN_S = 120.0

Message = dict[str, Any]


def installed() -> Path:
    """The script of a Qwen Code that is installed once for this user, outside of the repository."""
    folder = Path(tempfile.gettempdir()) / f"memrecalld-test-tools-{os.getuid()}" / f"qwen-code-{VERSION}"
    script = folder / "node_modules" / "@qwen-code" / "qwen-code" / "cli.js"
    done = folder / "done"
    for program in ("node", "npm"):
        assert shutil.which(program), f"{program} is missing; install Node.js 20 (apt-get install nodejs npm)"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            package = f"@qwen-code/qwen-code@{VERSION}"
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
            command = ["npm", "install", *options, package]
            ended = subprocess.run(
                command, env=_ENVIRONMENT, capture_output=True, text=True, timeout=INSTALL_S, check=False
            )
            assert ended.returncode == 0, f"{' '.join(command)} failed:\n{ended.stderr}"
            done.touch()
    return script


@dataclass
class AgentModel:
    """Calls ``read_file`` once for each prompt of the user, then is content. Keeps what it was sent."""

    file: Path
    before_answering: Callable[[], None] = lambda: None
    sent: list[bytes] = field(default_factory=list)
    base_url: str = ""

    @property
    def requests(self) -> list[list[Message]]:
        """The messages of each request."""
        return [json.loads(each)["messages"] for each in self.sent]

    def answer(self, body: bytes) -> bytes:
        """A streamed completion."""
        self.sent.append(body)
        self.before_answering()
        delta: Message = {"role": "assistant"}
        if any(message["role"] == "tool" for message in json.loads(body)["messages"][-2:]):
            delta["content"], finish = "That is all.", "stop"
        else:
            arguments = json.dumps({"absolute_path": str(self.file), "file_path": str(self.file)})
            call = {"name": "read_file", "arguments": arguments}
            delta["tool_calls"] = [{"index": 0, "id": "call-1", "type": "function", "function": call}]
            finish = "tool_calls"
        choices = [{"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": finish}]
        chunk = {"id": "answer", "object": "chat.completion.chunk", "created": 1, "model": "test"}
        events = [json.dumps({**chunk, "choices": [choice]}) for choice in choices]
        return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


@contextmanager
def agent_model(file: Path) -> Iterator[AgentModel]:
    """A model that serves until the end of the block."""
    model = AgentModel(file)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = model.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    class Server(ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


class QwenCode:
    """A user's Qwen Code with a model of its own."""

    def __init__(self, environment: Mapping[str, str], project: Path, model: AgentModel) -> None:
        self._script = installed()
        self._project = project
        self._environment = {
            **environment,
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "test",
            "NO_COLOR": "1",
        }
        self.settings = Path(environment["HOME"]) / ".qwen" / "settings.json"
        self.settings.parent.mkdir(exist_ok=True)
        settings = {"security": {"auth": {"selectedType": "openai"}}, "$version": 3}
        self.settings.write_text(json.dumps(settings, indent=2))

    def run(self, prompt: str, *arguments: str) -> str:
        """One whole turn without a screen; returns what the user sees."""
        ended = subprocess.run(
            ["node", str(self._script), "-p", prompt, *arguments],
            cwd=self._project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout
