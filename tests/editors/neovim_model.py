"""A model for the daemon of a Neovim test: it answers when the test says so, with notes by their titles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from tests.selectors.model_server import Answer, Exchange, says


def selector_config(base_url: str) -> str:
    """The daemon's configuration for a model at ``base_url``."""
    return f'[selector]\nkind = "openai"\nbase_url = "{base_url}"\nmodel = "m"\n'


def choose(*titles: str) -> Answer:
    """Choose the notes with these titles."""

    async def answer(exchange: Exchange) -> None:
        lines: Sequence[str] = exchange.body["messages"][-1]["content"].splitlines()
        chosen = [line.split()[0] for title in titles for line in lines if f" {title} | " in line]
        assert len(chosen) == len(titles), "the manifest lacks a note, or has it twice"
        await says(json.dumps({"selected": chosen}))(exchange)

    return answer


def once(released: asyncio.Event, answer: Answer) -> Answer:
    """Answer when ``released`` is set."""

    async def answer_later(exchange: Exchange) -> None:
        await released.wait()
        await answer(exchange)

    return answer_later
