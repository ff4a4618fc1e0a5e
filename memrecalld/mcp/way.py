"""The way to a daemon that may not be there yet, and may come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from memrecalld.client import DaemonUnavailable
from memrecalld.client.aio import AsyncClient

T = TypeVar("T")


class Way:
    """One connection, made when it is needed, and anew where it has ended."""

    def __init__(self, socket: str | None) -> None:
        """``socket`` is the daemon's, by default the usual one."""
        self._socket = socket
        self._client: AsyncClient | None = None
        self._connecting = asyncio.Lock()

    async def ask(self, question: Callable[[AsyncClient], Awaitable[T]]) -> T:
        """What ``question`` returns when it is put to the daemon; put again if the connection has ended.

        Raises ``ClientError``.
        """
        known = self._client
        client = await self._connected()
        try:
            return await question(client)
        except DaemonUnavailable:
            await self._forget(client)
            if client is not known:  # it was there a moment ago
                raise
        return await question(await self._connected())

    async def close(self) -> None:
        """Close the connection if there is one."""
        if self._client is not None:
            await self._forget(self._client)

    async def _connected(self) -> AsyncClient:
        async with self._connecting:
            if self._client is None:
                self._client = await AsyncClient.connect(self._socket)
            return self._client

    async def _forget(self, client: AsyncClient) -> None:
        if self._client is client:
            self._client = None
        await client.close()
