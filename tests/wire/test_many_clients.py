"""Many clients at once: to each its own answers, whatever ids they use and however they leave."""

from __future__ import annotations

import asyncio
import random

from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.model import Choice, query
from tests.wire.turns import CANCELLED, Turn, poll, titles

CLIENTS = 50
IDS = range(1, 21)
TURN_IDS = range(1, 21, 4)
"""Those of them that belong to turns; the others, and all of their digits, to searches."""
DELAY_S = 0.03
"""The most that the model of the crowd takes for an answer."""


class PartnerChoice(Choice):
    """Chooses, after a while, the partner of the note that the query names."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    async def __call__(self, exchange):
        await asyncio.sleep(self._random.random() * DELAY_S)
        await super().__call__(exchange)

    def chosen(self, exchange):
        return (partner(query(exchange)),)


def partner(marker):
    return f"Partner {marker.removeprefix('marker')}"


async def test_every_answer_of_a_crowd_reaches_its_own_client(shared_model, project, selecting_daemon):
    markers = [f"marker{1000 + number}" for number in range(CLIENTS)]
    for marker in markers:
        project.write(marker, note(f"Note {marker}", "what to find"))
        project.write(f"partner-{marker}", note(partner(marker), "what only the model finds", marker[6:]))
    shared_model.answers = [PartnerChoice(seed=31)]
    async with await WireClient.connect(selecting_daemon.socket) as client:
        await project.read(client)

    async def one_client(marker):
        async with await WireClient.connect(selecting_daemon.socket) as client:
            root = {"rootUri": project.root.as_uri()}
            await client.response(await client.request("initialize", root, msg_id="initialize"))
            # All of them are in flight together.
            for number in IDS:
                await client.request("memory/search", {"query": marker}, msg_id=str(number))
                if number in TURN_IDS:
                    params = {"sessionId": f"{marker} {number}", "query": marker}
                    await client.request("recall/start", params, msg_id=number)
                else:
                    await client.request("memory/search", {"query": marker}, msg_id=number)
            for msg_id in (*map(str, IDS), *(number for number in IDS if number not in TURN_IDS)):
                found = (await client.response(msg_id))["result"]["documents"]
                assert [document["title"] for document in found] == [f"Note {marker}"]
            for number in TURN_IDS:
                await one_turn(client, marker, number)

    async def one_turn(client, marker, number):
        fast = await client.fast(number)
        key = {"sessionId": f"{marker} {number}", "turnId": fast["turnId"]}
        assert fast["sessionId"] == key["sessionId"]
        result = await poll(
            lambda: client.call("recall/toolResult", key),
            lambda answer: answer["state"] != "pending",
            pause_s=0.1,
        )
        received = titles(fast["delivery"]) + titles(result["delivery"])
        # A busy machine may be late with the first prompt; nobody's notes get mixed up for that.
        assert set(received) <= {f"Note {marker}", partner(marker)}
        assert received[-1:] == [partner(marker)]
        response = await client.response(number)
        assert response["result"]["turnId"] == fast["turnId"]
        assert response["result"]["outcome"]["deliveryPoint"] != "discarded"

    await asyncio.gather(*map(one_client, markers))


async def test_cancelling_a_request_leaves_the_same_id_of_another_client_alone(
    shared_model, client, project, selecting_daemon
):
    project.write("deploy", note("Deploy", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat"))
    await project.read(client)  # else the turn that has the id might be another one
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    async with (
        await WireClient.connect(selecting_daemon.socket) as a,
        await WireClient.connect(selecting_daemon.socket) as b,
    ):
        of_a = await Turn.start(a, "deploy", project, msg_id=1)
        of_b = await Turn.start(b, "deploy", project, msg_id=1)
        await of_a.cancel()
        assert (await of_a.error())["code"] == CANCELLED
        assert (await of_b.tool_result())["state"] == "pending"
        choice.release.set()
        assert titles((await of_b.settled_tool_result())["delivery"]) == ["Lunch"]
        assert (await of_b.outcome())["deliveryPoint"] == "tool_result"


async def test_a_number_and_its_digits_are_two_requests(shared_model, client, project):
    project.write("deploy", note("Deploy", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat"))
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    await project.read(client)
    number = await Turn.start(client, "deploy", project, msg_id=77)
    digits = await Turn.start(client, "deploy", project, msg_id="77")
    await client.notify("$/cancelRequest", {"id": digits.request_id})
    assert (await digits.error())["code"] == CANCELLED
    assert (await number.tool_result())["state"] == "pending"
    choice.release.set()
    await number.settled_tool_result()
    assert (await number.outcome())["deliveryPoint"] == "tool_result"
