"""Arguments, the choice of the command, and the exit status for everything that may happen in it."""

from __future__ import annotations

import argparse
import enum
import math
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

import memrecalld
from memrecalld.cli.text import printable
from memrecalld.client import CallTimeout, Client, ClientError, DaemonUnavailable

WAIT_S: Final = 10.0
"""How long ``memrecall recall`` waits for a model's choice: most models take a second or two."""

LOG_LINES: Final = 50
"""What ``memrecall logs`` shows, without ``-n``: the last start and what came of it."""

MAX_LIMIT: Final = 100
"""The daemon's own limit on what a search returns."""


class Status(enum.IntEnum):
    """Exit statuses."""

    OK = 0
    ERROR = 1
    """The daemon answered with an error, or the command could not be carried out, or it found a fault."""
    USAGE = 2
    UNREACHABLE = 3
    """No daemon answers on the socket."""
    INTERRUPTED = 130
    """Ctrl-C, as shells report it: 128 + SIGINT."""
    CLOSED_PIPE = 141
    """Whoever read the output has left: 128 + SIGPIPE."""


class UsageError(Exception):
    """The command cannot do what its arguments say; the text says why."""


class CommandFailed(Exception):
    """The command could not be carried out; the text says what to do."""


def run(argv: Sequence[str]) -> int:
    """Run the command that the arguments ask for."""
    # A locale that cannot show a note's script is no reason to stop half-way.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
        status: int | None = import_module(f"memrecalld.cli.{arguments.module}").run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as stop:  # argparse leaves this way, after --help too
        return Status.OK if stop.code is None else int(stop.code)
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return Status.CLOSED_PIPE
    except UsageError as error:
        return _fail(error, Status.USAGE)
    except (DaemonUnavailable, CallTimeout) as error:
        return _fail(error, Status.UNREACHABLE)
    except (ClientError, CommandFailed) as error:
        return _fail(error, Status.ERROR)
    return Status.OK if status is None else status


def connect(arguments: argparse.Namespace) -> Client:
    """Connect to the daemon that the arguments name; where nobody listens, start it if they allow that."""
    try:
        return Client.connect(arguments.socket)
    except DaemonUnavailable:
        if not getattr(arguments, "start", False):
            raise
        from memrecalld.cli.starting import Failed, Started, nobody_listens, start  # noqa: PLC0415 - seldom

        if not nobody_listens(arguments.socket):
            raise
    answer = start(arguments.socket, os.environ)
    if isinstance(answer, Failed):
        raise DaemonUnavailable(f"{answer.reason}; {answer.next_step}")
    if isinstance(answer, Started):
        print(
            f"memrecall: started memrecalld, process {answer.pid}; {printable(answer.log)}",
            file=sys.stderr,
        )
    return Client.connect(arguments.socket)


def project_of(arguments: argparse.Namespace) -> str:
    """The project that the arguments name, by default the current folder; an absolute path.

    Raises ``UsageError`` for what is no folder.
    """
    try:
        folder = Path(arguments.project or ".").absolute()
        if not folder.is_dir():
            raise UsageError(f"--project {arguments.project}: there is no such folder")
    except (OSError, ValueError):
        raise UsageError("the current folder is gone, or its name is none; use --project DIR") from None
    return os.path.normpath(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memrecall",
        description="Asks the memrecalld daemon which memory notes fit a query.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"memrecall {memrecalld.__version__}")
    _add_socket(parser, default=None)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, module: str, summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
        added.set_defaults(module=module)
        return added

    recall = command("recall", "recall", "recall notes for a query, as an agent's turn does")
    recall.add_argument("query")
    recall.add_argument(
        "--session", metavar="ID", help="a session never gets a note twice (default: a new one)"
    )
    recall.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        default=WAIT_S,
        help=f"how long to wait for the model's choice (default: {WAIT_S:g})",
    )
    search = command("search", "search", "search the notes, outside any session")
    search.add_argument("query")
    search.add_argument("--limit", metavar="N", type=_limit, default=5, help="notes at most (default: 5)")
    search.add_argument(
        "--why", metavar="NOTE", help="say why this file is found, or why it is not, and nothing else"
    )
    search.add_argument(
        "--session", metavar="ID", help="with --why: judge for this session, which may have the note already"
    )
    listing = command("list", "listing", "list the newest notes")
    status = command("status", "status", "show what the daemon holds and how fast it answers")
    for each in (recall, search, listing):
        each.add_argument(
            "--no-start", dest="start", action="store_false", help="fail where no daemon runs, and start none"
        )
    doctor = command("doctor", "doctor", "look for what is wrong with the service, and say how to mend it")
    for each in (recall, search, listing, status, doctor):
        # Named before the command, the socket must not be overwritten by a default of the command.
        _add_socket(each, default=argparse.SUPPRESS)
        each.add_argument(
            "--project", metavar="DIR", help="a folder of the project (default: the current one)"
        )
        each.add_argument("--json", action="store_true", help="print the answer as JSON")
    logs = command("logs", "logs", "show what the daemon has reported")
    logs.add_argument(
        "-n", "--lines", metavar="LINES", type=_lines, default=LOG_LINES, help=f"default: {LOG_LINES}"
    )
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what is reported from now on")
    for name, summary, uninstall in (
        ("install-hooks", "let an agent recall by itself, through the hooks in its settings", False),
        ("uninstall-hooks", "take those hooks out again", True),
    ):
        hooks = command(name, "hooks", summary)
        hooks.set_defaults(uninstall=uninstall)
        hooks.add_argument("--host", required=True, choices=("claude", "qwen"), help="whose settings")
        scope = hooks.add_mutually_exclusive_group()
        scope.add_argument("--user", action="store_true", help="for all of your projects (the default)")
        scope.add_argument(
            "--project", action="store_true", help="for the project in the current folder only"
        )
        hooks.add_argument("--dry-run", action="store_true", help="show the change and do nothing")
    hook = command("hook", "hook", "answer one event of an agent; its hooks run this, and it never fails")
    hook.add_argument("event", metavar="EVENT")
    hook.add_argument("--host", required=True, choices=("claude", "qwen"))
    service = command("service", "service", "let systemd start the daemon when it is needed")
    actions = service.add_subparsers(metavar="ACTION", dest="action", required=True)
    for name, summary in (
        ("install", "put the units in place and enable the socket"),
        ("uninstall", "stop both and take the units away"),
        ("status", "show whether they are installed, enabled and running"),
    ):
        action = actions.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
        if name != "status":
            action.add_argument(
                "--dry-run", action="store_true", help="show what would be done and do nothing"
            )
    mcp = command("mcp", "mcp", "serve an agent by the Model Context Protocol, on standard input and output")
    _add_socket(mcp, default=argparse.SUPPRESS)
    command("demo", "demo", "show one whole turn, with invented notes and a private daemon")
    return parser


def _add_socket(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument(
        "--socket", metavar="PATH", default=default, help="the daemon's socket, if not the usual one"
    )


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_LIMIT):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {MAX_LIMIT}")
    return int(text)


def _lines(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("expected a number of lines")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise argparse.ArgumentTypeError("expected a number of seconds, 0 or more")
    return seconds


def _fail(error: Exception, status: Status) -> int:
    print(f"memrecall: {printable(str(error))}", file=sys.stderr)
    return status


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
