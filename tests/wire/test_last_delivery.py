"""A client says what it received last, and is given again what a killed daemon recorded and never sent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.dying import DyingDaemon
from tests.support.notes import note
from tests.support.wire import ConnectionClosed, WireClient
from tests.wire.turns import Turn, new_session

WORDS = ("heron", "lapwing", "osprey")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DyingDaemon]:
    """One for all tests; each has a session of its own."""
    daemon = DyingDaemon(tmp_path_factory.mktemp("dying") / "home")
    for word in WORDS:
        daemon.write_note("user", f"{word}.md", note(word.title(), f"about the {word}"))
    with contextlib.closing(daemon):
        daemon.start()
        yield daemon


async def given(daemon: DyingDaemon, session: str, word: str, **params: Any) -> tuple[list[str], str | None]:
    """Titles and id of what a new connection is given."""
    async with await WireClient.connect(daemon.socket) as client:
        turn = await Turn.start(client, word, session=session, **params)
        delivery = turn.fast["delivery"]
        return turn.fast_titles, None if delivery is None else delivery["id"]


async def lose(daemon: DyingDaemon, session: str, word: str, **params: Any) -> None:
    """Have a delivery recorded that never arrives, and the daemon come back."""
    daemon.die_at_next_handover()
    client = await WireClient.connect(daemon.socket)
    with pytest.raises(ConnectionClosed):
        await Turn.start(client, word, session=session, **params)
    await client.abort()
    daemon.return_from_death()


async def test_what_came_after_the_last_delivery_is_given_again_and_nothing_else(daemon):
    session = new_session()
    titles, last = await given(daemon, session, "heron", lastDelivery="")
    assert titles == ["Heron"]
    await lose(daemon, session, "lapwing", lastDelivery=last)
    assert (await given(daemon, session, "heron", lastDelivery=last))[0] == []
    titles, last = await given(daemon, session, "lapwing", lastDelivery=last)
    assert titles == ["Lapwing"]
    daemon.kill()
    daemon.start()
    for word in ("heron", "lapwing"):
        assert (await given(daemon, session, word, lastDelivery=last))[0] == []


async def test_without_any_delivery_everything_recorded_is_given_again(daemon):
    session = new_session()
    await lose(daemon, session, "heron", lastDelivery="")
    assert (await given(daemon, session, "heron", lastDelivery=""))[0] == ["Heron"]


@pytest.mark.parametrize(
    "last", [None, "nonsense", "1", "1.2.3", "-1.0", "٣.٣", f"{10**30}.0", "x" * 100_000]
)
async def test_nothing_is_taken_back_for_a_client_that_does_not_tell(daemon, last):
    session = new_session()
    _, known = await given(daemon, session, "heron")
    daemon.kill()
    daemon.start()
    params = {} if last is None else {"lastDelivery": last}
    assert (await given(daemon, session, "heron", **params))[0] == []
    assert (await given(daemon, session, "heron", lastDelivery=known))[0] == []


async def test_what_other_clients_of_the_session_were_given_is_not_taken_back(daemon):
    session = new_session()
    _, last = await given(daemon, session, "heron", lastDelivery="")
    assert (await given(daemon, session, "osprey"))[0] == ["Osprey"]
    await lose(daemon, session, "lapwing", lastDelivery=last)
    assert (await given(daemon, session, "osprey", lastDelivery=last))[0] == []
    assert (await given(daemon, session, "lapwing", lastDelivery=last))[0] == ["Lapwing"]


async def test_a_daemon_that_goes_on_takes_nothing_back(daemon):
    session = new_session()
    _, first = await given(daemon, session, "heron", lastDelivery="")
    await given(daemon, session, "lapwing", lastDelivery=first)
    assert (await given(daemon, session, "lapwing", lastDelivery=first))[0] == []
    assert (await given(daemon, session, "heron", lastDelivery=""))[0] == []


async def test_what_was_lost_is_given_again_though_the_session_was_used_meanwhile(daemon):
    session = new_session()
    _, last = await given(daemon, session, "heron", lastDelivery="")
    await lose(daemon, session, "lapwing", lastDelivery=last)
    assert (await given(daemon, session, "osprey"))[0] == ["Osprey"]  # by a client that does not tell
    assert (await given(daemon, session, "lapwing", lastDelivery=last))[0] == ["Lapwing"]


async def test_ids_increase_over_restarts(daemon):
    numbers = []
    for _ in range(3):
        _, last = await given(daemon, new_session(), "heron")
        assert last is not None
        numbers.append(int(last.partition(".")[2]))
        daemon.kill()
        daemon.start()
    assert numbers == sorted(set(numbers))
