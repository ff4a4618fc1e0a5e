"""One recall at a time: what is handed out when, and in which outcome it ends."""

from __future__ import annotations

import pytest

from memrecalld.errors import ProjectMemoryError, TooManyTurns, TurnNotYours
from memrecalld.recall.session import SessionKey
from memrecalld.recall.sessions import HELD_SESSION_S
from memrecalld.recall.turn import READ_ON_S
from tests.recall.world import World, names, note

DEPLOY = note("deploy", body="deploy with care")
DEPLOY_2 = note("deploy-2", body="deploy twice", age_days=1)
DEPLOY_3 = note("deploy-3", body="deploy thrice", age_days=2)
LUNCH = note("lunch", body="the menu")


@pytest.fixture
def world() -> World:
    return World(DEPLOY, DEPLOY_2, DEPLOY_3, LUNCH)


def test_fast_result_is_published_at_once_and_the_turn_goes_on(world: World) -> None:
    client = world.start("deploy")
    (fast,) = client.fasts
    assert fast.ended_by == "published"
    assert fast.pending
    assert fast.wait_ms == 0
    assert fast.delivery is not None
    assert (fast.delivery.phase, fast.delivery.strategy) == ("fast", "heuristic")
    assert names(fast) == ["deploy", "deploy-2"]
    assert client.turn.open


def test_model_choice_is_delivered_at_the_tool_result_without_the_fast_notes(world: World) -> None:
    client = world.start("deploy")
    assert client.tool_result("grep").state == "pending"
    world.clock.advance(0.3)
    world.model.questions[0].answer("deploy", "deploy-3", "lunch")
    result = client.tool_result("grep")
    assert result.state == "delivered"
    assert names(result) == ["deploy-3", "lunch"]
    assert result.delivery is not None
    assert (result.delivery.phase, result.delivery.strategy) == ("refined", "model")
    assert "deploy.md" not in result.delivery.prompt
    assert (client.outcome.delivery_point, client.outcome.strategy) == ("tool_result", "model")
    assert (client.outcome.documents, client.outcome.fast_documents) == (2, 2)
    assert client.outcome.select_ms == pytest.approx(300)
    assert client.tool_result("grep").state == "none"


def test_turn_without_tool_result_has_no_safe_delivery_point(world: World) -> None:
    client = world.start("deploy")
    world.model.questions[0].answer("lunch")
    client.end()
    assert client.outcome.discard_reason == "no_safe_delivery_point"
    assert names(world.start("menu").fasts[0]) == ["lunch"], "what was not delivered stays eligible"


def test_turn_that_ends_while_the_model_thinks_closes_the_question(world: World) -> None:
    client = world.start("deploy")
    client.end()
    assert world.model.questions[0].closed
    assert client.outcome.discard_reason == "no_safe_delivery_point"
    assert client.outcome.strategy == "none"


def test_choice_of_nothing_but_fast_notes_is_already_delivered(world: World) -> None:
    client = world.start("deploy")
    world.model.questions[0].answer("deploy-2", "deploy")
    assert client.outcome.discard_reason == "already_delivered"
    assert client.tool_result().state == "already_delivered"
    client.end()
    assert len(client.outcomes) == 1


def test_empty_choice_has_no_relevant_results(world: World) -> None:
    client = world.start("deploy")
    world.model.questions[0].answer()
    assert client.outcome.discard_reason == "no_relevant_results"
    assert client.outcome.strategy == "model"
    assert client.tool_result().state == "no_relevant_results"


def test_choice_before_the_ceiling_goes_into_the_first_prompt_when_no_word_matched(world: World) -> None:
    client = world.start("unrelated words")
    assert not client.fasts
    world.clock.advance(0.05)
    world.model.questions[0].answer("lunch")
    (fast,) = client.fasts
    assert (fast.ended_by, fast.pending, names(fast)) == ("settled", False, ["lunch"])
    assert client.outcome.delivery_point == "initial"
    assert client.outcome.wait_ms == pytest.approx(50)


def test_wait_with_nothing_to_deliver_runs_to_the_ceiling_and_no_further(world: World) -> None:
    client = world.start("unrelated words")
    world.clock.advance(0.0999)
    assert not client.fasts
    world.clock.advance(0.0001)
    (fast,) = client.fasts
    assert (fast.ended_by, fast.delivery, fast.pending) == ("ceiling", None, True)
    assert fast.wait_ms == pytest.approx(100)
    world.model.questions[0].answer("lunch")
    assert names(client.tool_result()) == ["lunch"]


def test_without_selector_the_wait_ends_at_once_with_the_best_five() -> None:
    world = World(*(note(f"n{i}", body="deploy", age_days=i) for i in range(7)), model=False)
    client = world.start("deploy")
    (fast,) = client.fasts
    assert (fast.ended_by, fast.pending, fast.wait_ms) == ("settled", False, 0)
    assert fast.delivery is not None
    assert (fast.delivery.phase, fast.delivery.strategy) == ("refined", "heuristic")
    assert client.fast_names == ["n0", "n1", "n2", "n3", "n4"]
    assert client.outcome.delivery_point == "initial"


def test_without_selector_and_without_a_match_the_wait_ends_at_once() -> None:
    world = World(LUNCH, model=False)
    client = world.start("deploy")
    (fast,) = client.fasts
    assert (fast.ended_by, fast.delivery, fast.pending, fast.wait_ms) == ("settled", None, False, 0)
    assert client.outcome.discard_reason == "no_relevant_results"


def test_query_without_a_word_asks_no_model(world: World) -> None:
    for query in ("", "  ", "👍", "???"):
        client = world.start(query)
        assert client.fasts[0].delivery is None
        assert client.outcome.discard_reason == "no_relevant_results"
    assert not world.model.questions


def test_no_notes_ask_no_model() -> None:
    world = World()
    client = world.start("deploy")
    assert client.outcome.discard_reason == "no_relevant_results"
    assert not world.model.questions


@pytest.mark.parametrize("reason", ["connection", "timeout"])
def test_failed_selection_settles_as_the_best_of_the_scorer(reason: str) -> None:
    world = World(*(note(f"n{i}", body="deploy", age_days=i) for i in range(7)))
    client = world.start("deploy")
    if reason == "timeout":
        world.clock.advance(30)
    else:
        world.model.questions[0].fail(reason)
    result = client.tool_result()
    assert names(result) == ["n2", "n3", "n4"]
    assert result.delivery is not None
    assert result.delivery.strategy == "heuristic"
    assert client.outcome.strategy == "heuristic"
    assert world.telemetry.counters[f"selector.failed.{reason}"] == 1


def test_selection_that_times_out_closes_the_question_and_a_late_answer_changes_nothing(world: World) -> None:
    client = world.start("deploy")
    (question,) = world.model.questions
    world.clock.advance(29.9)
    assert not question.closed
    world.clock.advance(0.1)
    assert question.closed
    question._done([LUNCH])
    assert names(client.tool_result()) == ["deploy-3"]


def test_new_query_supersedes_and_its_results_never_cross_over(world: World) -> None:
    first = world.start("deploy")
    second = world.start("menu")
    assert first.outcome.discard_reason == "new_query"
    assert world.model.questions[0].closed
    assert first.tool_result(turn_id=first.turn.id).state == "none"
    world.model.questions[1].answer("deploy-3", "lunch")
    assert names(second.tool_result()) == ["deploy-3"]


def test_reset_ends_the_turn_and_makes_everything_eligible_again(world: World) -> None:
    client = world.start("deploy")
    world.engine.reset(client.key)
    assert client.outcome.discard_reason == "reset"
    assert world.start("deploy").fast_names == ["deploy", "deploy-2"]


def test_cancelled_turn_delivers_nothing_more_and_gives_back_what_it_had(world: World) -> None:
    client = world.start("deploy")
    client.cancel()
    assert client.outcome.discard_reason == "abort"
    assert client.tool_result().state == "none"
    assert world.start("deploy").fast_names == ["deploy", "deploy-2"]


def test_cancelled_wait_sends_no_fast_result(world: World) -> None:
    client = world.start("unrelated words")
    client.cancel()
    world.clock.advance(1)
    assert not client.fasts
    assert client.outcome.discard_reason == "abort"


def test_turn_cancelled_while_notes_are_read_delivers_nothing(world: World) -> None:
    world.catalog.hold()
    client = world.start("deploy")
    client.cancel()
    world.catalog.release()
    assert not client.fasts
    assert len(client.outcomes) == 1
    assert not world.model.questions


def test_lost_connection_ends_its_turns_and_keeps_what_was_handed_over(world: World) -> None:
    client = world.start("deploy", owner="a")
    other = world.start("deploy", session="other", owner="b")
    world.engine.disconnect("a")
    assert client.outcome.discard_reason == "abort"
    assert other.turn.open
    assert world.start("deploy").fast_names == ["deploy-3"]


def test_fast_result_that_reaches_nobody_is_not_delivered(world: World) -> None:
    world.catalog.hold()
    client = world.start("deploy")
    client.connected = False
    world.catalog.release()
    assert client.outcome.discard_reason == "abort"
    assert client.outcome.fast_documents == 0
    assert world.start("deploy").fast_names == ["deploy", "deploy-2"]


def test_refined_result_that_reaches_nobody_can_be_asked_for_again(world: World) -> None:
    client = world.start("deploy", detached=True)
    world.model.questions[0].answer("lunch")
    client.connected = False
    client.ask_tool_result()
    client.connected = True
    assert names(client.tool_result()) == ["lunch"]
    assert client.outcome.delivery_point == "tool_result"


def test_hand_over_that_was_never_sent_is_taken_back(world: World) -> None:
    client = world.start("deploy")
    (handover,) = client.handovers
    assert handover is not None
    world.engine.disconnect("client")
    handover.take_back()
    assert world.start("deploy").fast_names == ["deploy", "deploy-2"]


def test_shutdown_ends_every_turn(world: World) -> None:
    clients = [world.start("deploy", session=f"s{i}") for i in range(3)]
    world.engine.shutdown()
    assert [each.outcome.discard_reason for each in clients] == ["shutdown"] * 3
    assert world.engine.open_turns == 0


def test_detached_turn_outlives_its_connection_and_expires_after_half_an_hour(world: World) -> None:
    client = world.start("deploy", detached=True)
    world.engine.disconnect("client")
    assert client.turn.open
    world.clock.advance(29 * 60)
    assert client.turn.open
    world.clock.advance(60)
    assert client.outcome.discard_reason == "expired"


def test_unreadable_project_fails_with_its_error() -> None:
    world = World(DEPLOY)
    world.catalog.error = ProjectMemoryError("unreadable", "/p")
    client = world.start("deploy")
    (fast,) = client.fasts
    assert (fast.delivery, fast.pending) == (None, False)
    assert client.outcome.discard_reason == "failed"
    assert client.errors == [world.catalog.error]


def test_scan_beyond_the_ceiling_still_serves_the_tool_result(world: World) -> None:
    world.catalog.hold()
    client = world.start("deploy")
    world.clock.advance(0.2)
    assert client.fasts[0].ended_by == "ceiling"
    world.catalog.release()
    assert len(client.fasts) == 1
    world.model.questions[0].answer("deploy")
    assert names(client.tool_result()) == ["deploy"]
    assert client.outcome.scan_ms == pytest.approx(200)


def test_note_deleted_while_the_model_thinks_is_left_out(world: World) -> None:
    client = world.start("deploy")
    world.catalog.documents.remove(DEPLOY_3)
    world.model.questions[0].answer("deploy-3", "lunch")
    assert names(client.tool_result()) == ["lunch"]


def test_turn_whose_every_chosen_note_was_deleted_has_no_relevant_results(world: World) -> None:
    client = world.start("deploy")
    world.catalog.documents.remove(LUNCH)
    world.model.questions[0].answer("lunch")
    assert client.tool_result().state == "no_relevant_results"
    assert client.outcome.discard_reason == "no_relevant_results"


def test_note_edited_while_the_model_thinks_goes_out_as_it_is_now(world: World) -> None:
    client = world.start("deploy")
    world.catalog.documents.remove(LUNCH)
    world.catalog.documents.append(note("lunch", body="closed today"))
    world.model.questions[0].answer("lunch")
    result = client.tool_result()
    assert result.delivery is not None
    assert "closed today" in result.delivery.prompt


def test_turn_that_ends_while_notes_are_read_again_answers_the_tool_result(world: World) -> None:
    client = world.start("deploy")
    world.model.questions[0].answer("lunch")
    world.catalog.hold()
    client.ask_tool_result()
    client.ask_tool_result()
    client.end()
    world.catalog.release()
    assert [each.state for each in client.answers] == ["pending", "none"]
    assert client.outcome.discard_reason == "no_safe_delivery_point"


def test_session_never_gets_the_same_note_twice(world: World) -> None:
    seen = []
    for _ in range(20):
        asked = len(world.model.questions)
        client = world.start("deploy menu")
        for question in world.model.questions[asked:]:
            question.answer(*question.names[:5])
        client.tool_result()
        for result in (*client.fasts, *client.answers):
            seen += names(result)
        client.end()
    assert sorted(seen) == ["deploy", "deploy-2", "deploy-3", "lunch"]


def test_parent_and_sub_agent_each_get_the_note_once(world: World) -> None:
    assert world.start("deploy").fast_names == ["deploy", "deploy-2"]
    assert world.start("deploy", agent="child").fast_names == ["deploy", "deploy-2"]
    assert world.start("deploy").fast_names == ["deploy-3"]
    assert world.start("deploy", agent="child").fast_names == ["deploy-3"]


def test_delivered_set_outlives_the_process(world: World) -> None:
    world.start("deploy")
    world.restart()
    assert world.start("deploy").fast_names == ["deploy-3"]


def test_touched_note_is_not_repeated_and_a_changed_one_may_be(world: World) -> None:
    world.start("menu")
    world.catalog.documents[-1] = note("lunch", body="the menu", age_days=-1)
    assert world.start("menu").fasts == []
    world.catalog.documents[-1] = note("lunch", body="the menu of today")
    assert world.start("menu").fast_names == ["lunch"]


def test_note_changed_back_may_be_delivered_again() -> None:
    world = World(LUNCH, model=False)
    world.start("menu")
    world.catalog.documents = [note("lunch", body="another menu")]
    assert world.start("menu").fast_names == ["lunch"]
    world.catalog.documents = [LUNCH]
    assert world.start("menu").fast_names == ["lunch"], "the text that the model saw last is another one"


def test_renamed_note_is_not_repeated(world: World) -> None:
    world.start("menu")
    moved = note("moved", body="the menu", content_hash=LUNCH.content_hash)
    world.catalog.documents[-1] = moved
    assert world.start("menu").fasts == []


def test_two_copies_of_one_text_are_delivered_once() -> None:
    copy = note("copy", body="deploy with care", content_hash=DEPLOY.content_hash, age_days=1)
    world = World(DEPLOY, copy, DEPLOY_3)
    assert world.start("deploy").fast_names == ["deploy", "deploy-3"]


def test_tool_in_use_keeps_its_manual_out_of_the_deterministic_result(world: World) -> None:
    manual = note("manual", body="deploy", usage_text="deploy_tool: parameter schema")
    world.catalog.documents = [manual]
    client = world.start("deploy", recent_tools=("deploy_tool",))
    assert client.outcome.discard_reason == "no_relevant_results"
    assert world.start("deploy", session="other").fast_names == ["manual"]


def test_tools_named_at_tool_results_are_remembered(world: World) -> None:
    world.catalog.documents = [
        note("manual", body="deploy", usage_text="deploy_tool: parameter schema"),
        DEPLOY,
    ]
    world.start("deploy with", recent_tools=("deploy_tool",)).end()
    client = world.start("deploy again")
    assert "manual" not in [name for fast in client.fasts for name in names(fast)]


def test_delivered_block_in_the_query_does_not_match_its_own_notes(world: World) -> None:
    client = world.start("deploy")
    assert client.fasts[0].delivery is not None
    world.engine.reset(client.key)
    again = world.start(client.fasts[0].delivery.prompt)
    assert again.outcome.discard_reason == "no_relevant_results"


def test_turn_of_another_connection_is_refused(world: World) -> None:
    client = world.start("deploy", owner="a")
    world.model.questions[0].answer("lunch")
    stranger = world.start("deploy", session="other", owner="b")
    stranger.key = client.key
    with pytest.raises(TurnNotYours, match="detached"):
        stranger.tool_result()
    stranger.end()
    assert client.turn.open
    assert names(client.tool_result()) == ["lunch"]


def test_turn_id_of_another_session_is_no_turn_here(world: World) -> None:
    client = world.start("deploy", owner="a")
    other = world.start("deploy", session="other", owner="a")
    assert other.tool_result(turn_id=client.turn.id).state == "none"
    assert client.turn.open


def test_no_timer_is_left_behind(world: World) -> None:
    client = world.start("deploy", detached=True)
    client.end()
    world.start("unrelated words").cancel()
    assert world.clock.pending == 0


# A part of the notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [True, False])
def test_turn_that_finds_nothing_in_a_part_of_the_notes_goes_on_with_the_rest(model: bool) -> None:
    world = World(DEPLOY, LUNCH, model=model)
    world.catalog.unread = {"deploy"}
    client = world.start("deploy")
    assert not client.fasts
    world.clock.advance(0.05)
    world.catalog.unread.clear()
    world.clock.advance(0.03)
    assert client.fast_names == ["deploy"]
    assert client.fasts[0].ended_by == ("published" if model else "settled")


@pytest.mark.parametrize("model", [True, False])
def test_rest_that_comes_after_the_ceiling_is_delivered_at_a_tool_result(model: bool) -> None:
    world = World(DEPLOY, LUNCH, model=model)
    world.catalog.unread = {"deploy"}
    client = world.start("deploy")
    world.clock.advance(0.1)
    (fast,) = client.fasts
    assert (fast.ended_by, fast.delivery, fast.pending, fast.partial) == ("ceiling", None, True, True)
    assert client.tool_result().state == "pending"
    world.catalog.unread.clear()
    world.clock.advance(0.03)
    for question in world.model.questions:
        question.answer("deploy")
    assert names(client.tool_result()) == ["deploy"]
    assert client.outcome.delivery_point == "tool_result"


def test_notes_that_are_never_read_are_waited_for_for_two_seconds() -> None:
    world = World(DEPLOY, LUNCH, model=False)
    world.catalog.unread = {"deploy"}
    client = world.start("deploy")
    world.clock.advance(READ_ON_S - 0.01)
    assert client.turn.open
    world.clock.advance(0.05)
    assert client.outcome.discard_reason == "no_relevant_results"
    assert world.clock.pending == 0


def test_model_is_asked_about_what_there_is_when_the_rest_is_never_read() -> None:
    world = World(DEPLOY, LUNCH)
    world.catalog.unread = {"deploy"}
    client = world.start("deploy")
    assert not world.model.questions
    world.clock.advance(READ_ON_S + 0.05)
    (question,) = world.model.questions
    question.answer("lunch")
    assert names(client.tool_result()) == ["lunch"]


def test_what_is_found_in_a_part_of_the_notes_is_not_held_back() -> None:
    world = World(DEPLOY, LUNCH)
    world.catalog.unread = {"lunch"}
    client = world.start("deploy")
    assert client.fast_names == ["deploy"]
    assert client.fasts[0].partial


# Nobody there, or not any more -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [True, False])
def test_detached_turn_whose_client_left_before_the_fast_result_goes_on(model: bool) -> None:
    world = World(DEPLOY, LUNCH, model=model)
    world.catalog.hold()
    client = world.start("deploy", detached=True)
    client.connected = False
    world.catalog.release()
    assert client.turn.open
    assert not client.outcomes
    client.connected = True
    for question in world.model.questions:
        question.answer("deploy", "lunch")
    assert names(client.tool_result()) == (["deploy", "lunch"] if model else ["deploy"])
    assert client.outcome.delivery_point == "tool_result"
    assert client.outcome.fast_documents == 0


def test_detached_turn_without_a_result_ends_once_though_nobody_is_there() -> None:
    world = World(DEPLOY, model=False)
    world.catalog.hold()
    client = world.start("unrelated words", detached=True)
    client.connected = False
    world.catalog.release()
    assert client.outcome.discard_reason == "no_relevant_results"


def test_cancellation_that_crosses_the_response_gives_back_what_was_received() -> None:
    world = World(DEPLOY, model=False)
    client = world.start("deploy")
    assert client.outcome.delivery_point == "initial"
    world.engine.discard_prompt(client.turn)
    assert len(client.outcomes) == 1
    assert world.start("deploy").fast_names == ["deploy"]


def test_cancellation_of_a_turn_that_the_session_has_gone_on_from_gives_nothing_back() -> None:
    world = World(DEPLOY, LUNCH, model=False)
    first = world.start("deploy")
    world.start("menu")
    world.engine.discard_prompt(first.turn)
    assert world.start("deploy").outcome.discard_reason == "already_delivered"


def test_ended_turn_remembers_no_query(world: World) -> None:
    client = world.start("deploy")
    client.end()
    assert client.turn.request.query == ""
    assert client.outcome.query_length == len("deploy")


# How much is held ------------------------------------------------------------------------------------


def test_sessions_in_memory_are_bounded_by_count_and_by_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrecalld.recall.sessions.HELD_SESSIONS", 5)
    for number in range(8):
        world.engine.reset(SessionKey(f"s{number}", ""))
    assert world.engine.session_count == 5
    world.clock.advance(HELD_SESSION_S + 1)
    world.engine.reset(SessionKey("later", ""))
    assert world.engine.session_count == 1


def test_session_with_an_open_turn_stays_in_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memrecalld.recall.sessions.HELD_SESSIONS", 3)
    client = world.start("deploy", session="open")
    for number in range(8):
        world.engine.reset(SessionKey(f"s{number}", ""))
    world.clock.advance(10)
    world.model.questions[0].answer("lunch")
    assert names(client.tool_result()) == ["lunch"]


def test_beyond_the_open_turns_the_oldest_detached_one_expires(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrecalld.recall.engine.MAX_OPEN_TURNS", 3)
    attached = world.start("deploy", session="attached")
    detached = [world.start("deploy", session=f"s{number}", detached=True) for number in range(3)]
    assert detached[0].outcome.discard_reason == "expired"
    assert attached.turn.open and detached[1].turn.open and detached[2].turn.open


def test_beyond_the_open_turns_of_connections_there_is_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrecalld.recall.engine.MAX_OPEN_TURNS", 2)
    clients = [world.start("deploy", session=f"s{number}") for number in range(2)]
    with pytest.raises(TooManyTurns):
        world.start("deploy", session="one more")
    clients[0].end()
    assert world.start("deploy", session="one more").turn.open
