"""What a hook process costs beside the emptiest Python process: ``python -m tests.hooks.cost [ROUNDS]``.

Both are started in turns, so that whatever else the machine does falls on both alike. The daemon is warm,
holds 1,000 notes, and each prompt is the first of a session. The empty process is that of the interpreter
itself: in a virtual environment it would look for packages, which a hook does not.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from memrecalld.client import Client
from tests.hooks.agent import Agent
from tests.support.daemon import DaemonProcess
from tests.support.notes import note

NOTES = 1_000


def main(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder, closing(DaemonProcess(Path(folder) / "home")) as daemon:
        for number in range(NOTES):
            daemon.write_note(
                "project", f"{number}.md", note(f"Crane {number}", "How it deploys", "x " * 500)
            )
        daemon.start()
        with Client.connect(str(daemon.socket)) as client:
            client.search("crane", project_root=daemon.project)  # is answered when all is read and indexed
            assert client.status()["topics"] == NOTES
        empty = [os.path.realpath(sys.executable), "-I", "-c", "pass"]
        costs: dict[str, list[float]] = {"python -I -c pass": [], "UserPromptSubmit": [], "PostToolUse": []}
        for number in range(rounds):
            agent = Agent("claude", daemon.environment, daemon.project, f"s{number}")
            costs["python -I -c pass"].append(timed(empty, {}, b""))
            for event in ("UserPromptSubmit", "PostToolUse"):
                command = ["sh", "-c", f"exec {agent.command(event)}"]
                data = json.dumps(
                    agent.input(event, prompt=f"crane {number % NOTES}?", tool_name="grep")
                ).encode()
                costs[event].append(timed(command, daemon.environment, data))
    base = statistics.median(costs["python -I -c pass"])
    print(f"{rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    print("process              median      p90   median ÷ empty process")
    for name, seconds in costs.items():
        p90 = statistics.quantiles(seconds, n=10)[-1]
        median = statistics.median(seconds)
        print(f"{name:18} {median * 1e3:6.1f} ms {p90 * 1e3:5.1f} ms   {median / base:.2f}")


def timed(command: list[str], environment: dict[str, str], data: bytes) -> float:
    """Seconds from the start of a process to its end."""
    started = time.perf_counter()
    subprocess.run(command, input=data, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
