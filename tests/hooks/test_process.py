"""A session of an agent, hook by hook, with a real daemon."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from memrecalld.client import Client
from memrecalld.hooks.context import added_context
from tests.conftest import StartDaemon
from tests.hooks.agent import Agent
from tests.support.daemon import DaemonProcess
from tests.support.model import Model, running_model
from tests.support.notes import note
from tests.support.polling import poll

# One worker does all of these, with one daemon of each kind.
HOSTS = pytest.mark.parametrize("host", ["claude", "qwen"])
QUERY = "how does the harbour crane deploy?"
ANCHOR = "# Anchor (Crane)"


@pytest.fixture
def session_id(request: pytest.FixtureRequest) -> str:
    """A session of this test's own: the daemons are shared."""
    return request.node.name


@pytest.fixture(scope="module")
def remembering(shared_daemon: DaemonProcess) -> DaemonProcess:
    """A daemon with notes and no model."""
    write_notes(shared_daemon, "Harbour crane", "Lighthouse")
    return shared_daemon


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon with a model that answers at once."""
    with running_model() as model:
        daemon = DaemonProcess(tmp_path_factory.mktemp("chosen") / "home", choosing(model))
        with closing(daemon):
            daemon.start()
            write_crane_notes(daemon)
            model.release()
            yield daemon


def choosing(model: Model) -> str:
    """The configuration with a model that chooses all of ``write_crane_notes``."""
    model.word = "Crane"
    return model.config


def write_crane_notes(daemon: DaemonProcess) -> None:
    """Two share words with "harbour deploy" and come at once; only the model adds the one that does not."""
    write_notes(daemon, "Harbour Crane", "Crane deploy", "Anchor (Crane)")


def write_notes(daemon: DaemonProcess, *titles: str) -> None:
    for number, title in enumerate(titles):
        daemon.write_note("project", f"{number}.md", note(title, f"About: {title}", f"All of {title}."))
    daemon.wait_until_read(len(titles))


def agent(host: str, daemon: DaemonProcess, session: str) -> Agent:
    made = Agent(host, daemon.environment, daemon.project, session)
    made.be_patient()
    return made


def prompt_and_wait_for_choice(session: Agent, daemon: DaemonProcess) -> str:
    """The memory of a first prompt, when the model has chosen as well."""
    for _ in range(30):
        before = answers(daemon)
        if context := session.prompt("harbour deploy"):
            break
        session.fire("Stop")  # the initial wait was too short; no answer for that turn comes any more
    poll(lambda: answers(daemon) > before, "the model's answer")
    return context


def answers(daemon: DaemonProcess) -> int:
    with Client.connect(str(daemon.socket)) as client:
        return client.status()["counters"].get("selector.answered", 0)


@HOSTS
def test_the_memory_comes_with_the_first_prompt_and_is_not_repeated(remembering, session_id, host):
    session = agent(host, remembering, session_id)
    context = session.prompt_with_memory(QUERY)
    assert "| All of Harbour crane." in context.splitlines()
    assert session.prompt(QUERY) == ""
    assert agent(host, remembering, f"{session_id} 2").prompt_with_memory(QUERY) == context


def test_the_command_written_by_hand_does_the_same(remembering, session_id):
    session = agent("claude", remembering, session_id)
    by_hand = agent("claude", remembering, f"{session_id} 2")
    by_hand.replace_command(f"{sys.executable} -m memrecalld.cli hook EVENT --host claude")
    assert by_hand.prompt_with_memory(QUERY) == session.prompt_with_memory(QUERY)


def test_qwen_code_is_spared_its_own_notes_and_gets_those_of_claude_code(daemon):
    for place, title in (
        (".qwen/memories", "Crane by Qwen"),
        (".claude/projects/SLUG/memory", "Crane by Claude"),
    ):
        slug = "".join(each if each.isalnum() and each.isascii() else "-" for each in str(daemon.project))
        folder = daemon.home / place.replace("SLUG", slug)
        folder.mkdir(parents=True)
        (folder / "n.md").write_text(note(title, "About the harbour crane"))
    daemon.wait_until_read(2)
    qwen = agent("qwen", daemon, "q").prompt_with_memory(QUERY)
    claude = agent("claude", daemon, "c").prompt_with_memory(QUERY)
    assert "# Crane by Claude" in qwen and "# Crane by Qwen" not in qwen
    assert "# Crane by Claude" in claude and "# Crane by Qwen" in claude


def test_the_models_choice_comes_once_with_a_tool_result(start_daemon: StartDaemon, model: Model):
    daemon = start_daemon(choosing(model))
    write_crane_notes(daemon)
    sessions = [agent(host, daemon, host) for host in ("claude", "qwen")]
    for session in sessions:
        assert ANCHOR not in session.prompt_with_memory("harbour deploy")
        assert session.context("PostToolUse", tool_name="read_file") == ""  # still pending
    model.release()
    poll(lambda: answers(daemon) >= len(sessions), "the model's answers")
    for session in sessions:
        refined = session.context(
            "PostToolUse", tool_name="read_file", tool_response={"output": "x" * 100_000}
        )
        titles = [line for line in refined.splitlines() if line.startswith("| # ")]
        assert titles == [f"| {ANCHOR}"]
        assert session.context("PostToolUse", tool_name="read_file") == ""


@HOSTS
def test_a_tool_result_of_a_sub_agent_does_not_take_its_parents_notes(chosen, session_id, host):
    session = agent(host, chosen, session_id)
    prompt_and_wait_for_choice(session, chosen)
    assert session.context("PostToolUse", tool_name="grep", agent_id="child", agent_type="Explore") == ""
    assert ANCHOR in session.context("PostToolUse", tool_name="grep")


def test_a_prompt_that_names_a_sub_agent_has_its_own_record(remembering, session_id):
    session = agent("claude", remembering, session_id)
    assert session.prompt_with_memory(QUERY) == session.prompt_with_memory(QUERY, agent_id="child")


@pytest.mark.parametrize("prompt", ["", "\n", "Please continue."])
def test_qwen_codes_own_prompts_go_on_with_the_turn(chosen, session_id, prompt):
    session = agent("qwen", chosen, session_id)
    prompt_and_wait_for_choice(session, chosen)
    assert ANCHOR in session.prompt(prompt)


def test_what_the_user_typed_is_asked_and_not_what_the_agent_made_of_it(remembering, session_id):
    session = agent("qwen", remembering, session_id)
    context = session.prompt_with_memory(f"{QUERY} and a whole file", submitted_prompt="lighthouse?")
    assert "# Lighthouse" in context and "# Harbour crane" not in context


@HOSTS
@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_the_turn_ends_with_the_agents_answer_or_with_the_session(chosen, session_id, host, event):
    session = agent(host, chosen, session_id)
    with Client.connect(str(chosen.socket)) as client:
        before = client.status()["openTurns"]
        prompt_and_wait_for_choice(session, chosen)
        assert client.status()["openTurns"] == before + 1
        assert session.fire(event, reason="other", stop_hook_active=False) is None
        assert client.status()["openTurns"] == before


@HOSTS
@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_context_that_was_cleared_gets_its_notes_again(remembering, session_id, host, source):
    session = agent(host, remembering, session_id)
    context = session.prompt_with_memory(QUERY)
    assert session.fire("SessionStart", source=source) is None
    assert session.prompt_with_memory(QUERY) == context


@HOSTS
@pytest.mark.parametrize("source", ["startup", "resume"])
def test_a_session_that_starts_or_is_resumed_keeps_its_record(remembering, session_id, host, source):
    session = agent(host, remembering, session_id)
    session.prompt_with_memory(QUERY)
    assert session.fire("SessionStart", source=source) is None
    assert session.prompt(QUERY) == ""


def test_an_ended_session_that_is_resumed_has_its_notes_already(remembering, session_id):
    session = agent("claude", remembering, session_id)
    session.prompt_with_memory(QUERY)
    session.fire("SessionEnd", reason="prompt_input_exit")
    assert session.prompt(QUERY) == ""


def test_the_output_stays_below_what_agents_cut_and_the_rest_comes_later(daemon):
    titles = [f"Crane {number}" for number in range(5)]
    for number, title in enumerate(titles):
        text = note(title, "harbour " * 150, f"<crane> {number} " * 90)
        daemon.write_note("project", f"{number}.md", text)
    daemon.wait_until_read(len(titles))
    session = agent("qwen", daemon, "s")
    received: list[str] = []
    for number in range(2):
        context = session.prompt_with_memory(QUERY)
        lines = context.splitlines()
        assert (
            len(added_context("UserPromptSubmit", context).replace("<", "&lt;").replace(">", "&gt;")) < 10_000
        )
        assert (lines[0], lines[-1]) == ("<recalled-memory>", "</recalled-memory>")
        found = [line.removeprefix("| # ") for line in lines if line.startswith("| # ")]
        assert 1 <= len(found) == sum(line.startswith("| <crane>") for line in lines)
        assert len(found) < 5 or number
        received += found
    assert sorted(received) == titles
