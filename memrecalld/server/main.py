"""The ``memrecalld`` command: the one place that reads the environment, the files and the arguments."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import uvloop

import memrecalld
from memrecalld.config import Paths
from memrecalld.config_file import load_config
from memrecalld.errors import AlreadyServed, ConfigError, StartError
from memrecalld.logfile import LogFile
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.catalog import Catalog
from memrecalld.memory.watcher import Watcher
from memrecalld.recall.clock import LoopClock
from memrecalld.recall.engine import Engine
from memrecalld.recall.library import Library
from memrecalld.recall.store import SQLiteStore
from memrecalld.selectors import make_selector
from memrecalld.server import faults
from memrecalld.server.activation import passed_socket
from memrecalld.server.client_selection import ClientSelection
from memrecalld.server.configuration import Configuration, Settings
from memrecalld.server.connection import allow_connections
from memrecalld.server.daemon import Daemon
from memrecalld.server.listener import Listener
from memrecalld.server.notify import ServiceManager
from memrecalld.server.observers import Observers
from memrecalld.server.signals import Signals
from memrecalld.telemetry import Telemetry

_log = logging.getLogger("memrecalld.server")

FAILED_START: Final = 3
"""Exit status of a daemon that could not start; what to do is on standard error."""

ALREADY_SERVED: Final = 4
"""Exit status of a daemon that did not start because another program serves the socket."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the daemon in the foreground until SIGTERM or SIGINT."""
    arguments = _parser().parse_args(argv)
    log = _log_to(arguments)
    # Threads that read notes give way to the event loop within a millisecond rather than five.
    sys.setswitchinterval(0.001)
    allow_connections()
    try:
        passed = passed_socket(os.environ)
        manager = ServiceManager.from_environ(os.environ)
        paths = Paths.from_environ(os.environ)

        def read() -> Settings:
            file, required = arguments.config or paths.config_file, arguments.config is not None
            config = load_config(file, home=paths.home, required=required)
            return Settings(config, make_selector(config.selector, os.environ))

        settings = read()
        signals = Signals()
        with closing(_listener(passed, arguments.socket, paths)) as listener:
            if log is not None:
                log.take_standard_streams()
            uvloop.run(_serve(settings, read, paths, listener, signals=signals, manager=manager))
    except (ConfigError, StartError) as error:
        print(f"memrecalld: {error}", file=sys.stderr)
        return ALREADY_SERVED if isinstance(error, AlreadyServed) else FAILED_START
    _give_up_closed_output()
    return 0


def _log_to(arguments: argparse.Namespace) -> LogFile | None:
    """Set up logging, on standard error or in the file that the arguments name."""
    file = None if arguments.log_file is None else LogFile.open(Path(arguments.log_file).absolute())
    handler = logging.StreamHandler(sys.stderr) if file is None else file
    in_journal = file is None and faults.is_journal(2, os.environ)
    handler.setFormatter(faults.Formatter(journal=in_journal, dated=file is not None))
    logging.basicConfig(level=arguments.log_level.upper(), handlers=[handler])
    # Libraries log what they handle, and that is private here at every level.
    for library in ("asyncio", "aiohttp"):
        logging.getLogger(library).setLevel(logging.WARNING)
    return file


def _listener(passed: socket.socket | None, named: str | None, paths: Paths) -> Listener:
    if passed is None:
        return Listener.bind(Path(named or paths.socket).absolute())
    if named is not None and str(Path(named).absolute()) != passed.getsockname():
        raise StartError(
            f"--socket names {named}, and a service manager passed the socket {passed.getsockname()}; "
            "leave --socket out"
        )
    return Listener.adopt(passed)


async def _serve(
    settings: Settings,
    read: Callable[[], Settings],
    paths: Paths,
    listener: Listener,
    *,
    signals: Signals,
    manager: ServiceManager,
) -> None:
    loop = asyncio.get_running_loop()
    faults.report_everywhere(loop)
    config = settings.config
    watcher = _watcher() if config.memory.watch else None
    client_selection = ClientSelection()
    configuration = Configuration(
        settings,
        read=read,
        client_selection=client_selection,
        watcher=watcher,
        make_watcher=_watcher,
    )
    catalog = Catalog(
        config.memory,
        environment=os.environ,
        home=paths.home,
        loop=loop,
        watcher=watcher,
        cache=NoteCache.open(Path(paths.cache_dir, "notes.sqlite")),
    )
    library = Library(catalog, loop.call_later)
    clock = LoopClock(loop)
    observers = Observers()
    telemetry = Telemetry()
    store = SQLiteStore(Path(paths.state_dir, "sessions.sqlite"), clock, telemetry.count)
    engine = Engine(
        notes=library,
        selection=configuration.selection,
        store=store,
        clock=clock,
        telemetry=telemetry,
        observer=observers,
    )
    daemon = Daemon(
        listener=listener,
        engine=engine,
        store=store,
        catalog=catalog,
        library=library,
        observers=observers,
        client_selection=client_selection,
        configuration=configuration,
        clock=clock,
        manager=manager,
    )
    # What is there by now stays. To look through it for garbage would hold up every client for 60 ms or more.
    gc.freeze()
    await daemon.serve(signals)
    store.close()
    await configuration.close()


def _give_up_closed_output() -> None:
    """Let a terminal or an editor that is gone not turn a clean end into a failed one.

    The interpreter writes out its buffers at the end, and exits with 120 where that fails.
    """
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _watcher() -> Watcher | None:
    try:
        return Watcher()
    except OSError as error:
        _log.warning("no file events (%s); every recall compares file data instead", error.strerror)
        return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memrecalld",
        description="Puts the right memory notes in front of a coding agent's model, in its first request.",
    )
    parser.add_argument("--socket", metavar="PATH", help="the Unix socket to serve")
    parser.add_argument("--config", metavar="FILE", help="the configuration file (it must exist)")
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="warning",
        help="how much is logged on standard error (default: warning)",
    )
    parser.add_argument("--log-file", metavar="FILE", help="log there instead, in a file of bounded size")
    parser.add_argument("--version", action="version", version=f"memrecalld {memrecalld.__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
