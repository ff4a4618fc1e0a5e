"""A bare echo on a Unix socket: reads a frame, answers bytes. Nothing can answer a request sooner.

``python -m tests.benchmarks.echo SOCKET``. The answer to a frame is as long as the frame's header
``Answer-Bytes`` says.
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Final, cast

import uvloop

_LENGTH: Final = re.compile(rb"Content-Length: (\d+)\r\nAnswer-Bytes: (\d+)\r\n\r\n")


class Echo(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one, though not by its class
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (head := _LENGTH.match(self._received)) is not None:
            end = head.end() + int(head[1])
            if len(self._received) < end:
                return
            self._received = self._received[end:]
            self._transport.write(bytes(int(head[2])))


async def _serve(path: str) -> None:
    server = await asyncio.get_running_loop().create_unix_server(Echo, path)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1]))
