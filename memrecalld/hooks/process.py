"""One hook process: an agent's event on standard input, what it may add to the context on standard output.

Whatever goes wrong, the process is silent and ends with 0 within ``LIFE_S``: a hook must never disturb its
agent. After some failures in a row it says once where to look. It never starts the daemon; where systemd
listens for it, the connection of a session's start does, and its first prompt finds the notes read.

A turn is detached, since it outlives the process: opened at the prompt, asked for more at each tool result,
ended when the agent stops. Neither Claude Code nor Qwen Code runs a prompt's hook inside a sub-agent, so
there is no turn of theirs; a tool result there names the sub-agent and so is not taken for one of its parent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from time import monotonic

from memrecalld.client import Client, ClientError
from memrecalld.hooks import failures
from memrecalld.hooks.context import added_context, message, room
from memrecalld.programs import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memrecalld.client.shapes import Delivery

    Input = Mapping[str, Any]

ASK_S = 0.3
"""How long the daemon may take: three times its own ceiling."""

LIFE_S = 1.0
"""How long the process may take, whatever holds it up: an agent that never closes its end of the pipe, say.
"""

MAX_INPUT_BYTES = 64 * 1024 * 1024
"""A tool's whole output is in the input of its event."""

EVENTS = ("UserPromptSubmit", "PostToolUse", "Stop", "SessionStart", "SessionEnd")
"""The events of a session that matter here; both agents know them by these names."""

EXCLUDED_LAYOUTS = {
    # Recalled by Qwen Code itself.
    "qwen": ("qwen",),
    # Claude Code reads the index of its own notes at the start of a session, and none of the notes.
    "claude": (),
}
"""The layouts that each agent needs no help with."""

_TELLING_EVENTS = {
    "qwen": ("Stop",),
    "claude": ("UserPromptSubmit", "PostToolUse", "Stop", "SessionStart"),
}
"""The events at which each agent shows its user what a hook says."""

_SILENT = "memrecalld does not answer"

_NUDGE = "Please continue."
"""What Qwen Code says to a model that stopped too early."""

_USAGE = "usage: memrecall hook EVENT --host claude|qwen\n"


def main(arguments: Sequence[str]) -> int:
    """Answer one event. The exit status is always 0; 2 would block what the user has typed."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, LIFE_S)
    match arguments:
        case [event, "--host", host] if event in EVENTS and host in EXCLUDED_LAYOUTS:
            try:
                line = _answer(event, host)
                if line:
                    os.write(1, f"{line}\n".encode("utf-8", "replace"))
            except Exception:  # noqa: S110 - see above
                pass
        case _:
            sys.stderr.write(_USAGE)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 0


def _answer(event: str, host: str) -> str:
    """What to print for the event on standard input; empty for nothing."""
    told = json.loads(sys.stdin.buffer.read(MAX_INPUT_BYTES))
    if not _text(told, "session_id"):
        return ""
    deadline = monotonic() + ASK_S
    try:
        with Client.connect(connect_timeout=ASK_S, call_timeout=ASK_S) as client:
            try:
                delivery = _ask(client, event, host, told, deadline)
            except ClientError:
                raise ClientError(_SILENT) from None
    except ClientError as fault:
        if event == "SessionStart" and not _clears(told):
            return ""  # nothing was asked for yet, and a daemon that systemd starts takes longer than this
        return _complaint(fault, may_tell=event in _TELLING_EVENTS[host])
    _forget_failures()
    return "" if delivery is None else added_context(event, delivery["prompt"])


def _ask(client: Client, event: str, host: str, told: Input, deadline: float) -> Delivery | None:
    """Tell the daemon of the event, and return what it delivers.

    Raises ``ClientError``; where it raises none, the daemon has answered.
    """
    session, agent = told["session_id"], _text(told, "agent_id")
    if event == "SessionStart":
        if _clears(told):
            client.reset(session, agent_id=agent, timeout=deadline - monotonic())
        if project := _text(told, "cwd"):
            client.warm(project, timeout=deadline - monotonic())
        return None
    if event == "UserPromptSubmit" and (query := _query(told)):
        turn = client.start(
            query,
            session_id=session,
            project_root=_text(told, "cwd") or None,
            agent_id=agent,
            exclude_layouts=EXCLUDED_LAYOUTS[host],
            detached=True,
            max_prompt_chars=room(event),
            timeout=deadline - monotonic(),
        )
        return turn.delivery
    if event in {"Stop", "SessionEnd"}:
        # A notification has no answer; the question that follows has, and no turn is left to answer from.
        client.end(session, agent_id=agent)
    return client.tool_result(
        session,
        tool_name=_text(told, "tool_name") or None,
        agent_id=agent,
        max_prompt_chars=room(event),
        timeout=deadline - monotonic(),
    )["delivery"]


def _clears(told: Input) -> bool:
    """Whether what was delivered is not in the context any more; a session that is resumed still has it."""
    return told.get("source") in {"clear", "compact"}


def _query(told: Input) -> str:
    """What the user typed; empty where the agent goes on with a turn by itself."""
    prompt = _text(told, "prompt")
    # Qwen Code runs the hooks of this event before it sends tool results, too: then nothing is typed.
    if not prompt.strip() or prompt == _NUDGE:
        return ""
    return _text(told, "submitted_prompt").strip() or prompt


def _forget_failures() -> None:
    path = failures.failures_file(os.environ)
    if path is not None:
        failures.clear(path)


def _complaint(fault: ClientError, *, may_tell: bool) -> str:
    path = failures.failures_file(os.environ)
    if path is None or not failures.count(path, may_tell=may_tell):
        return ""
    return message(f"No notes are recalled: {fault}. See: {shown('memrecall doctor')}")


def _text(told: Input, name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""
