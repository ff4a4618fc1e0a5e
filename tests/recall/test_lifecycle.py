"""Every order of events, kills too: one outcome a turn, nothing twice, nothing lost, nothing after a
cancellation, nothing across sessions."""

from __future__ import annotations

import functools
import itertools
import os
from collections import defaultdict
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memrecalld.recall.exchange import FastResult, ToolResult
from memrecalld.recall.session import SessionKey
from tests.recall.world import Client, Killed, World, note

P = ParamSpec("P")

WORDS = ("alpha", "beta", "gamma")
OWN, SHARED = SESSIONS = ("one", "two")
"""One has a single client, which tells from the beginning what it received last. The other is shared by one
that tells, too, and by processes that remember nothing; these have the detached turns."""

AGENTS = ("", "child")
NOTES = {
    name: note(name, body=f"{word} text", age_days=index)
    for index, (name, word) in enumerate((f"{word}-{number}", word) for word in WORDS for number in range(4))
}

LIMITS = [None, None, 200, 490, 620, 1000]
"""Of prompts: without notes one takes some 380 characters, and each note some 90."""


def mortal(
    rule: Callable[Concatenate[Lifecycle, P], None],
) -> Callable[Concatenate[Lifecycle, P], None]:
    """A rule in the course of which the process may be killed."""

    @functools.wraps(rule)
    def followed(self: Lifecycle, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            rule(self, *args, **kwargs)
        except Killed as killed:
            self.lose(killed)
        self.collect()

    return followed


class Lifecycle(RuleBasedStateMachine):
    """Drives one engine; the model of what may happen is a set of names for each (session, agent)."""

    @initialize(model=st.sampled_from([True, True, True, False]))
    def begin(self, model: bool) -> None:
        self.world = World(*NOTES.values(), model=model)
        self.clients: list[Client] = []
        self.received: dict[SessionKey, list[tuple[str, bytes]]] = defaultdict(list)
        self.ever_received: dict[SessionKey, set[tuple[str, bytes]]] = defaultdict(set)
        self.counted: dict[int, tuple[int, int]] = {}
        self.cancelled: dict[int, tuple[int, int]] = {}
        self.last: dict[SessionKey, str | None] = {
            SessionKey(session, agent): "" if session == OWN else None
            for session, agent in itertools.product(SESSIONS, AGENTS)
        }
        self.lost: dict[SessionKey, set[tuple[str, bytes]]] = defaultdict(set)
        """Never received, to be given again once the client says so."""
        self.forgone: dict[SessionKey, set[tuple[str, bytes]]] = defaultdict(set)
        """Never received, and nobody can say so."""

    # What clients do

    @rule(
        words=st.sampled_from(
            [[], ["alpha"], ["beta"], ["gamma"], ["alpha", "beta"], ["nothing"], ["nothing"]]
        ),
        session=st.sampled_from(SESSIONS),
        agent=st.sampled_from(AGENTS),
        detached=st.booleans(),
        owner=st.sampled_from(["a", "b"]),
        disk_hangs=st.sampled_from([False, False, False, True]),
        limit=st.sampled_from(LIMITS),
    )
    @mortal
    def start(
        self,
        words: list[str],
        session: str,
        agent: str,
        detached: bool,
        owner: str,
        disk_hangs: bool,
        limit: int | None,
    ) -> None:
        if disk_hangs and self.world.catalog.held is None:
            self.world.catalog.hold()
        self.open(" ".join(words), session, agent, detached, owner, limit)

    def open(
        self,
        query: str,
        session: str,
        agent: str = "",
        detached: bool = False,
        owner: str = "a",
        limit: int | None = None,
    ) -> Client:
        """Start a turn, whose client says what it received last if it can."""
        key = SessionKey(session, agent)
        last = None if detached and session == SHARED else self.last[key]
        if last is not None:
            self.lost[key].clear()
        client = self.world.start(
            query,
            session=session,
            agent=agent,
            detached=detached,
            owner=owner,
            max_prompt_chars=limit,
            last_delivery=last,
        )
        self.clients.append(client)
        return client

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), limit=st.sampled_from(LIMITS))
    @mortal
    def tool_result(self, data: st.DataObject, limit: int | None) -> None:
        client = data.draw(st.sampled_from(self.clients[-6:]))
        client.ask_tool_result(turn_id=client.turn.id, max_prompt_chars=limit)

    @rule(word=st.sampled_from(WORDS), session=st.sampled_from(SESSIONS), chosen=st.integers(0, 5))
    @mortal
    def whole_turn(self, word: str, session: str, chosen: int) -> None:
        """The common course, so that the uncommon ones around it find something to disturb."""
        asked = len(self.world.model.questions)
        client = self.open(word, session)
        for question in self.world.model.questions[asked:]:
            question.answer(*question.names[:chosen])
        client.ask_tool_result(turn_id=client.turn.id)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        client = data.draw(st.sampled_from(self.clients[-6:]))
        self.world.engine.end(client.key, client.turn.id, client.owner)

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        client = data.draw(st.sampled_from(self.clients[-6:]))
        if client.engine is not self.world.engine:
            return  # another process has no turns of this one
        was_open = client.turn.open
        latest = [each for each in self.clients if each.key == client.key][-1] is client
        self.world.engine.discard_prompt(client.turn)
        if was_open:
            self.cancelled[id(client)] = (len(client.fasts), len(client.answers))
        if was_open or latest:
            # The prompt is thrown away, so its notes may come again.
            mine = {name for result in (*client.fasts, *client.answers) for name, _ in documents(result)}
            self.received[client.key] = [each for each in self.received[client.key] if each[0] not in mine]

    @rule(kind=st.sampled_from(["reset", "disconnect", "restart"]), data=st.data())
    def interrupt(self, kind: str, data: st.DataObject) -> None:
        engine = self.world.engine
        if kind == "reset":
            key = SessionKey(data.draw(st.sampled_from(SESSIONS)), data.draw(st.sampled_from(AGENTS)))
            engine.reset(key)
            self.received[key].clear()
            self.lost[key].clear()
            self.forgone[key].clear()
        elif kind == "disconnect":
            owner = data.draw(st.sampled_from(["a", "b"]))
            engine.disconnect(owner)
            for client in self.clients:
                if client.owner == owner:
                    client.connected = False
        else:
            engine.shutdown()
            self.world.restart(model=self.world.engine.selection is not None)

    @rule(at_once=st.booleans())
    def kill(self, at_once: bool) -> None:
        """Now, or between the next record of a hand-over and its message."""
        if at_once:
            self.die()
        else:
            self.world.dying = True

    def lose(self, killed: Killed) -> None:
        """The process was killed, and its client never got a delivery that is recorded."""
        self.collect()
        client, lost = killed.client, documents(killed.result)
        anybody = client.detached and isinstance(killed.result, ToolResult)
        first = client.last_delivery is None and self.last[client.key] is None
        hook = client.detached and client.key.session_id == SHARED
        (self.forgone if anybody or first or hook else self.lost)[client.key].update(lost)
        # What the client has of these notes is the text before a change, and may come again after another.
        names = {name for name, _ in lost}
        self.received[client.key] = [each for each in self.received[client.key] if each[0] not in names]
        self.die()

    def die(self) -> None:
        """Nobody is told anything; the clients of the process have what they have received."""
        self.collect()
        self.clients.clear()
        self.counted.clear()
        self.cancelled.clear()
        self.world.kill(model=self.world.engine.selection is not None)

    # What the world does

    @precondition(lambda self: any(not question.closed for question in self.world.model.questions))
    @rule(
        data=st.data(),
        outcome=st.sampled_from(["choice", "choice", "empty", "failure"]),
        disk_hangs=st.sampled_from([False, False, True]),
    )
    @mortal
    def settle(self, data: st.DataObject, outcome: str, disk_hangs: bool) -> None:
        if disk_hangs and self.world.catalog.held is None:
            self.world.catalog.hold()
        question = data.draw(
            st.sampled_from([each for each in self.world.model.questions if not each.closed])
        )
        match outcome:
            case "choice":
                question.answer(*data.draw(st.lists(st.sampled_from(question.names), max_size=5)))
            case "empty":
                question.answer()
            case _:
                question.fail()

    @rule(seconds=st.sampled_from([0.03, 0.05, 0.1, 2.0, 5.0, 31.0, 1900.0, 3700.0]))
    @mortal
    def advance(self, seconds: float) -> None:
        self.world.clock.advance(seconds)

    @precondition(lambda self: self.world.catalog.held is not None)
    @rule()
    @mortal
    def disk_answers(self) -> None:
        self.world.catalog.release()

    @rule(unread=st.sampled_from([(), (), *[(word,) for word in WORDS], WORDS]))
    def read(self, unread: tuple[str, ...]) -> None:
        """From now on the notes about these words cannot be read in time."""
        self.world.catalog.unread = {name for name in NOTES if name.startswith(unread)} if unread else set()

    @rule(name=st.sampled_from(sorted(NOTES)), version=st.sampled_from(["", "edited", "deleted"]))
    def edit(self, name: str, version: str) -> None:
        catalog = self.world.catalog
        catalog.documents = [each for each in catalog.documents if each.title != name]
        if version != "deleted":
            original = NOTES[name]
            catalog.documents.append(note(name, body=f"{original.body} {version}".strip()))

    # What must hold

    def collect(self) -> None:
        """Take note of everything that reached a client since the last look."""
        for client in self.clients:
            fasts, answers = self.counted.get(id(client), (0, 0))
            for result in (*client.fasts[fasts:], *client.answers[answers:]):
                self.received[client.key] += documents(result)
                if result.delivery is not None and not (client.detached and client.key.session_id == SHARED):
                    self.last[client.key] = result.delivery.id
                self.ever_received[client.key].update(documents(result))
            self.counted[id(client)] = (len(client.fasts), len(client.answers))

    @invariant()
    def a_turn_is_open_or_has_exactly_one_outcome(self) -> None:
        for client in self.clients:
            assert len(client.outcomes) == (0 if client.turn.open else 1)

    @invariant()
    def every_outcome_is_recorded(self) -> None:
        ended = sum(len(client.outcomes) for client in self.clients)
        assert self.world.telemetry.counters.get("turns", 0) == ended

    @invariant()
    def one_fast_result_at_most_of_two_notes(self) -> None:
        for client in self.clients:
            assert len(client.fasts) <= 1
            for fast in client.fasts:
                limit = 2 if fast.delivery is not None and fast.delivery.phase == "fast" else 5
                assert len(documents(fast)) <= limit

    @invariant()
    def one_delivered_tool_result_at_most_of_five_notes(self) -> None:
        for client in self.clients:
            delivered = [each for each in client.answers if each.state == "delivered"]
            assert len(delivered) <= 1
            assert all(1 <= len(documents(each)) <= 5 for each in delivered)

    @invariant()
    def nothing_comes_twice_in_a_session(self) -> None:
        for key, received in self.received.items():
            latest: dict[str, bytes] = {}
            for name, content in received:
                assert latest.get(name) != content, f"{name} came twice to {key}"
                latest[name] = content

    @invariant()
    def nothing_counts_as_delivered_that_no_client_received(self) -> None:
        for session, agent in itertools.product(SESSIONS, AGENTS):
            key = SessionKey(session, agent)
            delivered = self.world.engine.session(key).delivered
            for each in self.world.catalog.documents:
                known = self.ever_received[key] | self.lost[key] | self.forgone[key]
                assert each not in delivered or (each.title, each.body.encode()) in known

    @invariant()
    def nothing_comes_after_a_cancellation(self) -> None:
        for client in self.clients:
            if id(client) in self.cancelled:
                fasts, answers = self.cancelled[id(client)]
                assert len(client.fasts) == fasts
                assert all(answer.state == "none" for answer in client.answers[answers:])

    @invariant()
    def prompts_hold_what_their_lists_say(self) -> None:
        for client in self.clients:
            for result in (*client.fasts, *client.answers):
                if result.delivery is not None:
                    paths = {
                        line[2:]
                        for line in result.delivery.prompt.splitlines()
                        if line.startswith("| /notes/")
                    }
                    assert paths == {each.path for each in result.delivery.documents}

    @invariant()
    def one_open_turn_a_session_and_none_forgotten(self) -> None:
        open_keys = [client.key for client in self.clients if client.turn.open]
        assert len(open_keys) == len(set(open_keys)) == self.world.engine.open_turns

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.dying = False
        self.world.engine.shutdown()
        for client in self.clients:
            assert len(client.outcomes) == 1
        assert self.world.clock.pending == 0


def documents(result: FastResult | ToolResult) -> list[tuple[str, bytes]]:
    """Name and content of each delivered note; the content stands for its hash."""
    if result.delivery is None:
        return []
    return [(each.title, each.body.encode()) for each in result.delivery.documents]


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=int(os.environ.get("LIFECYCLE_RUNS", "2000")),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
