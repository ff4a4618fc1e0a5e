"""A chat-completions server for tests: real TCP, and every byte of its answers chosen by the test."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[["Exchange"], Awaitable[None]]


@dataclass
class Exchange:
    """One request, and the connection to answer it on."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass
class ModelServer:
    """Plays its ``answers`` one after the other, the last one for ever."""

    answers: list[Answer]
    base_url: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """A client closed its connection."""
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = self.connections
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:] if line)
                }
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                exchange = Exchange(head[0].split(" ")[1], headers, body, connection, reader, writer)
                self.exchanges.append(exchange)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                self.asked.set()
                await answer(exchange)
                if writer.is_closing():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.left.set()
            writer.close()


@asynccontextmanager
async def model_server(*answers: Answer, sock: socket.socket | None = None) -> AsyncIterator[ModelServer]:
    """Serve on ``sock``, which listens already, or on a port of its own."""
    server = ModelServer(list(answers))
    open_connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_connections[task] = writer
        await server.serve(reader, writer)

    place = {"sock": sock} if sock is not None else {"host": "127.0.0.1", "port": 0}
    listener = await asyncio.start_server(connected, **place)
    server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()
        for writer in open_connections.values():
            writer.transport.abort()
        await asyncio.gather(*open_connections)
        await listener.wait_closed()


def raw(status: int, body: bytes, *, headers: str = "") -> Answer:
    """Answer with these bytes and keep the connection."""

    async def answer(exchange: Exchange) -> None:
        exchange.writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body
        )
        await exchange.writer.drain()

    return answer


def says(content: object, **message: object) -> Answer:
    """Answer with a completion whose message has this content."""
    completion = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content} | message}]}
    return raw(200, json.dumps(completion).encode(), headers="Content-Type: application/json\r\n")


async def never(exchange: Exchange) -> None:
    """Take the request and stay silent until the client leaves."""
    await exchange.reader.read()


async def hang_up(exchange: Exchange) -> None:
    """Close without a word."""
    exchange.writer.close()


async def hang_up_halfway(exchange: Exchange) -> None:
    """Announce more than is sent."""
    exchange.writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices":')
    await exchange.writer.drain()
    exchange.writer.close()
