"""What the model behind a daemon answers, and when."""

from __future__ import annotations

import asyncio
import json
import socket

from tests.selectors.model_server import Exchange


class Choice:
    """Chooses the notes of these titles, and hangs up.

    With ``held`` the answer waits until ``release`` is set, and in any case for ``after_s`` seconds, since a
    model takes its time. A question that lacks some of the notes is not answered: it is of a turn that had a
    part of them only, which ``Turn.start`` cancels. Hanging up leaves no connection to be kept for another
    test's server.
    """

    def __init__(self, *titles: str, held: bool = False, after_s: float = 0.0) -> None:
        self.titles = titles
        self.release = asyncio.Event()
        self.abandoned = asyncio.Event()
        """The daemon closed the request before it was answered."""
        self._after_s = after_s
        if not held:
            self.release.set()

    async def __call__(self, exchange: Exchange) -> None:
        waiting = asyncio.create_task(self._wait())
        leaving = asyncio.create_task(exchange.reader.read())
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        ids = {title: line_id for line_id, title in manifest(exchange)}
        chosen = self.chosen(exchange)
        if not ids.keys() >= set(chosen):
            await leaving
        if leaving.done():
            self.abandoned.set()
        else:
            await answer(exchange, json.dumps({"selected": [ids[title] for title in chosen]}))
        for task in (waiting, leaving):
            task.cancel()
        exchange.writer.close()

    def chosen(self, exchange: Exchange) -> tuple[str, ...]:
        """Titles of the notes to choose for a question."""
        return self.titles

    async def _wait(self) -> None:
        await asyncio.sleep(self._after_s)
        await self.release.wait()


def selector(port: socket.socket) -> str:
    """The configuration that makes what listens there a daemon's selector."""
    base_url = f"http://127.0.0.1:{port.getsockname()[1]}/v1"
    return f'[selector]\nkind = "openai"\nbase_url = "{base_url}"\nmodel = "m"\n'


def query(exchange: Exchange) -> str:
    """The query in a question."""
    return _question(exchange)[0]


def manifest(exchange: Exchange) -> list[tuple[str, str]]:
    """Id and title of each note that a question offers."""
    # m7 project 2026-08-08 Title | description
    fields = [line.split(" ", 3) for line in _question(exchange)[1].splitlines()]
    return [(line_id, text.partition(" | ")[0]) for line_id, _, _, text in fields]


def says(content: str):
    """An answer with this content, after which the model hangs up."""

    async def say(exchange: Exchange) -> None:
        await answer(exchange, content)
        exchange.writer.close()

    return say


async def answer(exchange: Exchange, content: str) -> None:
    """Write a completion with this content."""
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
    exchange.writer.write(
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    await exchange.writer.drain()


def _question(exchange: Exchange) -> tuple[str, str]:
    content = exchange.body["messages"][-1]["content"]
    text, _, lines = content.removeprefix("Query:\n").rpartition("\n\nNotes:\n")
    return text, lines
