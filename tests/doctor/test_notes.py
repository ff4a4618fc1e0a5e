"""What is in the folders of notes, what is left out, and what looks wrong, without a daemon."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from memrecalld.doctor import notes
from memrecalld.doctor.finding import Finding
from memrecalld.doctor.patience import within
from memrecalld.memory.layouts import native_key
from tests.doctor.conftest import User, bad

TOKEN = "ghp_" + "0a1B2c3D4e5F6g7H8i9J" * 2
SECRET_TEXT = "mangosteen"


@pytest.fixture
def folder(user: User) -> Path:
    """The project's folder of notes, with one in it."""
    folder = user.home / ".local/share/memrecalld/projects" / native_key(str(user.project))
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text(f"# Deploy\n{SECRET_TEXT}\n", encoding="utf-8")
    return folder


def findings_of(user: User) -> list[Finding]:
    return list(notes.check(user.subject))


def test_every_folder_is_named_with_what_is_in_it(user: User, folder: Path) -> None:
    said = [finding.what for finding in findings_of(user)]
    assert f"1 note in {folder} (project notes, native)" in said
    assert f"{user.home}/.qwen/memories (user notes, qwen) does not exist yet" in said
    assert len(said) == 5
    assert not bad(findings_of(user))


def test_what_is_left_out_is_named_with_the_reason(user: User, folder: Path) -> None:
    (folder / "hosts.md").symlink_to("/etc/hosts")
    os.mkfifo(folder / "pipe.md")
    by_reason = {finding.what.split(":")[0]: finding for finding in bad(findings_of(user))}
    outside, pipe = by_reason["left out (outside-roots)"], by_reason["left out (not-a-regular-file)"]
    assert (outside.severity, pipe.severity) == ("warning", "hint")
    assert str(folder / "hosts.md") in outside.what
    assert outside.fix is not None


def test_of_many_files_a_few_are_named_and_all_are_counted(user: User, folder: Path) -> None:
    for number in range(12):
        (folder / f"gone{number:02}.md").symlink_to("/nowhere")
    [finding] = bad(findings_of(user))
    assert finding.what.count("gone") == 5
    assert finding.what.endswith("and 7 more")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("---\nname: a\n\nno end", "no closing ---"),
        ("---\nname: `a`: b\n---\n", "not plain YAML"),
        ("---\nname: fixed in PR #4 today\n---\n", "cut or changed"),
        ("---\nname: a\nname: b\n---\n", "a key twice"),
    ],
)
def test_a_head_that_had_to_be_mended_is_a_hint(user: User, folder: Path, head: str, said: str) -> None:
    (folder / "head.md").write_text(head, encoding="utf-8")
    [finding] = bad(findings_of(user))
    assert finding.severity == "hint"
    assert said in finding.what
    assert str(folder / "head.md") in finding.what


def test_a_note_of_ones_own_that_seems_to_hold_a_secret_is_named_with_the_rule_alone(
    user: User, folder: Path
) -> None:
    (folder / "leak.md").write_text(f"# Leak\n{TOKEN}\n", encoding="utf-8")
    [finding] = bad(findings_of(user))
    assert finding.severity == "warning"
    assert str(folder / "leak.md") in finding.what
    assert "secret-github-token" in finding.what
    assert "goes to the model" in finding.what
    assert TOKEN not in str(findings_of(user))


def test_a_note_of_a_trusted_repository_is_named_as_not_delivered(user: User, folder: Path) -> None:
    team = user.project / ".qwen" / "team-memory"
    team.mkdir(parents=True)
    (team / "leak.md").write_text(TOKEN, encoding="utf-8")
    (team / "fine.md").write_text("# Fine", encoding="utf-8")
    user.configure(f'[memory]\ntrusted_projects = ["{user.project}"]\n')
    [finding] = bad(findings_of(user))
    assert "it is not delivered" in finding.what
    assert str(team / "leak.md") in finding.what
    assert f"1 note in {team} (project notes, team)" in [each.what for each in findings_of(user)]


def test_notes_of_a_repository_that_is_not_trusted_are_hinted_at(user: User, folder: Path) -> None:
    team = user.project / ".qwen" / "team-memory"
    team.mkdir(parents=True)
    [finding] = bad(findings_of(user))
    assert finding.severity == "hint"
    assert str(team) in finding.what
    assert finding.fix is not None
    assert "trusted_projects" in finding.fix


def test_very_many_secrets_are_summed_up(user: User, folder: Path) -> None:
    for number in range(30):
        (folder / f"leak{number}.md").write_text(TOKEN, encoding="utf-8")
    *named, last = bad(findings_of(user))
    assert len(named) == 20
    assert last.what == f"in all, 30 notes of {folder} seem to (secret-github-token 30)"


def test_a_projects_folder_that_cannot_be_read_is_an_error(user: User, folder: Path) -> None:
    (folder / "deploy.md").unlink()
    folder.rmdir()
    folder.write_text("a file", encoding="ascii")
    [finding] = bad(findings_of(user))
    assert finding.severity == "error"
    assert "not-a-directory" in finding.what


def test_a_folder_of_the_users_that_cannot_be_read_is_a_warning(user: User) -> None:
    user_folder = user.home / ".qwen" / "memories"
    user_folder.parent.mkdir()
    user_folder.write_text("a file", encoding="ascii")
    [finding] = bad(findings_of(user))
    assert finding.severity == "warning"
    assert "not-a-directory" in finding.what


def test_a_folder_that_is_no_project_is_a_hint(user: User) -> None:
    user.project = user.home
    [finding] = bad(findings_of(user))
    assert finding.severity == "hint"
    assert "only your own notes" in finding.what


def test_notes_from_the_future_are_a_hint(user: User, folder: Path) -> None:
    ahead = time.time() + 3 * 86_400
    os.utime(folder / "deploy.md", (ahead, ahead))
    [finding] = bad(findings_of(user))
    assert finding.severity == "hint"
    assert "future" in finding.what


def test_a_folder_on_a_file_system_that_tells_of_no_changes_is_a_hint(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "is_local", lambda _path: False)
    [finding] = bad(findings_of(user))
    assert (finding.severity, str(folder) in finding.what) == ("hint", True)


def test_a_folder_that_never_answers_is_a_warning(
    user: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(notes, "READ_S", 0.1)
    monkeypatch.setattr(notes, "read_root", lambda *_: over.wait(60))
    try:
        [finding] = [each for each in bad(findings_of(user)) if str(folder) in each.what]
    finally:
        over.set()
    assert (finding.severity, "does not answer" in finding.what) == ("warning", True)


def test_what_never_answers_is_given_up_in_time() -> None:
    over = threading.Event()
    try:
        with pytest.raises(TimeoutError):
            within(0.05, over.wait)
    finally:
        over.set()


def test_what_fails_in_time_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 / 0)
    assert within(60, lambda: 7) == 7


def test_no_text_of_a_note_is_told(user: User, folder: Path) -> None:
    (folder / "head.md").write_text(
        f"---\nname: {SECRET_TEXT}: x\n---\n{SECRET_TEXT} {TOKEN}", encoding="utf-8"
    )
    assert len(bad(findings_of(user))) == 2
    assert SECRET_TEXT not in str(findings_of(user))
