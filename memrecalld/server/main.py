"""The ``memrecalld`` command: the one place that reads the environment, the files and the arguments."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import uvloop

import memrecalld
from memrecalld.config import Config, Paths
from memrecalld.config_file import load_config
from memrecalld.errors import ConfigError, StartError
from memrecalld.memory.cache import NoteCache
from memrecalld.memory.catalog import Catalog
from memrecalld.memory.watcher import Watcher
from memrecalld.recall.clock import LoopClock
from memrecalld.recall.engine import Engine
from memrecalld.recall.library import Library
from memrecalld.recall.store import open_store
from memrecalld.selectors import make_selector
from memrecalld.selectors.selection import SelectionTasks
from memrecalld.server import faults
from memrecalld.server.client_selection import ClientSelection
from memrecalld.server.daemon import Daemon, StopSignals
from memrecalld.server.listener import Listener
from memrecalld.server.observers import Observers
from memrecalld.telemetry import Telemetry

_log = logging.getLogger("memrecalld.server")

FAILED_START: Final = 3
"""Exit status of a daemon that could not start; what to do is on standard error."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the daemon in the foreground until SIGTERM or SIGINT."""
    arguments = _parser().parse_args(argv)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(faults.Formatter())
    logging.basicConfig(level=arguments.log_level.upper(), handlers=[handler])
    # Libraries log what they handle, and that is private here at every level.
    for library in ("asyncio", "aiohttp"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # Threads that read notes give way to the event loop within a millisecond rather than five.
    sys.setswitchinterval(0.001)
    try:
        paths = Paths.from_environ(os.environ)
        config = load_config(
            arguments.config or paths.config_file, home=paths.home, required=arguments.config is not None
        )
        signals = StopSignals()
        with closing(Listener.bind(Path(arguments.socket or paths.socket).absolute())) as listener:
            uvloop.run(_serve(config, paths, os.environ, listener, signals))
    except (ConfigError, StartError) as error:
        print(f"memrecalld: {error}", file=sys.stderr)
        return FAILED_START
    _give_up_closed_output()
    return 0


async def _serve(
    config: Config, paths: Paths, environ: Mapping[str, str], listener: Listener, signals: StopSignals
) -> None:
    loop = asyncio.get_running_loop()
    faults.report_everywhere(loop)
    selector = make_selector(config.selector, environ)
    tasks = None if selector is None else SelectionTasks(selector)
    client_selection = ClientSelection() if config.selector.kind == "client" else None
    catalog = Catalog(
        config.memory,
        environment=environ,
        home=paths.home,
        loop=loop,
        watcher=_watcher(config),
        cache=NoteCache.open(Path(paths.cache_dir, "notes.sqlite")),
    )
    library = Library(catalog, loop.call_later)
    clock = LoopClock(loop)
    observers = Observers()
    engine = Engine(
        catalog=library,
        selection=tasks or client_selection,
        store=open_store(Path(paths.state_dir, "sessions.sqlite"), clock),
        clock=clock,
        telemetry=Telemetry(),
        observer=observers,
    )
    daemon = Daemon(
        listener=listener,
        engine=engine,
        catalog=catalog,
        library=library,
        observers=observers,
        client_selection=client_selection,
        selector_kind=config.selector.kind,
    )
    await daemon.serve(signals)
    if tasks is not None:
        await tasks.close()


def _give_up_closed_output() -> None:
    """Let a terminal or an editor that is gone not turn a clean end into a failed one.

    The interpreter writes out its buffers at the end, and exits with 120 where that fails.
    """
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _watcher(config: Config) -> Watcher | None:
    if not config.memory.watch:
        return None
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
    parser.add_argument("--version", action="version", version=f"memrecalld {memrecalld.__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
