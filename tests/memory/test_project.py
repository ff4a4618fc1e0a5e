"""Which project a path belongs to: one project under all its names, and never two under one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memrecalld.errors import InvalidProject
from memrecalld.memory.project import MAX_PATH_BYTES, NoProject, Project, locate, project_path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def found(path: Path | str, home: Path, **environment: str) -> Project:
    project = locate(str(path), environment=environment, home=str(home))
    assert isinstance(project, Project)
    return project


def refused(path: Path | str, home: Path, **environment: str) -> NoProject:
    reason = locate(str(path), environment=environment, home=str(home))
    assert isinstance(reason, str)
    return reason


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false")
    subprocess.run(
        ["git", *identity, *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"},
    )


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git("init", "-q", ".", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=path)
    return path


# --- what a client may give


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/w/a", "/w/a"),
        ("/w/a/", "/w/a/"),
        ("/w/%2e%2e/a b#c?d", "/w/%2e%2e/a b#c?d"),
        ("file:///w/a", "/w/a"),
        ("file:/w/a", "/w/a"),
        ("FILE://LocalHost/w/a", "/w/a"),
        ("file:///w/a%20b/%C3%84%23%3f", "/w/a b/Ä#?"),
        ("file:///w/%2e%2e/a", "/w/../a"),
        ("file:///w/Ä", "/w/Ä"),
    ],
)
def test_absolute_paths_and_file_uris_are_taken(given: str, path: str) -> None:
    assert project_path(given) == path


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("", "an empty string"),
        ("secret/a", "a relative path"),
        ("..", "a relative path"),
        ("~/secret", "a relative path"),
        ("%2e%2e", "a relative path"),
        ("http://secret/a", "a relative path"),
        ("file:secret", "a relative path"),
        ("file:", "an empty string"),
        ("file://secret/a", "a URI of another host"),
        ("file://[secret/a", "a malformed URI"),
        ("file:///secret?x", "a URI with a query or a fragment"),
        ("file:///secret#x", "a URI with a query or a fragment"),
        ("file:///secret/%ff", "a URI that is not UTF-8"),
        ("/secret\0", "a NUL character"),
        ("file:///secret%00", "a NUL character"),
        ("/secret\ud800", "not Unicode text"),
        ("/" + "secret" * MAX_PATH_BYTES, "more than 4096 bytes"),
        ("/" + "Ä" * (MAX_PATH_BYTES // 2), "more than 4096 bytes"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(given: str, what: str) -> None:
    with pytest.raises(InvalidProject) as refusal:
        project_path(given)

    assert refusal.value.code == -32602
    assert "expected an absolute path or a file: URI" in str(refusal.value)
    assert what in str(refusal.value)
    assert "secret" not in str(refusal.value)


# --- what is no project


def test_root_home_and_temporary_folders_are_no_project(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "link").symlink_to(home)

    assert refused("/", home) == "filesystem-root"
    assert refused("//..", home) == "filesystem-root"
    assert refused(home, home) == "home"
    assert refused(f"{home}/./", home) == "home"
    assert refused(tmp_path / "link", home) == "home"
    assert refused("/tmp", home) == "temporary-folder"
    assert refused("/var/tmp/", home) == "temporary-folder"
    assert refused(own, home, TMPDIR=str(own)) == "temporary-folder"
    assert found(own, home).directory == str(own)


def test_folders_inside_them_are_projects(home: Path, tmp_path: Path) -> None:
    assert found(home / "p", home).root == str(home / "p")
    assert found(tmp_path / "p", home, TMPDIR=str(tmp_path)).root == str(tmp_path / "p")


def test_home_under_version_control_does_not_unite_all_projects(home: Path) -> None:
    (home / ".git").mkdir()
    for name in ("p", "q"):
        (home / name).mkdir()

    assert found(home / "p", home).root == str(home / "p")
    assert found(home / "q", home).repository == str(home / "q")
    assert refused(home, home) == "home"


# --- anchors


def test_directory_outside_a_repository_is_its_own_anchor(tmp_path: Path, home: Path) -> None:
    (tmp_path / "p").mkdir()

    project = found(tmp_path / "p", home)

    assert project == Project(directory=str(tmp_path / "p"), git_root=None, repository=str(tmp_path / "p"))


def test_subfolder_and_open_file_belong_to_the_repository(tmp_path: Path, home: Path) -> None:
    root = repository(tmp_path / "p")
    (root / "src").mkdir()
    (root / "src/a.py").touch()

    for path in (root / "src", root / "src/a.py", root / "gone/deeper"):
        assert found(path, home).root == str(root)
        assert found(path, home).repository == str(root)


def test_open_file_outside_a_repository_means_its_folder(tmp_path: Path, home: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").touch()

    assert found(tmp_path / "p/a.py", home).root == str(tmp_path / "p")


def test_all_names_of_a_folder_are_one_project(tmp_path: Path, home: Path) -> None:
    real = tmp_path / "real"
    (real / "p").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "direct").symlink_to(real / "p")

    names = [
        "real/p",
        "real/p/",
        "real/./p",
        "real//p",
        "real/../real/p",
        "link/p",
        "direct",
        "link/../real/p",
    ]
    assert {found(f"{tmp_path}/{name}", home).root for name in names} == {str(real / "p")}


def test_deleted_folder_is_the_project_it_was(tmp_path: Path, home: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = found(gone, home)
    gone.rmdir()

    assert found(gone, home) == before


def test_worktree_is_its_own_root_in_the_main_repository(tmp_path: Path, home: Path) -> None:
    main = repository(tmp_path / "main")
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=main)
    (tmp_path / "tree/src").mkdir()

    project = found(tmp_path / "tree/src", home)

    assert project.root == str(tmp_path / "tree")
    assert project.repository == str(main)
    assert found(main, home).repository == str(main)


def test_worktree_of_a_bare_repository_is_anchored_at_it(tmp_path: Path, home: Path) -> None:
    main = repository(tmp_path / "main")
    git("clone", "-q", "--bare", str(main), str(tmp_path / "bare.git"), cwd=tmp_path)
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=tmp_path / "bare.git")

    assert found(tmp_path / "tree", home).repository == str(tmp_path / "bare.git")


def test_worktree_of_a_repository_in_the_home_folder_stays_its_own(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=home)

    assert found(tmp_path / "tree", home).repository == str(tmp_path / "tree")


def test_submodule_is_its_own_project(tmp_path: Path, home: Path) -> None:
    library, main = repository(tmp_path / "library"), repository(tmp_path / "main")
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sub", cwd=main)

    assert found(main / "sub", home).repository == str(main / "sub")


def test_forged_git_file_does_not_claim_another_project(tmp_path: Path, home: Path) -> None:
    main = repository(tmp_path / "main")
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=main)
    forged = tmp_path / "forged"
    forged.mkdir()

    for claim in (
        (tmp_path / "tree/.git").read_text(),  # a worktree of it, which another folder already is
        f"gitdir: {main}/.git\n",
        f"gitdir: {main}/.git/worktrees\n",
        "gitdir: \n",
        "gitdir: /nowhere\n",
        "nothing\n",
        "\0\n",
    ):
        (forged / ".git").write_text(claim)
        assert found(forged, home).repository == str(forged)


def test_forged_git_directory_does_not_claim_another_project(tmp_path: Path, home: Path) -> None:
    """Here both directions agree, but the worktree's own directory lies in the forger's hands."""
    main, forged = repository(tmp_path / "main"), tmp_path / "forged"
    own = forged / "worktrees/tree"
    own.mkdir(parents=True)
    (forged / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{forged}/.git\n")
    for claim in (f"{main}/.git", f"{main}/.git/."):
        (own / "commondir").write_text(claim)
        assert found(forged, home).repository == str(forged)


def test_odd_git_entries_neither_block_nor_fail(tmp_path: Path, home: Path) -> None:
    for name in ("pipe", "loop", "empty"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe/.git")
    (tmp_path / "loop/.git").symlink_to(".git")
    (tmp_path / "empty/.git").mkdir()

    assert found(tmp_path / "pipe", home).repository == str(tmp_path / "pipe")
    assert found(tmp_path / "loop", home).git_root is None
    assert found(tmp_path / "empty", home).git_root == str(tmp_path / "empty")


def test_path_too_long_to_exist_is_still_answered(tmp_path: Path, home: Path) -> None:
    assert found(f"/{'n' * 300}/x", home).root == f"/{'n' * 300}/x"
