"""Which project a call is about, and that no note ever crosses to another."""

from __future__ import annotations

import pytest

from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.turns import Project, Turn

WORDS = [
    "harbour",
    "crane",
    "flamingo",
    "kernel",
    "teapot",
    "violin",
    "glacier",
    "pepper",
    "lantern",
    "comet",
]
WORDS += [
    "walnut",
    "anchor",
    "meadow",
    "turbine",
    "saddle",
    "ribbon",
    "quartz",
    "thunder",
    "compass",
    "orchid",
]


@pytest.fixture
def projects(plain_daemon, tmp_path):
    """Three projects, with a note each that says which it is."""
    folders = [Project(plain_daemon, plain_daemon.home / tmp_path.name / name) for name in "abc"]
    for folder in folders:
        folder.write("where", note(f"Project {folder.root.name}", "our mooring position"))
    return folders


async def current(client):
    """Title of the note of the project that a call without one is about."""
    [document] = (await client.call("memory/search", {"query": "mooring position"}))["documents"] or [
        {"title": None}
    ]
    turn = await Turn.start(client, "mooring position")
    assert turn.fast_titles == ([document["title"]] if document["title"] else [])
    return document["title"]


def folder(project):
    return {"uri": project.root.as_uri(), "name": project.root.name}


async def change(client, *, added=(), removed=()):
    event = {"added": [folder(each) for each in added], "removed": [folder(each) for each in removed]}
    await client.notify("workspace/didChangeWorkspaceFolders", {"event": event})


async def test_the_first_workspace_folder_is_the_default_project(plain_client, projects):
    a, b, c = projects
    assert await current(plain_client) is None
    await plain_client.call(
        "initialize", {"processId": 1, "rootUri": None, "workspaceFolders": [folder(b), folder(a)]}
    )
    assert await current(plain_client) == "Project b"
    await change(plain_client, removed=[b])
    assert await current(plain_client) == "Project a"
    await change(plain_client, added=[c, b])
    assert await current(plain_client) == "Project a"
    await change(plain_client, removed=[a, b])
    assert await current(plain_client) == "Project c"
    await change(plain_client, removed=[c])
    assert await current(plain_client) is None


@pytest.mark.parametrize("named_by", ["rootUri", "rootPath"])
async def test_without_workspace_folders_the_root_is_the_default_project(plain_client, projects, named_by):
    root = projects[1].root
    await plain_client.call(
        "initialize",
        {"workspaceFolders": None, named_by: root.as_uri() if named_by == "rootUri" else str(root)},
    )
    assert await current(plain_client) == "Project b"


async def test_a_folder_outside_the_file_system_is_passed_over(plain_client, projects):
    virtual = {"uri": "vscode-vfs://github/example/repository", "name": "repository"}
    await plain_client.call("initialize", {"workspaceFolders": [virtual]})
    assert await current(plain_client) is None
    await plain_client.call("initialize", {"workspaceFolders": [virtual, folder(projects[2])]})
    assert await current(plain_client) == "Project c"


async def test_workspace_folders_are_those_of_one_connection(plain_daemon, plain_client, projects):
    await plain_client.call("initialize", {"workspaceFolders": [folder(projects[0])]})
    async with await WireClient.connect(plain_daemon.socket) as other:
        await other.call("initialize", {"workspaceFolders": [folder(projects[1])]})
        assert await current(other) == "Project b"
        assert await current(plain_client) == "Project a"


async def test_what_a_call_names_comes_before_the_workspace(plain_client, projects):
    a, b, _ = projects
    await plain_client.call("initialize", {"workspaceFolders": [folder(a)]})
    turn = await Turn.start(plain_client, "mooring position", b)
    assert turn.fast_titles == ["Project b"]


async def test_one_project_has_many_names(plain_client, plain_daemon, tmp_path):
    project = Project(plain_daemon, plain_daemon.home / tmp_path.name / "my app ü")
    project.write("where", note("Here", "our mooring position"))
    (project.root / "src").mkdir()
    (project.root / "src" / "main.py").touch()
    link = project.root.parent / "link"
    link.symlink_to(project.root)
    root = str(project.root)
    for name in (
        root,
        f"{root}/",
        f"{root}/./",
        f"{root}/src",
        f"{root}/src/../src/main.py",
        str(link),
        project.root.as_uri(),
        project.root.as_uri().replace("file:///", "file://localhost/"),
        f"file://{root}".replace("my app", "my%20app"),
    ):
        params = {"query": "mooring position", "projectRoot": name}
        [document] = (await plain_client.call("memory/search", params))["documents"]
        assert document["title"] == "Here", name


async def test_notes_of_two_projects_with_similar_names_never_cross(plain_client, plain_daemon, tmp_path):
    base = plain_daemon.home / tmp_path.name
    pairs = [("my-app", "my/app"), ("a-b/c", "a/b-c"), ("x_y", "x y"), ("Ä", "A"), ("Case", "case")]
    projects = [Project(plain_daemon, base / name) for pair in pairs for name in pair]
    for number, project in enumerate(projects):
        for word in WORDS:
            project.write(word, note(f"{word} {number}", f"the {word} of this project"))
    for number, project in enumerate(projects):
        for word in WORDS[number % 2 :: 2] if number > 1 else WORDS:
            params = {"query": word, "projectRoot": str(project.root), "limit": 100}
            found = (await plain_client.call("memory/search", params))["documents"]
            assert [document["title"] for document in found] == [f"{word} {number}"]
            turn = await Turn.start(plain_client, word, project)
            assert turn.fast_titles == [f"{word} {number}"]
        listed = await plain_client.call("memory/list", {"projectRoot": str(project.root)})
        assert {document["title"] for document in listed["documents"]} == {
            f"{word} {number}" for word in WORDS
        }


@pytest.mark.parametrize("root", ["/", "/tmp", "/var/tmp", "home"])
async def test_the_root_home_and_temporary_folders_are_no_projects(plain_client, plain_daemon, root):
    root = str(plain_daemon.home) if root == "home" else root
    project = (await plain_client.call("daemon/status", {"projectRoot": root}))["project"]
    assert project["root"] is None
    assert project["reason"] in {"filesystem-root", "temporary-folder", "home"}
    assert {each["scope"] for each in project["roots"]} == {"user"}


async def test_notes_of_a_host_that_recalls_them_itself_can_be_left_out(start_daemon, connect_wire):
    daemon = start_daemon()
    for layout, path in (("native", daemon.user_notes), ("qwen", daemon.home / ".qwen" / "memories")):
        path.mkdir(parents=True)
        (path / "deploy.md").write_text(
            note(f"Deploy as {layout}", "how to deploy", layout), encoding="utf-8"
        )
    client = await connect_wire(daemon)
    both = await Turn.start(client, "deploy")
    assert sorted(both.fast_titles) == ["Deploy as native", "Deploy as qwen"]
    without = await Turn.start(client, "deploy", excludeLayouts=["qwen"])
    assert without.fast_titles == ["Deploy as native"]
