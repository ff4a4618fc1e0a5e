"""Daemons that start in a tenth of the time: each is a fork of an interpreter that has imported everything.

What is forked calls the real ``main`` with arguments and an environment of its own, on a real socket, and is
killed for real.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.support.daemon import REPOSITORY, DaemonProcess

_WAIT_S = 60.0
_RUNNING = 1000
"""Stands for no exit status yet."""


class Forge:
    """The interpreter that is forked from. As a context manager it ends at the end."""

    def __init__(self) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY),
            "OPENBLAS_NUM_THREADS": "1",  # a fork has one thread only
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.forge"],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=_WAIT_S)

    def ask(self, **order: Any) -> int:
        """Give an order and wait for its answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        return int(stdout.readline())


class Forked:
    """One forked process; the part of ``subprocess.Popen`` that a test needs."""

    def __init__(self, forge: Forge, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        self._forge = forge
        self.pid = forge.ask(do="fork", arguments=arguments, environment=dict(environment), log=str(log))

    def poll(self) -> int | None:
        """Exit status, negative for a signal; ``None`` while it runs."""
        answer = self._forge.ask(do="poll", pid=self.pid)
        return None if answer == _RUNNING else answer

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, _timeout: float | None = None) -> int:
        """Exit status, negative for a signal, once it has ended."""
        return self._forge.ask(do="wait", pid=self.pid)


class ForgedDaemon(DaemonProcess):
    """A daemon as ``DaemonProcess``, forked."""

    def __init__(
        self, forge: Forge, home: Path, config: str = "", environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(home, config, environment)
        self._forge = forge

    def _launch(self, arguments: list[str]) -> Any:
        return Forked(self._forge, arguments, self.environment, self._log_file)


def _serve() -> None:
    from memrecalld.server.main import main

    ended: dict[int, int] = {}
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] != "fork":
            pid = order["pid"]
            if pid not in ended:
                found, status = os.waitpid(pid, os.WNOHANG if order["do"] == "poll" else 0)
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            print(ended.get(pid, _RUNNING), flush=True)
            continue
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        os.environ.clear()
        os.environ.update(order["environment"])
        log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.closerange(3, 64)
        status = 1
        try:
            status = main(order["arguments"])
        finally:
            sys.stderr.flush()
            os._exit(status)


if __name__ == "__main__":
    _serve()
