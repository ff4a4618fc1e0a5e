"""A limit for the prompt: what does not fit is left out whole, and is not delivered."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memrecalld.recall.prompt import fitting, prompt_length, render_prompt
from tests.recall.world import NOW_NS, World, names, note

DEPLOY = note("deploy", body="deploy with care")
DEPLOY_2 = note("deploy-2", body="deploy twice", age_days=1)
DEPLOY_3 = note("deploy-3", body="deploy thrice", age_days=2)
LUNCH = note("lunch", body="the menu")
NOTES = (DEPLOY, DEPLOY_2, DEPLOY_3, LUNCH)

ONE = prompt_length(render_prompt([DEPLOY], NOW_NS))
ONE_OLDER = prompt_length(render_prompt([DEPLOY_3], NOW_NS))
TWO = prompt_length(render_prompt([DEPLOY, DEPLOY_2], NOW_NS))
NONE = prompt_length(render_prompt([note("d", body="d")], NOW_NS)) - 1


def test_fast_result_leaves_out_what_is_too_much_and_the_choice_brings_it() -> None:
    world = World(*NOTES)
    client = world.start("deploy", max_prompt_chars=ONE)
    assert client.fast_names == ["deploy"]
    world.model.questions[0].answer("deploy", "deploy-2", "lunch")
    assert names(client.tool_result()) == ["deploy-2", "lunch"]
    assert (client.outcome.fast_documents, client.outcome.documents) == (1, 2)


def test_what_a_refined_result_leaves_out_comes_with_a_later_turn() -> None:
    world = World(*NOTES, model=False)
    first = world.start("deploy", max_prompt_chars=TWO)
    assert first.fast_names == ["deploy", "deploy-2"]
    assert (first.outcome.delivery_point, first.outcome.documents) == ("initial", 2)
    assert world.start("deploy", max_prompt_chars=TWO).fast_names == ["deploy-3"]


def test_what_a_tool_result_leaves_out_comes_with_a_later_turn() -> None:
    world = World(*NOTES)
    client = world.start("deploy", max_prompt_chars=ONE)
    world.model.questions[0].answer("deploy-3", "deploy-2")
    assert names(client.tool_result(max_prompt_chars=ONE_OLDER)) == ["deploy-3"]
    assert (client.outcome.delivery_point, client.outcome.documents) == ("tool_result", 1)
    assert world.start("deploy").fast_names == ["deploy-2"]


def test_limit_of_the_first_prompt_is_not_that_of_a_tool_result() -> None:
    world = World(*NOTES)
    client = world.start("deploy", max_prompt_chars=ONE)
    world.model.questions[0].answer("deploy-2", "deploy-3", "lunch")
    assert names(client.tool_result()) == ["deploy-2", "deploy-3", "lunch"]


def test_fast_result_that_does_not_fit_is_not_published_and_the_wait_goes_on() -> None:
    world = World(*NOTES)
    client = world.start("deploy", max_prompt_chars=NONE)
    assert client.fasts == []
    world.clock.advance(0.2)
    (fast,) = client.fasts
    assert (fast.ended_by, fast.delivery, fast.pending, fast.partial) == ("ceiling", None, True, False)
    world.model.questions[0].answer("deploy", "lunch")
    assert client.tool_result(max_prompt_chars=NONE).state == "pending"
    assert names(client.tool_result()) == ["deploy", "lunch"]
    assert (client.outcome.fast_documents, client.outcome.documents) == (0, 2)


def test_quick_choice_that_fits_is_delivered_where_the_fast_result_did_not() -> None:
    long = note("long", body="deploy " * 150)
    world = World(long, LUNCH)
    client = world.start("deploy", max_prompt_chars=ONE)
    world.model.questions[0].answer("lunch")
    (fast,) = client.fasts
    assert (fast.ended_by, names(fast), fast.pending) == ("settled", ["lunch"], False)
    assert client.outcome.delivery_point == "initial"


def test_settled_result_that_does_not_fit_ends_the_wait_and_stays_for_a_tool_result() -> None:
    world = World(*NOTES, model=False)
    client = world.start("deploy", max_prompt_chars=NONE)
    (fast,) = client.fasts
    assert (fast.ended_by, fast.delivery, fast.pending) == ("settled", None, True)
    assert client.tool_result(max_prompt_chars=NONE).state == "pending"
    assert names(client.tool_result(max_prompt_chars=ONE)) == ["deploy"]
    assert client.outcome.delivery_point == "tool_result"


def test_turn_in_which_nothing_ever_fits_has_no_safe_delivery_point_and_loses_nothing() -> None:
    world = World(*NOTES, model=False)
    client = world.start("deploy", max_prompt_chars=NONE)
    client.tool_result(max_prompt_chars=NONE)
    client.end()
    assert client.outcome.discard_reason == "no_safe_delivery_point"
    assert world.start("deploy").fast_names == ["deploy", "deploy-2", "deploy-3"]


def test_note_that_alone_is_too_long_does_not_keep_out_the_next() -> None:
    long = note("long", title="deploy deploy", body="deploy " * 150)
    world = World(long, DEPLOY_2, model=False)
    assert world.start("deploy", max_prompt_chars=TWO).fast_names == ["deploy-2"]
    assert world.start("deploy").fast_names == ["long"]


BODIES = st.lists(st.text(st.sampled_from('aä字🦊<>&"\\\n\t\u2028'), max_size=60), max_size=6)


@given(BODIES, st.integers(1, 2_000))
def test_what_fits_is_within_the_limit_in_every_form_that_a_host_may_count(
    bodies: list[str], limit: int
) -> None:
    documents = [note(f"n{number}", body=body) for number, body in enumerate(bodies)]
    kept = fitting(documents, NOW_NS, limit)
    prompt = render_prompt(kept, NOW_NS)
    entities = prompt.replace("<", "&lt;").replace(">", "&gt;")
    for form in (prompt, entities, json.dumps(entities, ensure_ascii=False)[1:-1]):
        assert len(form) <= len(form.encode("utf-16-le")) // 2 <= limit


@given(BODIES, st.integers(1, 2_000))
def test_nothing_is_left_out_that_would_fit(bodies: list[str], limit: int) -> None:
    documents = [note(f"n{number}", body=body) for number, body in enumerate(bodies)]
    kept = fitting(documents, NOW_NS, limit)
    assert kept == [each for each in documents if each in kept], "in their order"
    for position, left_out in enumerate(documents):
        if left_out not in kept:
            better = [each for each in documents[:position] if each in kept]
            assert prompt_length(render_prompt([*better, left_out], NOW_NS)) > limit
    assert fitting(documents, NOW_NS, None) == documents
