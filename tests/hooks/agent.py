"""An agent that runs its hooks: each event of a session is a real process, as its settings name it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memrecalld.hooks import process
from memrecalld.hooks.agents import hooks_of

HOST_WAIT_S = 20.0
"""Far beyond the life of a hook process, on any machine."""
_ATTEMPTS = 30

RUN = Path(process.__file__).with_name("run.py")
PATIENT = Path(__file__).with_name("patient.py")
"""What stands in for ``RUN`` in tests that are not about time."""

Event = dict[str, Any]


class Agent:
    """One session of ``host`` in ``cwd``. ``environment`` is what its hooks run in."""

    def __init__(self, host: str, environment: Mapping[str, str], cwd: Path, session: str = "s") -> None:
        self.host = host
        self.session = session
        self._environment = {**environment, "PATH": environment.get("PATH", "/usr/bin:/bin")}
        self._cwd = cwd
        self._commands = {hook.event: hook.handler["command"] for hook in hooks_of(host, sys.executable)}

    def command(self, event: str) -> str:
        """What the host has its shell run at an event."""
        return self._commands[event]

    def replace_command(self, command: str) -> None:
        """Run another command, in which EVENT stands for the event."""
        self._commands = {event: command.replace("EVENT", event) for event in self._commands}

    def be_patient(self) -> None:
        """Give the daemon as long as it takes on a busy machine, for tests that are not about time."""
        for event, command in self._commands.items():
            assert command.count(str(RUN)) == 1
            self._commands[event] = command.replace(str(RUN), str(PATIENT))

    def input(self, event: str, **fields: Any) -> Event:
        """What the host writes to its hook."""
        return {
            "session_id": self.session,
            "transcript_path": f"{self._cwd}/transcript.jsonl",
            "cwd": str(self._cwd),
            "hook_event_name": event,
            "timestamp": "2026-01-01T00:00:00.000Z",
            **fields,
        }

    def run(self, event: str, data: bytes) -> tuple[bytes, bytes]:
        """What the hook of an event prints for this input, on stdout and stderr; it always ends with 0."""
        ended = subprocess.run(
            ["sh", "-c", self.command(event)],
            input=data,
            capture_output=True,
            cwd=self._cwd,
            env=self._environment,
            timeout=HOST_WAIT_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout, ended.stderr

    def fire(self, event: str, **fields: Any) -> Event | None:
        """What the host reads as the hook's output; None for a silent one."""
        stdout, stderr = self.run(event, json.dumps(self.input(event, **fields)).encode())
        assert stderr == b""
        return json.loads(stdout) if stdout else None

    def context(self, event: str, **fields: Any) -> str:
        """What an event adds to the context; empty for nothing."""
        output = self.fire(event, **fields)
        if output is None:
            return ""
        # Exactly this form is understood by both hosts.
        assert output.keys() == {"hookSpecificOutput"}
        assert output["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
        assert output["hookSpecificOutput"]["hookEventName"] == event
        context: str = output["hookSpecificOutput"]["additionalContext"]
        return context

    def prompt(self, text: str, **fields: Any) -> str:
        """What is added to a prompt; empty, too, where the machine is too busy for the initial wait."""
        return self.context("UserPromptSubmit", prompt=text, **fields)

    def prompt_with_memory(self, text: str, **fields: Any) -> str:
        """As ``prompt``, for one that brings notes: a wait that was too short has delivered nothing yet."""
        for _ in range(_ATTEMPTS):
            if context := self.prompt(text, **fields):
                return context
        raise AssertionError("no notes came with the prompt")
