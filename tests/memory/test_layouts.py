"""Where each host keeps its notes, and in which order the folders are asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrecalld.errors import InvalidProject
from memrecalld.memory.layouts import Places, Root, native_key, places, slug


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "w" / "my-app"
    (folder / ".git").mkdir(parents=True)
    return folder


def paths(found: Places) -> list[tuple[str, str, str]]:
    return [(root.scope, root.layout, root.path) for root in found.roots]


def test_three_layouts_project_notes_first(home: Path, project: Path) -> None:
    found = places(f"{project}/src", environment={}, home=str(home))

    assert paths(found) == [
        ("project", "native", f"{home}/.local/share/memrecalld/projects/{native_key(str(project))}"),
        ("project", "qwen", f"{home}/.qwen/projects/{slug(str(project))}/memory"),
        ("project", "claude", f"{home}/.claude/projects/{slug(str(project))}/memory"),
        ("user", "native", f"{home}/.local/share/memrecalld/user"),
        ("user", "qwen", f"{home}/.qwen/memories"),
    ]
    assert [root.required for root in found.roots] == [True, True, True, False, False]
    assert found.project is not None
    assert found.project.root == str(project)
    assert found.no_project is None


def test_layouts_are_used_as_configured(home: Path, project: Path) -> None:
    found = places(str(project), environment={}, home=str(home), layouts=["claude", "native"])

    assert [(root.scope, root.layout) for root in found.roots] == [
        ("project", "claude"),
        ("project", "native"),
        ("user", "native"),
    ]


@pytest.mark.parametrize(
    ("environment", "layout", "base"),
    [
        ({"XDG_DATA_HOME": "/d"}, "native", "/d/memrecalld/"),
        ({"XDG_DATA_HOME": "relative"}, "native", "HOME/.local/share/memrecalld/"),
        ({"XDG_DATA_HOME": ""}, "native", "HOME/.local/share/memrecalld/"),
        ({"QWEN_CODE_MEMORY_BASE_DIR": "/b", "QWEN_RUNTIME_DIR": "/r", "QWEN_HOME": "/h"}, "qwen", "/b/"),
        ({"QWEN_RUNTIME_DIR": "/r", "QWEN_HOME": "/h"}, "qwen", "/r/"),
        ({"QWEN_HOME": "/h"}, "qwen", "/h/"),
        ({"QWEN_CODE_MEMORY_BASE_DIR": "~/b"}, "qwen", "HOME/b/"),
        ({"QWEN_CODE_MEMORY_BASE_DIR": "relative", "QWEN_RUNTIME_DIR": ""}, "qwen", "HOME/.qwen/"),
        ({"CLAUDE_CONFIG_DIR": "/c"}, "claude", "/c/"),
        ({"CLAUDE_CONFIG_DIR": "relative"}, "claude", "HOME/.claude/"),
    ],
)
def test_variables_move_a_layout(
    environment: dict[str, str], layout: str, base: str, home: Path, project: Path
) -> None:
    found = places(str(project), environment=environment, home=str(home))

    moved = [root.path for root in found.roots if root.layout == layout]
    assert moved
    assert all(path.startswith(base.replace("HOME", str(home))) for path in moved)


def test_worktree_has_its_own_qwen_notes_and_shares_the_others(home: Path, tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    own = main / ".git/worktrees/tree"
    own.mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree}/.git\n")

    by_layout = {
        root.layout: root.path
        for root in places(str(tree), environment={}, home=str(home)).roots
        if root.scope == "project"
    }

    assert by_layout["qwen"] == f"{home}/.qwen/projects/{slug(str(tree))}/memory"
    assert by_layout["claude"] == f"{home}/.claude/projects/{slug(str(main))}/memory"
    assert by_layout["native"].endswith(native_key(str(main)))


@pytest.mark.parametrize(
    ("given_project", "reason"),
    [(None, "not-given"), ("/", "filesystem-root"), ("HOME", "home"), ("/tmp", "temporary-folder")],
)
def test_without_a_project_only_user_notes_are_used(
    given_project: str | None, reason: str, home: Path
) -> None:
    named = str(home) if given_project == "HOME" else given_project
    found = places(
        named,
        environment={},
        home=str(home),
        extra_project_roots=["/x"],
        extra_user_roots=["/y"],
        trusted_projects=["/**"],
    )

    assert found.project is None
    assert found.no_project == reason
    assert [(root.scope, root.layout) for root in found.roots] == [
        ("user", "native"),
        ("user", "qwen"),
        ("user", "extra"),
    ]


def test_invalid_project_is_an_error(home: Path) -> None:
    with pytest.raises(InvalidProject):
        places("relative", environment={}, home=str(home))


def test_extra_roots_come_after_those_of_their_scope(home: Path, project: Path) -> None:
    found = places(
        str(project),
        environment={},
        home=str(home),
        layouts=["qwen"],
        extra_project_roots=["~/team", "/srv/notes"],
        extra_user_roots=["~"],
    )

    assert paths(found)[1:3] == [
        ("project", "extra", f"{home}/team"),
        ("project", "extra", "/srv/notes"),
    ]
    assert paths(found)[-1] == ("user", "extra", str(home))


def test_folder_reached_twice_is_asked_once(home: Path, project: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (tmp_path / "link").symlink_to(store)
    missing = tmp_path / "missing"

    found = places(
        str(project),
        environment={},
        home=str(home),
        layouts=[],
        extra_project_roots=[str(store), str(tmp_path / "link"), str(missing), f"{missing}/./"],
        extra_user_roots=[f"{store}/", str(missing)],
    )

    assert found.roots == (
        Root(scope="project", layout="extra", path=str(store), real_path=str(store), required=True),
        Root(scope="project", layout="extra", path=str(missing), real_path=str(missing), required=True),
    )
    assert found.real_paths == (str(store), str(missing))


def test_root_may_be_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (home / ".qwen").mkdir()
    (home / ".qwen/memories").symlink_to(store)

    root = places(str(project), environment={}, home=str(home), layouts=["qwen"]).roots[-1]

    assert (root.path, root.real_path) == (f"{home}/.qwen/memories", str(store))


# --- team notes


def team(project: Path, home: Path, *globs: str) -> list[str]:
    found = places(str(project), environment={}, home=str(home), layouts=[], trusted_projects=globs)
    return [root.path for root in found.roots if root.layout == "team"]


def test_team_notes_are_read_for_trusted_projects_only(home: Path, project: Path, tmp_path: Path) -> None:
    notes = [f"{project}/.qwen/team-memory"]

    assert team(project, home) == []
    assert team(project, home, "/elsewhere/*", f"{tmp_path}/w") == []
    assert team(project, home, str(project)) == notes
    assert team(project, home, f"{project}/") == notes
    assert team(project, home, f"{tmp_path}/w/*") == notes
    assert team(project, home, f"{tmp_path}/w/my-*") == notes
    assert team(project, home, f"{tmp_path}/**") == notes
    assert team(project, home, f"{tmp_path}/**/my-app") == notes
    assert team(project / "src", home, str(project)) == notes


def test_star_of_a_trusted_glob_stays_within_a_component(home: Path, tmp_path: Path) -> None:
    evil = tmp_path / "w/vendor/evil"
    (evil / ".git").mkdir(parents=True)

    assert team(evil, home, f"{tmp_path}/w/*") == []
    assert team(evil, home, f"{tmp_path}/*il") == []
    assert team(evil, home, "*") == []


def test_glob_under_home_is_expanded(home: Path) -> None:
    (home / "p/.git").mkdir(parents=True)

    assert team(home / "p", home, "~/*") == [f"{home}/p/.qwen/team-memory"]


def test_trust_goes_by_the_real_path(home: Path, project: Path, tmp_path: Path) -> None:
    trusted = tmp_path / "trusted"
    trusted.mkdir()
    (trusted / "link").symlink_to(project)

    assert team(trusted / "link", home, f"{trusted}/*") == []


def test_team_notes_of_a_trusted_project_stay_inside_it(home: Path, project: Path) -> None:
    (project / ".qwen").symlink_to(home)

    assert team(project, home, str(project)) == []


def test_trusted_folder_outside_a_repository_has_no_team_notes(home: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()

    assert team(tmp_path / "plain", home, f"{tmp_path}/*") == []


# --- names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/w/a-b/c", "/w/a/b-c"),
        ("/w/my-app", "/w/my/app"),
        ("/w/x_y", "/w/x y"),
        ("/w/Ä", "/w/A"),
        ("/w/Ä", "/w/A\u0308"),
        ("/w/App", "/w/app"),
        ("/w/a+b", "/w/a/b"),
        ("/w/a%2Fb", "/w/a/b"),
        ("/w/a~b", "/w/a%7Eb"),
        ("/" + "n" * 400, "/" + "n" * 401),
        ("/" + "n" * 254, "/" + "n" * 255),
    ],
)
def test_different_paths_have_different_native_keys(one: str, other: str) -> None:
    assert native_key(one) != native_key(other)


def test_native_key_is_readable() -> None:
    assert native_key("/home/u/my-app_2.0") == "+home+u+my-app_2.0"
    assert native_key("/home/ü ~+%") == "+home+%C3%BC%20%7E%2B%25"


PATH = st.lists(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=90),
    min_size=1,
    max_size=6,
).map(lambda parts: "/" + "/".join(parts))


@given(PATH, PATH)
@settings(deadline=None)
def test_native_key_is_one_file_name_of_one_path(one: str, other: str) -> None:
    key = native_key(one)

    assert "/" not in key
    assert not key.startswith(".")
    assert len(os.fsencode(key)) <= 255
    assert key.isascii()
    assert (key == native_key(other)) == (one == other)


def test_native_key_takes_a_name_that_is_not_utf8() -> None:
    assert native_key(os.fsdecode(b"/w/\xff")) == "+w+%FF"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/u/My_App.v2", "-home-u-My-App-v2"),
        ("/w/Ä é", "-w----"),
        ("/w/漢字", "-w---"),
        ("/w/😀", "-w---"),  # two UTF-16 units
        ("/w/a😀b𠮷", "-w-a--b--"),
    ],
)
def test_slug_is_that_of_the_javascript_hosts(path: str, name: str) -> None:
    assert slug(path) == name
    units = len(path.encode("utf-16-le")) // 2
    assert len(slug(path)) == units
