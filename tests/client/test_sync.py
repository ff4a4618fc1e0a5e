"""The blocking client against the real daemon."""

from __future__ import annotations

import os
import signal

import pytest

from memrecalld.client import (
    CallTimeout,
    Client,
    ClientError,
    DaemonUnavailable,
    ProtocolError,
    ResponseError,
)
from memrecalld.client.link import Link
from tests.support.notes import note
from tests.support.polling import poll
from tests.support.turns import start

DEPLOY = note("Deploy process", "How the shop is deployed", "Run the deploy script.")
TERSE = note("Terse answers", "Prefers short replies", type="user")


@pytest.fixture(scope="module")
def asked(shared_daemon):
    """A daemon with notes that no test changes."""
    shared_daemon.write_note("project", "deploy.md", DEPLOY, days_old=3)
    shared_daemon.write_note("project", "grep.md", note("grep tool usage", "Calling it"), days_old=4)
    shared_daemon.write_note("user", "terse.md", TERSE)
    shared_daemon.wait_until_read(3)
    return shared_daemon


@pytest.fixture
def client(asked):
    with Client.connect(str(asked.socket)) as client:
        yield client


@pytest.fixture
def session(request):
    """A session id of this test's own."""
    return request.node.name


@pytest.fixture
def modelled(start_daemon, model):
    """A daemon whose model chooses every note once it is released."""
    daemon = start_daemon(model.config)
    daemon.write_note("project", "deploy.md", DEPLOY)
    daemon.write_note("user", "terse.md", TERSE)
    daemon.wait_until_read(2)
    return daemon


def test_a_project_that_is_warmed_is_read_before_anybody_asks(start_daemon):
    daemon = start_daemon()
    daemon.write_note("project", "deploy.md", DEPLOY)
    with Client.connect(str(daemon.socket)) as client:
        assert client.status()["topics"] == 0
        client.warm(daemon.project)
        poll(lambda: client.status()["topics"] == 1, "the note")
        assert [each["title"] for each in client.list()] == ["Deploy process"]


def titles(delivery):
    return [each["title"] for each in delivery["documents"]]


def test_a_turn_delivers_what_matches_and_tells_how_it_ended(client, asked, session):
    turn = start(client, "how do we deploy?", session_id=session, project_root=asked.project)
    assert turn.fast["turnId"] == turn.id
    assert turn.fast["sessionId"] == session
    assert titles(turn.delivery) == ["Deploy process"]
    assert "Run the deploy script." in turn.delivery["prompt"]
    outcome = turn.end()
    assert (outcome["turnId"], outcome["deliveryPoint"], outcome["documents"]) == (turn.id, "initial", 1)
    assert turn.end() == outcome


def test_a_turn_without_matches_delivers_nothing(client, asked, session):
    turn = start(client, "zebra", session_id=session, project_root=asked.project)
    assert turn.delivery is None
    assert turn.end()["discardReason"] == "no_relevant_results"


def test_without_a_project_only_user_notes_are_recalled(client, session):
    turn = start(client, "deploy with short replies", session_id=session)
    assert titles(turn.delivery) == ["Terse answers"]
    turn.end()


def test_a_note_beyond_the_prompts_limit_is_left_for_a_later_one(client, asked, session):
    query = "how do we deploy with short replies?"
    key = {"session_id": session, "project_root": asked.project}
    whole = start(client, query, session_id=f"{session}, whole", project_root=asked.project)
    limit = len(whole.delivery["prompt"])  # as the limit counts, which is as JSON, it is longer
    turn = start(client, query, **key, max_prompt_chars=limit)
    given = titles(turn.delivery)
    assert (len(given), len(turn.delivery["prompt"]) < limit) == (1, True)
    assert turn.end()["documents"] == 1
    left = titles(start(client, query, **key).delivery)
    assert sorted(given + left) == sorted(titles(whole.delivery)) == ["Deploy process", "Terse answers"]


def test_a_turn_in_which_nothing_fits_waits_for_a_tool_result_with_room(client, asked, session):
    key = {"session_id": session, "project_root": asked.project}
    turn = start(client, "how do we deploy?", **key, max_prompt_chars=1)
    assert (turn.fast["endedBy"], turn.delivery, turn.fast["pending"]) == ("settled", None, True)
    assert turn.tool_result(max_prompt_chars=1)["state"] == "pending"
    assert client.tool_result(session, max_prompt_chars=1)["state"] == "pending"
    result = turn.tool_result(max_prompt_chars=10_000)
    assert (result["state"], titles(result["delivery"])) == ("delivered", ["Deploy process"])
    outcome = turn.end()
    assert (outcome["deliveryPoint"], outcome["documents"]) == ("tool_result", 1)


def test_the_models_choice_comes_at_a_tool_result_without_what_was_delivered(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        assert turn.fast["pending"]
        assert (turn.delivery["phase"], titles(turn.delivery)) == ("fast", ["Deploy process"])
        model.wait_until_asked()
        assert turn.tool_result("grep") == {"turnId": turn.id, "state": "pending", "delivery": None}
        model.release()
        results = []
        poll(lambda: results.append(turn.tool_result()) or results[-1]["state"] != "pending", "an answer")
        assert results[-1]["state"] == "delivered"
        assert (results[-1]["delivery"]["strategy"], titles(results[-1]["delivery"])) == (
            "model",
            ["Terse answers"],
        )
        outcome = turn.end()
    assert (outcome["deliveryPoint"], outcome["documents"], outcome["fastDocuments"]) == ("tool_result", 1, 1)


def test_a_turn_ended_before_the_model_answered_has_no_delivery_point(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        model.wait_until_asked()
        assert turn.end()["discardReason"] == "no_safe_delivery_point"


def test_a_cancelled_turn_gives_its_notes_back(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        model.wait_until_asked()
        assert turn.cancel()["discardReason"] == "abort"
        again = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        assert titles(again.delivery) == ["Deploy process"]
        again.end()


def test_cancelling_a_turn_that_has_ended_changes_nothing(client, asked, session):
    turn = start(client, "deploy", session_id=session, project_root=asked.project)
    outcome = turn.end()
    assert turn.cancel() == outcome


def test_other_calls_are_answered_while_a_turn_is_open(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        model.wait_until_asked()
        assert [each["title"] for each in client.search("replies")] == ["Terse answers"]
        assert client.status()["openTurns"] == 1
        turn.end()


def test_turns_of_one_connection_get_their_own_results(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        first = start(client, "how do we deploy?", session_id="a", project_root=modelled.project)
        second = start(client, "short replies", session_id="b", project_root=modelled.project)
        assert titles(first.delivery) == ["Deploy process"]
        assert titles(second.delivery) == ["Terse answers"]
        assert second.end()["turnId"] == second.id
        assert first.end()["turnId"] == first.id


def test_a_superseded_turn_tells_so(modelled, model):
    with Client.connect(str(modelled.socket)) as client, Client.connect(str(modelled.socket)) as other:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        other.start("something else", session_id="s").end()
        assert turn.end()["discardReason"] == "new_query"


def test_a_turn_of_another_connection_is_refused(modelled, model):
    with Client.connect(str(modelled.socket)) as client, Client.connect(str(modelled.socket)) as other:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        with pytest.raises(ResponseError, match="another connection"):
            other.tool_result("s", turn_id=turn.id)
        turn.end()


def test_a_detached_turn_is_continued_by_the_next_connection(modelled, model):
    with Client.connect(str(modelled.socket)) as hook:
        turn = start(hook, "how do we deploy?", session_id="s", project_root=modelled.project, detached=True)
        assert titles(turn.delivery) == ["Deploy process"]
    model.release()
    with Client.connect(str(modelled.socket)) as hook:
        results = []
        poll(lambda: results.append(hook.tool_result("s")) or results[-1]["state"] != "pending", "an answer")
        assert results[-1]["turnId"] == turn.id
        assert titles(results[-1]["delivery"]) == ["Terse answers"]


def test_the_end_of_a_detached_turn_is_not_waited_for(modelled, model):
    with Client.connect(str(modelled.socket)) as hook:
        turn = start(hook, "how do we deploy?", session_id="s", project_root=modelled.project, detached=True)
        assert turn.end() is None
        poll(lambda: hook.status()["openTurns"] == 0, "the end of the turn")


def test_a_session_gets_a_note_once_until_it_is_reset(client, asked, session):
    def recalled(agent_id: str = "") -> bool:
        turn = start(client, "deploy", session_id=session, project_root=asked.project, agent_id=agent_id)
        turn.end()
        return turn.delivery is not None

    assert recalled()
    assert not recalled()
    assert recalled(agent_id="sub")
    client.reset(session)
    assert recalled()
    assert not recalled(agent_id="sub")


def test_notes_of_excluded_layouts_are_left_out(client, asked, session):
    turn = start(
        client, "deploy", session_id=session, project_root=asked.project, exclude_layouts=["native", "qwen"]
    )
    assert turn.delivery is None
    turn.end()


def test_a_recently_used_tools_own_notes_are_left_out(client, asked, session):
    turn = start(client, "grep", session_id=session, project_root=asked.project, recent_tools=["grep"])
    assert turn.delivery is None
    turn.end()


def test_a_search_gives_scores_and_reasons_and_at_most_as_many_as_asked(client, asked):
    assert len(client.search("deploy replies", project_root=asked.project)) == 2
    found = client.search("deploy replies", project_root=asked.project, limit=1)
    assert len(found) == 1
    assert found[0]["score"] > 0
    assert found[0]["matched"][0]["term"] in {"deploy", "replies"}


def test_a_note_is_judged_for_a_query_and_for_a_session(client, asked, session):
    (found,) = client.search("deploy", project_root=asked.project)
    verdict = client.explain("deploy", found["path"], project_root=asked.project)
    assert (verdict["reason"], verdict["place"]) == ("recalled", 1)
    assert (verdict["score"], verdict["matched"]) == (found["score"], found["matched"])
    start(client, "deploy", session_id=session, project_root=asked.project).end()
    of_session = {"session_id": session, "project_root": asked.project}
    assert client.explain("deploy", found["path"], **of_session)["reason"] == "already_delivered"
    assert client.explain("deploy", found["path"], agent_id="child", **of_session)["reason"] == "recalled"
    assert client.explain("deploy", "/etc/hostname") == {"reason": "no_note"}


def test_the_list_has_the_newest_notes_of_each_scope_first(client, asked):
    listed = client.list(project_root=asked.project)
    assert [each["title"] for each in listed] == ["Deploy process", "grep tool usage", "Terse answers"]
    assert listed[0]["age"] == "saved 3 days ago"


def test_a_listed_note_is_read_by_its_path(client, asked):
    listed = client.list(project_root=asked.project)[0]
    read = client.read(listed["path"], project_root=asked.project)
    assert read == {**listed, "body": read["body"], "truncated": False}
    with pytest.raises(ResponseError, match="memory/list names them"):
        client.read("/etc/hostname", project_root=asked.project)


def test_the_status_names_the_folders_of_a_project(client, asked):
    status = client.status(project_root=asked.project)
    assert status["pid"] == asked.pid
    roots = {root["path"]: root["topics"] for root in status["project"]["roots"]}
    assert roots[str(asked.project_notes)] == 2
    assert "project" not in client.status()


def test_a_wrong_argument_is_an_error_that_names_it(client, session):
    with pytest.raises(ResponseError, match="limit") as caught:
        client.search("deploy", limit=0)
    assert caught.value.code == -32602
    with pytest.raises(ResponseError, match="excludeLayouts"):
        client.start("deploy", session_id=session, exclude_layouts=["none"])


def test_a_project_whose_notes_cannot_be_read_fails_the_turn(client, asked, session):
    project = asked.home / session
    project.mkdir()
    asked.notes_of(project).touch()
    turn = start(client, "deploy", session_id=session, project_root=project)
    assert turn.delivery is None
    with pytest.raises(ResponseError) as caught:
        turn.end()
    assert caught.value.code == -32803
    assert caught.value.data["discardReason"] == "failed"


def test_a_query_longer_than_a_message_is_refused_and_the_client_goes_on(client, asked):
    with pytest.raises(ProtocolError):
        client.search("x" * 5_000_000)
    assert client.search("deploy", project_root=asked.project)


def test_a_long_query_is_answered(client, asked, session):
    query = "deploy " + "漢" * 1_000_000
    turn = client.start(query, session_id=session, project_root=asked.project)
    assert turn.end()["queryLength"] == len(query)


def test_a_daemon_that_stops_ends_the_turn_and_the_client_learns_how(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        turn = start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
        model.wait_until_asked()
        modelled.stop()
        assert turn.end()["discardReason"] == "shutdown"
        with pytest.raises(DaemonUnavailable, match="connect again"):
            client.list()


def test_a_killed_daemon_is_unavailable(daemon):
    with Client.connect(str(daemon.socket)) as client:
        daemon.kill()
        for _ in range(2):
            with pytest.raises(DaemonUnavailable):
                client.list()


def test_a_closed_client_is_of_no_use(client):
    client.close()
    client.close()
    with pytest.raises(ClientError):
        client.list()


def test_a_late_answer_is_not_taken_for_another(client, asked):
    os.kill(asked.pid, signal.SIGSTOP)
    try:
        with pytest.raises(CallTimeout):
            client.search("deploy", project_root=asked.project, timeout=0.05)
    finally:
        os.kill(asked.pid, signal.SIGCONT)
    assert [each["title"] for each in client.search("replies")] == ["Terse answers"]


def test_a_start_that_was_given_up_leaves_no_turn_and_no_note_delivered(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        os.kill(modelled.pid, signal.SIGSTOP)
        try:
            with pytest.raises(CallTimeout):
                client.start("deploy", session_id="s", project_root=modelled.project, timeout=0.05)
        finally:
            os.kill(modelled.pid, signal.SIGCONT)
        poll(lambda: client.status()["openTurns"] == 0, "the end of the turn")
        turn = start(client, "deploy", session_id="s", project_root=modelled.project)
        assert titles(turn.delivery) == ["Deploy process"]
        turn.end()


def test_a_start_that_is_interrupted_once_it_was_sent_leaves_no_turn_and_no_note_delivered(
    modelled, model, monkeypatch
):
    send = Link.send

    def send_and_be_interrupted(link: Link, data: bytes) -> None:
        send(link, data)
        monkeypatch.setattr(Link, "send", send)
        model.wait_until_asked()  # so that the fast result was sent, too
        raise KeyboardInterrupt

    with Client.connect(str(modelled.socket)) as client:
        monkeypatch.setattr(Link, "send", send_and_be_interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.start("deploy", session_id="s", project_root=modelled.project)
        poll(lambda: client.status()["openTurns"] == 0, "the end of the turn")
        turn = start(client, "deploy", session_id="s", project_root=modelled.project)
        assert titles(turn.delivery) == ["Deploy process"]
        turn.end()


def test_the_end_of_the_connection_ends_its_turns(modelled, model):
    with Client.connect(str(modelled.socket)) as client:
        start(client, "how do we deploy?", session_id="s", project_root=modelled.project)
    with Client.connect(str(modelled.socket)) as client:
        poll(lambda: client.status()["openTurns"] == 0, "the end of the turn")
