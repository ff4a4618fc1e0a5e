"""The commands against the real daemon, in this process."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

import memrecalld
from memrecalld.cli import main, verdict
from memrecalld.cli.text import width
from memrecalld.client import Client
from memrecalld.programs import shown
from memrecalld.recall.verdict import Reason
from tests.support.notes import note
from tests.support.turns import TOO_BUSY

OSC = "\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture(scope="module")
def asked(shared_daemon):
    """A daemon with notes that no test changes."""
    for name, text in {
        "deploy": note("Deploy process", "How the shop is deployed"),
        "backup": note("数据库备份", "每天凌晨备份"),
        "hostile": note(f"marker {OSC}title", f"text {OSC}here", f"{OSC}body"),
    }.items():
        shared_daemon.write_note("project", f"{name}.md", text, days_old=3)
    (shared_daemon.project_notes / "dangling.md").symlink_to("/nowhere")
    shared_daemon.write_note("user", "terse.md", note("Terse answers", "Prefers short replies", type="user"))
    shared_daemon.wait_until_read(4)
    return shared_daemon


@pytest.fixture
def memrecall(asked, capsys):
    """Run the command on that daemon; returns exit status, stdout and stderr."""
    return runner(asked, capsys)


def runner(daemon, capsys):
    def run(command: str, *arguments: str) -> tuple[int, str, str]:
        placed = ["--socket", str(daemon.socket)]
        if "--project" not in arguments:
            placed += ["--project", str(daemon.project)]
        for _ in range(100):
            status = main([command, *arguments, *placed])
            out, err = capsys.readouterr()
            if "--session" in arguments or not TOO_BUSY.search(out):
                break
        return status, out, err

    return run


# Recall ---------------------------------------------------------------------------------------------------


def test_recall_shows_each_note_who_chose_it_the_wait_and_the_outcome(memrecall, asked):
    status, out, err = memrecall("recall", "how do we deploy?")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert re.fullmatch(r"1 note, chosen by the scorer, for the first prompt, after \d+\.\d ms:", lines[0])
    assert lines[2:] == [
        "  1  Deploy process",
        "     How the shop is deployed",
        "     project note, project, saved 3 days ago",
        lines[5],
        f"     {asked.project_notes}/deploy.md",
        "",
        "Outcome: delivered with the first prompt.",
    ]
    assert re.match(r"     matched .*deploy \(title, description\)", lines[5])


def test_recall_without_matches_says_so(memrecall):
    status, out, _ = memrecall("recall", "zebra")
    assert status == 0
    assert re.fullmatch(r"No relevant notes, after \d+\.\d ms\.\nOutcome: no relevant notes\.\n", out)


def test_recall_without_a_session_never_counts_as_delivered(memrecall):
    assert "Deploy process" in memrecall("recall", "deploy")[1]
    assert "Deploy process" in memrecall("recall", "deploy")[1]


def test_recall_in_a_session_brings_a_note_once(memrecall):
    assert "Deploy process" in memrecall("recall", "deploy", "--session", "s")[1]
    assert "Deploy process" not in memrecall("recall", "deploy", "--session", "s")[1]


def test_recall_as_json_is_what_the_daemon_said(memrecall):
    status, out, _ = memrecall("recall", "deploy", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["fast"]["delivery"]["documents"][0]["title"] == "Deploy process"
    assert answer["toolResult"] is None
    assert answer["outcome"]["turnId"] == answer["fast"]["turnId"]


@pytest.fixture
def modelled(start_daemon, model):
    """A daemon whose model chooses every note once it is released."""
    daemon = start_daemon(model.config)
    daemon.write_note("project", "deploy.md", note("Deploy process", "How the shop is deployed"))
    daemon.write_note("user", "terse.md", note("Terse answers", "Prefers short replies", type="user"))
    daemon.wait_until_read(2)
    return daemon


def test_recall_waits_for_the_models_choice_and_ends_the_turn(modelled, model, capsys):
    model.release()
    status, out, _ = runner(modelled, capsys)("recall", "how do we deploy?")
    assert status == 0
    assert "1 note, chosen by the scorer, for the first prompt" in out
    assert "1 more note, chosen by the model, at a tool result:\n\n  2  Terse answers\n" in out
    assert out.endswith("\nOutcome: delivered at a tool result.\n")


def test_recall_says_when_the_model_chose_nothing_beyond(modelled, model, capsys):
    model.word = "Deploy"
    model.release()
    _, out, _ = runner(modelled, capsys)("recall", "how do we deploy?")
    assert "The model chose nothing beyond these notes.\nOutcome: every note chosen had already been" in out


def test_recall_waits_no_longer_than_asked(modelled, model, capsys):
    status, out, _ = runner(modelled, capsys)("recall", "how do we deploy?", "--wait", "0")
    assert status == 0
    assert out.endswith(
        "The model has not answered in time.\nOutcome: the turn ended before the choice could be delivered.\n"
    )
    with Client.connect(str(modelled.socket)) as client:
        assert client.status()["openTurns"] == 0


def test_recall_as_json_holds_the_models_choice(modelled, model, capsys):
    model.release()
    answer = json.loads(runner(modelled, capsys)("recall", "how do we deploy?", "--json")[1])
    assert answer["toolResult"]["delivery"]["strategy"] == "model"
    assert answer["outcome"]["deliveryPoint"] == "tool_result"


# Search, list, status -------------------------------------------------------------------------------------


def test_search_shows_scores_and_no_more_notes_than_asked(memrecall):
    assert memrecall("search", "deploy replies")[1].count("matched") == 2
    status, out, _ = memrecall("search", "deploy replies", "--limit", "1")
    assert status == 0
    assert out.count("matched") == 1
    assert re.search(r"^     \w+ note, \w+, saved .*, score \d", out, re.MULTILINE)


def test_search_without_matches_says_so(memrecall):
    assert memrecall("search", "zebra") == (0, "No note matches.\n", "")
    assert memrecall("search", "zebra", "--json")[1] == '{\n  "documents": []\n}\n'


def test_search_says_why_a_note_is_found_and_why_it_is_not(memrecall, asked, monkeypatch):
    file = asked.project_notes / "deploy.md"
    lines = memrecall("search", "--why", str(file), "deploy the zebra")[1].splitlines()
    assert lines[:2] == ["Deploy process", str(file)]
    assert lines[3] == "Recalled, number 1 of the matches."
    assert re.fullmatch(r"Evidence \d+\.\d\d; needed \d+\.\d\d\.", lines[4])
    assert [line.split()[:3] for line in lines[6:8]] == [
        ["matched", "deploy", where] for where in ("title", "description")
    ]
    assert re.fullmatch(r"missed +zebra +\d+\.\d\d", lines[8])
    monkeypatch.chdir(asked.project_notes)
    assert (
        "Not recalled: it holds nothing of what the query asks for."
        in memrecall("search", "--why", "deploy.md", "zebra")[1]
    )
    assert "its file is left out (vanished)" in memrecall("search", "--why", "dangling.md", "zebra")[1]
    assert memrecall("search", "--why", "none.md", "zebra") == (
        0,
        f"No note is at this path; {shown('memrecall list --json')} shows the paths of all.\n",
        "",
    )
    assert (
        json.loads(memrecall("search", "--why", "deploy.md", "ok", "--json")[1])["reason"] == "nothing_asked"
    )


def test_a_search_that_says_why_follows_links_to_a_note(memrecall, asked, tmp_path):
    (tmp_path / "link").symlink_to(asked.project_notes)
    out = memrecall("search", "--why", str(tmp_path / "link" / "deploy.md"), "deploy")[1]
    assert out.startswith(f"Deploy process\n{asked.project_notes}/deploy.md\n\nRecalled, number 1")


def test_a_search_that_says_why_knows_what_a_session_has(memrecall, asked):
    memrecall("recall", "deploy", "--session", "why")
    out = memrecall("search", "--why", str(asked.project_notes / "deploy.md"), "deploy", "--session", "why")[
        1
    ]
    assert "Not delivered: the session has it already." in out


def test_every_reason_has_its_words():
    assert set(verdict._REASONS) | {"recalled", "skipped"} == set(get_args(Reason))


def test_list_has_straight_columns_in_every_script(memrecall):
    status, out, _ = memrecall("list")
    lines = out.splitlines()
    column = lines[0].index("FILE")
    assert status == 0
    assert len(lines) == 5
    for line, file in ((line, line.split()[-1]) for line in lines):
        assert width(line[: line.rindex(file)]) == column
    assert re.search(r"^3 days ago +project +project +Deploy process +deploy\.md$", out, re.MULTILINE)


def test_list_without_notes_says_so(daemon, capsys):
    assert runner(daemon, capsys)("list") == (0, "There are no notes yet.\n", "")


def test_list_as_json_holds_every_note(memrecall):
    documents = json.loads(memrecall("list", "--json")[1])["documents"]
    assert {each["relativePath"] for each in documents} == {
        "deploy.md",
        "backup.md",
        "hostile.md",
        "terse.md",
    }


def test_status_shows_the_daemon_and_the_projects_folders(memrecall, asked):
    memrecall("recall", "deploy")
    status, out, _ = memrecall("status")
    assert status == 0
    assert re.search(rf"^memrecalld +{re.escape(memrecalld.__version__)}, process {asked.pid}, up 0:", out)
    assert re.search(r"^selector +none$", out, re.MULTILINE)
    assert re.search(r"^initial wait +p50 .*\(\d+ turns?\)$", out, re.MULTILINE)
    assert re.search(rf"^project +native +3 notes +{re.escape(str(asked.project_notes))}$", out, re.MULTILINE)
    assert re.search(r"^user +qwen +no folder +/", out, re.MULTILINE)


def test_status_names_skipped_files_and_why(memrecall):
    memrecall("list")
    out = memrecall("status")[1]
    assert "skipped files\n" in out
    assert "dangling.md" in out


def test_status_tells_why_a_folder_is_no_project(memrecall, asked):
    assert re.search(r"^project +none: home$", memrecall("status", "--project", str(asked.home))[1], re.M)


def test_status_as_json_is_what_the_daemon_said(memrecall, asked):
    assert json.loads(memrecall("status", "--json")[1])["pid"] == asked.pid


# What all have in common ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "marker"],
        ["search", "marker"],
        ["list"],
        ["recall", "marker", "--json"],
        ["list", "--json"],
    ],
)
def test_a_notes_text_cannot_drive_the_terminal(memrecall, arguments):
    status, out, _ = memrecall(*arguments)
    assert status == 0
    assert "marker" in out
    assert not set(out) & set("\x1b\x07\x9b\u202e")


def test_the_project_is_the_current_folder_by_default(asked, monkeypatch, capsys):
    monkeypatch.chdir(asked.project)
    assert main(["search", "deploy", "--socket", str(asked.socket)]) == 0
    assert "Deploy process" in capsys.readouterr().out


def test_the_socket_may_be_named_before_the_command(asked, capsys):
    assert main(["--socket", str(asked.socket), "list", "--project", str(asked.project)]) == 0
    assert "Deploy process" in capsys.readouterr().out


def test_an_error_of_the_daemon_is_status_1(memrecall, asked):
    project = asked.home / "broken"
    project.mkdir()
    asked.notes_of(project).touch()
    status, out, err = memrecall("recall", "deploy", "--project", str(project))
    assert (status, out) == (1, "")
    assert re.fullmatch(r"memrecall: the project's memory folder cannot be read .*\(-32803\)\n", err)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["recall"], "query"),
        (["nothing"], "invalid choice"),
        ([], "COMMAND"),
        (["search", "x", "--limit", "0"], "from 1 to 100"),
        (["search", "x", "--limit", "many"], "from 1 to 100"),
        (["recall", "x", "--wait", "-1"], "0 or more"),
        (["recall", "x", "--wait", "nan"], "0 or more"),
        (["recall", "x", "--wait", "soon"], "0 or more"),
        (["list", "--project", "/nowhere/at/all"], "no such folder"),
    ],
)
def test_a_wrong_argument_is_status_2_and_says_what_was_expected(arguments, reason, capsys):
    assert main(arguments) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["recall", "x", "--no-start"], ["search", "x", "--no-start"], ["list", "--no-start"], ["status"]],
)
def test_without_a_daemon_the_status_is_3_and_the_message_says_how_to_start_it(command, capsys):
    assert main(command) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"memrecall: no memrecalld serves .*; start it: .*memrecalld, .*: .*memrecall service install\n", err
    )


@pytest.mark.parametrize("command", [["recall", "x"], ["search", "x"], ["list"], ["status"]])
def test_a_socket_path_that_is_too_long_is_named_as_the_cause(command, capsys):
    assert main([*command, "--socket", f"/tmp/{'x' * 110}/sock"]) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "longer than 107 bytes" in err and "MEMRECALLD_SOCKET" in err


def test_help_and_version_are_status_0(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"memrecall {memrecalld.__version__}\n"
    for arguments in (["--help"], ["recall", "--help"], ["demo", "--help"]):
        assert main(arguments) == 0
        assert "usage: memrecall" in capsys.readouterr().out
