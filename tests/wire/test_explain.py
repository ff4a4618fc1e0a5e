"""Why a note is recalled for a query, or why it is not."""

from __future__ import annotations

import pytest

from memrecalld.ranking.ranker import SCALE
from tests.support.notes import note
from tests.wire.turns import Turn, new_session

QUERY = "the flamingo of the logo"


@pytest.fixture
def ask(plain_client, plain_project):
    """Ask why; of the project's notes, and of the query above unless told otherwise."""

    async def ask(path, query=QUERY, **more):
        params = {"query": query, "path": str(path), "projectRoot": str(plain_project.root)}
        return await plain_client.call("memory/explain", params | more)

    return ask


@pytest.fixture
def notes(plain_project):
    """A few notes; returns their paths by name."""
    texts = {
        "flamingo": note("Flamingo", "the bird of our logo", "pink"),
        "bird": note("Bird", "wings", "a flamingo among others, in the logo"),
        "other": note("Lunch", "noodles"),
        "lazy": note("Flamingo logo", "to come", "_No entries yet._"),
        **{f"filler{number}": note(f"Filler {number}", "nothing of the sort") for number in range(8)},
    }
    return {name: plain_project.write(name, text) for name, text in texts.items()}


async def test_a_recalled_note_has_its_place_and_the_numbers_of_a_search(
    plain_client, plain_project, notes, ask
):
    params = {"query": QUERY, "projectRoot": str(plain_project.root)}
    found = (await plain_client.call("memory/search", params))["documents"]
    assert [document["title"] for document in found] == ["Flamingo", "Bird"]
    for place, document in enumerate(found, start=1):
        verdict = await ask(document["path"])
        assert (verdict["reason"], verdict["place"]) == ("recalled", place)
        assert (verdict["score"], verdict["matched"]) == (document["score"], document["matched"])
        assert verdict["evidence"] >= verdict["needed"] > 0
        assert verdict["document"] == {
            name: value
            for name, value in document.items()
            if name not in {"body", "truncated", "matched", "score"}
        }
        assert "missed" not in verdict


async def test_a_note_that_has_too_little_says_what_it_lacks_and_how_much(notes, ask):
    verdict = await ask(notes["flamingo"], "rotate the flamingo certificates in the staging cluster")
    assert verdict["reason"] == "too_little"
    assert 0 < verdict["evidence"] < verdict["needed"]
    assert {match["term"] for match in verdict["matched"]} == {"flamingo"}
    assert [missed["term"] for missed in verdict["missed"]] == [
        "rotate",
        "certificates",
        "staging",
        "cluster",
    ]
    assert all(missed["weight"] > SCALE for missed in verdict["missed"])
    assert "place" not in verdict


async def test_a_note_that_has_nothing_says_what_was_asked(notes, ask):
    verdict = await ask(notes["other"])
    assert verdict["reason"] == "no_match"
    assert "evidence" not in verdict
    assert [missed["term"] for missed in verdict["missed"]] == ["flamingo", "logo"]


async def test_a_word_that_carries_nothing_is_no_match(notes, plain_project, ask):
    path = plain_project.write("work", note("Good work", "it works"))
    verdict = await ask(path, "does the rotation of certificates work")
    assert verdict["reason"] == "no_match"
    assert {match["term"] for match in verdict["matched"]} == {"work"}


@pytest.mark.parametrize("query", ["", "thanks, go on", "👍"])
async def test_small_talk_asks_for_nothing(notes, ask, query):
    assert (await ask(notes["flamingo"], query))["reason"] == "nothing_asked"


async def test_an_announced_note_is_unfilled(notes, ask):
    verdict = await ask(notes["lazy"])
    assert verdict["reason"] == "unfilled"
    assert "missed" not in verdict


async def test_words_beyond_what_is_ever_shown_do_not_count_and_the_verdict_says_so(
    plain_project, notes, ask
):
    path = plain_project.write("long", note("Long", "long", "heron " * 250 + "flamingo logo"))
    verdict = await ask(path)
    assert (verdict["reason"], verdict["truncated"]) == ("beyond_window", True)
    assert "evidence" not in verdict
    assert (await ask(path, "rotate certificates"))["reason"] == "no_match"
    too_much = "rotate the herons of the staging cluster certificates in five minutes"
    assert (await ask(path, too_much))["reason"] == "too_little"


async def test_in_a_session_a_delivered_note_is_not_due_and_the_session_is_left_alone(
    plain_client, plain_project, notes, ask
):
    session = new_session()
    turn = await Turn.start(plain_client, "flamingo logo", plain_project, session=session)
    assert sorted(turn.fast_titles) == ["Bird", "Flamingo"]
    await turn.outcome()
    assert (await ask(notes["bird"], sessionId=session))["reason"] == "already_delivered"
    assert (await ask(notes["bird"]))["reason"] == "recalled"
    assert (await ask(notes["bird"], sessionId=session, agentId="child"))["reason"] == "recalled"
    before = (await plain_client.call("daemon/status"))["sessions"]
    assert (await ask(notes["bird"], sessionId=new_session()))["reason"] == "recalled"
    assert (await plain_client.call("daemon/status"))["sessions"] == before
    await plain_client.call("recall/reset", {"sessionId": session})
    assert (await ask(notes["bird"], sessionId=session))["reason"] == "recalled"


async def test_a_delivered_note_makes_room_for_the_next(plain_client, plain_project, notes, ask):
    session = new_session()
    turn = await Turn.start(plain_client, "flamingo", plain_project, session=session)
    await turn.outcome()
    later = plain_project.write("later", note("Zoo", "", "a flamingo, too"))
    assert (await ask(later, "flamingo"))["place"] == 2  # newer than the bird
    assert (await ask(later, "flamingo", sessionId=session))["place"] == 1


async def test_a_note_on_a_tool_in_use_is_noise_for_that_session(plain_client, plain_project, ask):
    path = plain_project.write(
        "grep", note("Flamingo grep", "the logo grep", "Tool usage of grep: the pattern first.")
    )
    session = new_session()
    assert (await ask(path, sessionId=session))["reason"] == "recalled"
    await plain_client.call("recall/toolResult", {"sessionId": session, "toolName": "grep"})
    assert (await ask(path, sessionId=session))["reason"] == "tool_in_use"


async def test_the_same_text_is_delivered_once(plain_project, notes, ask):
    copy = plain_project.write("flamingo-copy", notes["flamingo"].read_text(encoding="utf-8"))
    reasons = {(await ask(path))["reason"] for path in (copy, notes["flamingo"])}
    assert reasons == {"recalled", "same_text"}


async def test_a_file_that_is_no_note_says_why(plain_daemon, plain_project, notes, ask):
    link = plain_project.notes / "out.md"
    link.symlink_to("/etc/hostname")
    assert await ask(link) == {"reason": "skipped", "skipReason": "outside-roots"}
    assert await ask(plain_project.notes / "gone.md") == {"reason": "no_note"}
    assert await ask("/etc/hostname") == {"reason": "no_note"}
    assert await ask("") == {"reason": "no_note"}
    team = plain_project.root / ".qwen" / "team-memory" / "deploy.md"
    team.parent.mkdir(parents=True)
    team.write_text(note("Flamingo", "logo"), encoding="utf-8")
    assert await ask(team) == {"reason": "untrusted"}


async def test_without_a_project_only_the_users_notes_are_known(plain_client, notes):
    params = {"query": QUERY, "path": str(notes["flamingo"])}
    assert await plain_client.call("memory/explain", params) == {"reason": "no_note"}
