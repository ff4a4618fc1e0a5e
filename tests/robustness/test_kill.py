"""A daemon that is killed at any moment repeats nothing and loses nothing.

A note counts as received if the whole message that holds it can be read from the socket after the kill. The
daemon records a hand-over right before it writes it, so that what was received is never repeated. A kill
between these two, some hundredths of a millisecond long, leaves a record of what nobody received: the client
says at its next start what it received last, and the rest is given again.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.robustness.forge import Forge, ForgedDaemon
from tests.robustness.messages import notification, request, response, take_messages
from tests.support.notes import note
from tests.support.wire import WAIT_S

KILLS = 200
SESSIONS = 8
GENERATION = 40
"""Kills that a session lives through; then it is looked at what it was given, and others take its place."""

TOPICS = 80
NOTES_OF_A_TOPIC = 4
LONGEST_S = 0.03
"""Kills come at any moment up to this long after the first answer, in the middle of dozens of turns."""


def word(topic: int) -> str:
    """A word of this topic alone."""
    return "topic" + "abcdefghij"[topic // 10] + "klmnopqrst"[topic % 10]


class Agent:
    """One session: asks about one topic after the other, and answers as its own model."""

    def __init__(self, session: str, seed: int) -> None:
        self.session = session
        self.received: list[str] = []
        """Paths, in the order in which they came."""
        self.last_delivery = ""
        self.turns = 0
        self.interrupted = 0
        self._random = random.Random(seed)
        self._ids = iter(range(1, 1_000_000))

    async def work(self, daemon: ForgedDaemon, answered: asyncio.Event) -> None:
        """One turn after the other until the daemon is gone; everything that it sent by then is read."""
        reader, writer = await asyncio.open_unix_connection(str(daemon.socket))
        try:
            writer.write(
                request(
                    next(self._ids), "initialize", initializationOptions={"memrecall": {"selector": True}}
                )
            )
            arriving = bytearray()
            self._start(daemon, writer)
            while data := await reader.read(1 << 16):
                arriving += data
                for message in take_messages(arriving):
                    await self._handle(message, daemon, writer, answered)
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()
        self.interrupted += 1

    def _start(self, daemon: ForgedDaemon, writer: asyncio.StreamWriter) -> None:
        self.turns += 1
        query = word(self._random.randrange(TOPICS))
        self._turn = next(self._ids)
        params = {
            "sessionId": self.session,
            "query": query,
            "projectRoot": str(daemon.project),
            "lastDelivery": self.last_delivery,
        }
        writer.write(request(self._turn, "recall/start", **params))

    async def _handle(
        self,
        message: dict[str, Any],
        daemon: ForgedDaemon,
        writer: asyncio.StreamWriter,
        answered: asyncio.Event,
    ) -> None:
        method = message.get("method")
        result = message.get("result") or {}
        self._receive(message.get("params" if method else "result"))
        if method == "recall/fast" and message["params"]["pending"]:
            writer.write(request(next(self._ids), "recall/toolResult", sessionId=self.session))
        elif method == "recall/select":
            lines = [line.partition(" ")[0] for line in message["params"]["manifest"].splitlines()]
            chosen = self._random.sample(lines, min(len(lines), self._random.randint(0, 5)))
            writer.write(response(message["id"], {"selected": chosen}))
        elif result.get("state") == "pending":
            if self._random.random() < 0.1:
                writer.write(notification("recall/end", sessionId=self.session))
            else:
                writer.write(request(next(self._ids), "recall/toolResult", sessionId=self.session))
        elif message.get("id") == self._turn and method is None:
            answered.set()
            self._start(daemon, writer)

    def _receive(self, holder: dict[str, Any] | None) -> None:
        delivery = (holder or {}).get("delivery")
        if delivery is not None:
            self.last_delivery = delivery["id"]
            self.received += [document["path"] for document in delivery["documents"]]


async def still_offered(
    daemon: ForgedDaemon, session: str, last_delivery: str = "", but: Sequence[str] = ()
) -> list[str]:
    """What a session is given when it asks about everything, but for topics of which it has ``but`` all."""
    offered: list[str] = []
    reader, writer = await asyncio.open_unix_connection(str(daemon.socket))
    arriving = bytearray()
    ids = iter(range(1, 1_000_000))
    for topic in range(TOPICS):
        if sum(word(topic) in path for path in but) == NOTES_OF_A_TOPIC:
            continue
        while True:
            start = next(ids)
            params = {
                "sessionId": session,
                "query": word(topic),
                "projectRoot": str(daemon.project),
                "lastDelivery": last_delivery,
            }
            writer.write(request(start, "recall/start", **params))
            messages: list[dict[str, Any]] = []
            while not any(message.get("method") == "recall/fast" for message in messages):
                data = await reader.read(1 << 16)
                assert data, "the daemon has closed the connection"
                arriving += data
                messages += take_messages(arriving)
            fast = next(message["params"] for message in messages if message.get("method") == "recall/fast")
            delivery = fast["delivery"]
            writer.write(notification("recall/end", sessionId=session))
            if delivery is not None:
                last_delivery = delivery["id"]
                offered += [document["path"] for document in delivery["documents"]]
            if fast["endedBy"] == "settled" and not fast["partial"]:
                break  # a delivery has room for a topic's notes
    writer.transport.abort()
    return offered


async def killed_in_the_middle(daemon: ForgedDaemon, agents: list[Agent], moment_s: float) -> None:
    """Let the agents work, and kill the daemon ``moment_s`` after its first answer."""
    answered = asyncio.Event()
    async with asyncio.timeout(WAIT_S):
        working = [asyncio.create_task(agent.work(daemon, answered)) for agent in agents]
        await answered.wait()
        await asyncio.sleep(moment_s)
        daemon.kill()
        await asyncio.gather(*working)


async def test_a_killed_daemon_repeats_nothing_and_loses_nothing(tmp_path):
    dice = random.Random(2024)
    with Forge() as forge:
        daemon = ForgedDaemon(forge, tmp_path / "home", '[selector]\nkind = "client"\n')
        for topic in range(TOPICS):
            for number in range(NOTES_OF_A_TOPIC):
                text = note(f"Note {topic} {number}", f"about {word(topic)} {number}")
                daemon.write_note("project", f"{word(topic)}-{number}.md", text)
        with contextlib.closing(daemon):
            everything = await all_notes(daemon)
            assert len(everything) == TOPICS * NOTES_OF_A_TOPIC
            turns = 0
            for generation in range(KILLS // GENERATION):
                agents = [Agent(f"{generation}/{number}", dice.getrandbits(32)) for number in range(SESSIONS)]
                for _ in range(GENERATION):
                    daemon.start()
                    await killed_in_the_middle(daemon, agents, dice.random() * LONGEST_S)
                daemon.start()
                for agent in agents:
                    assert agent.interrupted == GENERATION
                    again = [path for path, times in Counter(agent.received).items() if times > 1]
                    assert not again, f"delivered twice: {again}"
                    offered = await still_offered(daemon, agent.session, agent.last_delivery, agent.received)
                    repeated = set(agent.received).intersection(offered)
                    assert not repeated, f"delivered again after the kills: {sorted(repeated)}"
                    lost = everything.difference(agent.received, offered)
                    assert not lost, f"lost by the kills: {sorted(lost)}"
                    turns += agent.turns
                daemon.stop()
    print(f"{KILLS} kills, {turns} turns")


async def all_notes(daemon: ForgedDaemon) -> set[str]:
    """The paths of all notes."""
    daemon.start()
    offered = await still_offered(daemon, "everything")
    daemon.stop()
    return set(offered)
