"""A real VS Code (code-server) with the packaged extension, driven through a headless Chromium.

What it takes is installed into the user's cache on first use: the extension's own packages as its lock file
names them, code-server, and playwright-core. Chromium and Node have to be there.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.daemon import REPOSITORY, DaemonProcess

SOURCE = REPOSITORY / "editor-clients" / "vscode"

START_S = 180.0
"""Bound of an editor's start on a busy machine."""
WAIT_S = 90.0
"""Bound of every step; the driver has a shorter one of its own."""
INSTALL_S = 900.0

ENVIRONMENT = dict(os.environ)
"""Of the developer, as it is before a test gets a clean one: package managers need it."""

_CACHE = Path(ENVIRONMENT.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memrecall-vscode-tests"
_NEEDED = {
    "chromium": "apt-get update && apt-get install -y --no-install-recommends chromium",
    "npm": "install Node 20 or newer, with npm",
}
_GENERATED = shutil.ignore_patterns("node_modules", "dist", "*.vsix")
_STATUS_BAR = ".statusbar [aria-label^='memrecall: ']"
_ROWS = ".quick-input-list .monaco-list-row"
_TREE = ".pane-body .monaco-list-row"


class Extension:
    """The extension, built and packaged in a folder of its own; the source tree stays as it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        [self.vsix] = folder.glob("*.vsix")

    @classmethod
    def build(cls, folder: Path) -> Self:
        """Build it in ``folder``, or take what another worker of this run has built there."""
        for program, install in _NEEDED.items():
            assert shutil.which(program, path=ENVIRONMENT["PATH"]), f"no {program} on PATH; {install}"
        with _locked(_CACHE):
            if not folder.exists():
                unfinished = folder.with_suffix(".unfinished")
                shutil.copytree(SOURCE, unfinished, ignore=_GENERATED)
                _package(unfinished)
                unfinished.rename(folder)
        return cls(folder)

    def run(self, *command: str, environment: Mapping[str, str] | None = None) -> str:
        """Run a command in the folder, expect that it succeeds, and return what it printed."""
        return _run(self.folder, *command, environment={**ENVIRONMENT, **(environment or {})})


class Workbench:
    """One editor window. As an asynchronous context manager it ends with the block."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def open(cls, extension: Extension, daemon: DaemonProcess, work: Path) -> Self:
        """Open the daemon's project, in the environment in which the extension finds the daemon."""
        work.mkdir()
        options = {
            "work": str(work),
            "folder": str(daemon.project),
            "vsix": str(extension.vsix),
            "settings": {
                "breadcrumbs.enabled": False,
                "chat.disableAIFeatures": True,
                "editor.minimap.enabled": False,
                "workbench.colorTheme": "Default Dark Modern",
            },
            "environment": {"XDG_RUNTIME_DIR": str(daemon.runtime)},
        }
        process = await asyncio.create_subprocess_exec(
            "node",
            "test/harness/driver.mjs",
            json.dumps(options),
            cwd=extension.folder,
            env=ENVIRONMENT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=16 * 1024 * 1024,
        )
        workbench = cls(process)
        try:
            assert await workbench._read(START_S) == {"ready": True}
        except BaseException:
            await workbench.close()
            raise
        return workbench

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the window and end the editor."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(WAIT_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            raise

    # What a person does --------------------------------------------------------------------------------

    async def command(self, title: str) -> None:
        """Run a command from the palette, by its whole title."""
        await self._do("command", title=title)

    async def fill(self, what: str, text: str) -> None:
        """Fill the input box or quick pick that shows ``what``."""
        await self._do("fill", what=what, text=text)

    async def press(self, key: str) -> None:
        await self._do("press", key=key)

    async def click(self, selector: str, text: str = "") -> None:
        await self._do("click", selector=selector, text=text)

    async def click_status_bar(self) -> None:
        """Click this extension's item."""
        await self.click(_STATUS_BAR)

    async def open_view(self) -> None:
        """Show *Recalled memory*, in a side bar that is wide enough for the reasons."""
        await self.click(".activitybar .action-label[aria-label='memrecall']")
        await self._do("see", selector=".sidebar .composite.title", pattern="Recalled memory")
        await self._do("widen", selector=".part.sidebar", by=320)

    async def click_note(self, title: str) -> None:
        """Click a line of the tree."""
        await self.click(_TREE, title)

    # What a person sees --------------------------------------------------------------------------------

    async def see_row(self, text: str) -> str:
        """Wait for a line of the quick pick with this text, and return all of it."""
        return str(await self._do("see", selector=_ROWS, pattern=re.escape(text)))

    async def see_placeholder(self, text: str) -> None:
        """Wait until the quick pick's empty input says this."""
        selector = ".quick-input-widget input"
        await self._do("attribute", selector=selector, name="placeholder", pattern=re.escape(text))

    async def see_node(self, text: str, *, last: bool = False) -> str:
        """Wait for a line of the tree with this text, or that ends with it, and return all of it."""
        return str(await self._do("see", selector=_TREE, pattern=re.escape(text) + (r"\s*$" if last else "")))

    async def tree(self) -> list[str]:
        """The lines of the tree."""
        lines: list[str] = await self._do("texts", selector=_TREE)
        return [" ".join(line.split()) for line in lines]

    async def see_editor(self, text: str) -> None:
        """Wait for an open editor that shows this text."""
        # The editor puts no-break spaces where the file has blanks.
        pattern = re.escape(text).replace(r"\ ", r"\s")
        await self._do("see", selector=".editor-instance .view-lines", pattern=pattern)

    async def see_health(self, *states: str) -> None:
        """Wait until the status bar says one of these."""
        await self._do("attribute", selector=_STATUS_BAR, name="aria-label", pattern="|".join(states))

    async def screenshot(self, path: Path) -> None:
        """Take a picture of the window."""
        await self._do("screenshot", path=str(path))

    # The driver ----------------------------------------------------------------------------------------

    async def _do(self, action: str, **arguments: object) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": action, **arguments}).encode() + b"\n")
        await self._process.stdin.drain()
        answer = await self._read(WAIT_S)
        assert answer["ok"], f"{action} {arguments}: {answer['error']}"
        return answer["result"]

    async def _read(self, limit_s: float) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(limit_s):
            line = await self._process.stdout.readline()
        assert line, "the driver ended; what it says is above"
        return json.loads(line)


def _package(folder: Path) -> None:
    """Package what is in ``folder``, and install everything that takes."""
    with subprocess.Popen(
        ["node", "test/harness/tools.mjs"], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL
    ) as tools:  # at the same time as the packages: both wait for the network most of the time
        (folder / "node_modules").symlink_to(_packages(folder) / "node_modules")
        _run(folder, "npm", "run", "package", environment=ENVIRONMENT)
        assert tools.wait(INSTALL_S) == 0, "the tools cannot be installed"


def _packages(folder: Path) -> Path:
    """The folder with the extension's own packages, as its lock file names them."""
    manifests = [folder / "package.json", folder / "package-lock.json"]
    key = hashlib.sha256(b"".join(each.read_bytes() for each in manifests)).hexdigest()[:16]
    packages = _CACHE / f"packages-{key}"
    if not packages.exists():
        unfinished = packages.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        for each in manifests:
            shutil.copy(each, unfinished)
        install = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        _run(unfinished, *install, environment=ENVIRONMENT)
        unfinished.rename(packages)
    return packages


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(folder: Path, *command: str, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=INSTALL_S,
        check=False,
    )
    output = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{output}"
    return output


def daemon_command() -> dict[str, str]:
    """How a test in the extension host starts a daemon of this source tree."""
    return {
        "MEMRECALLD_COMMAND": f"{sys.executable} -m memrecalld.server.main",
        "PYTHONPATH": str(REPOSITORY),
    }
