"""The raw client finds the faults it is there for; its peer here is a server that makes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.wire import ConnectionClosed, WireClient, frame

ANSWER = frame(b'{"jsonrpc":"2.0","id":1,"result":null}')
TEXT_ANSWER = frame(b'{"jsonrpc":"2.0","id":"1","result":null}')
NULL_ERROR = frame(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse Error"}}')


@asynccontextmanager
async def connected(
    folder: Path, *said: bytes, then: Callable[[asyncio.StreamReader], Awaitable[object]] | None = None
) -> AsyncIterator[WireClient]:
    """A client whose peer says these bytes and closes when the client has left, or after ``then``."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.writelines(said)
        await (then or asyncio.StreamReader.read)(reader)
        writer.close()

    async with await asyncio.start_unix_server(serve, folder / "s"):
        yield await WireClient.connect(folder / "s")


async def test_each_answer_once_is_fine(tmp_path):
    async with connected(tmp_path, ANSWER, TEXT_ANSWER) as client:
        await client.request("a", msg_id=1)
        await client.request("a", msg_id="1")
        await client.close()


async def test_a_second_answer_fails(tmp_path):
    async with connected(tmp_path, ANSWER, ANSWER) as client:
        await client.request("a", msg_id=1)
        with pytest.raises(AssertionError, match=r"twice: 1"):
            await client.close()


async def test_an_answer_with_another_type_of_id_fails(tmp_path):
    async with connected(tmp_path, ANSWER, TEXT_ANSWER) as client:
        await client.request("a", msg_id=1)
        with pytest.raises(AssertionError, match=r"nobody asked for, or that came twice: '1'"):
            await client.close()


async def test_a_missing_answer_fails_when_the_peer_closes(tmp_path):
    async with connected(tmp_path, then=lambda reader: reader.read(1)) as client:
        await client.request("a", msg_id=1)
        with pytest.raises(AssertionError, match="without an answer: 1"):
            await client.close()


async def test_an_error_that_nobody_took_fails(tmp_path):
    async with connected(tmp_path, NULL_ERROR) as client:
        with pytest.raises(AssertionError, match="1 unexpected"):
            await client.close()


async def test_an_error_that_was_taken_is_fine(tmp_path):
    async with connected(tmp_path, NULL_ERROR) as client:
        assert (await client.unattributed_error())["code"] == -32700
        await client.close()


async def test_a_message_cut_short_fails(tmp_path):
    async with connected(tmp_path, ANSWER[:-3], then=lambda reader: reader.read(1)) as client:
        await client.request("a", msg_id=1)
        with pytest.raises(AssertionError, match="inside a message"):
            await client.close()


async def test_waiting_ends_when_the_peer_closes(tmp_path):
    async with connected(tmp_path, then=lambda reader: reader.read(1)) as client:
        await client.request("a", msg_id=1)
        with pytest.raises(ConnectionClosed):
            await client.response(1)
        await client.abort()


async def test_a_notification_is_taken_once(tmp_path):
    said = [frame(b'{"jsonrpc":"2.0","method":"n","params":{"k":%d}}' % number) for number in (1, 2)]
    async with connected(tmp_path, *said) as client:
        assert await client.notification("n") == {"k": 1}
        assert await client.notification("n") == {"k": 2}
        await client.close()
