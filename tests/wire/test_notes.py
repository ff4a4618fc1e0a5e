"""Looking notes up outside any turn, and what the daemon says about itself."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.daemon import DaemonProcess
from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.turns import Project, Turn, new_session, poll

DAY_S = 86_400
NOW_S = 1_700_000_000


def dated(path, days_old):
    """Set a note's age, against a day in the past, so that none is from the future."""
    then = NOW_S - days_old * DAY_S
    os.utime(path, (then, then))


async def test_a_search_ranks_and_says_why(plain_client, plain_project):
    plain_project.write("title", note("Flamingo", "pink"))
    plain_project.write("body", note("Bird", "wings", "a flamingo among others"))
    plain_project.write("other", note("Lunch", "noodles"))
    params = {"query": "the flamingo", "projectRoot": str(plain_project.root)}
    found = (await plain_client.call("memory/search", params))["documents"]
    assert [document["title"] for document in found] == ["Flamingo", "Bird"]
    assert found[0]["score"] > found[1]["score"] > 0
    assert [match["field"] for match in found[0]["matched"] if match["term"] == "flamingo"] == ["title"]
    assert [match["field"] for match in found[1]["matched"] if match["term"] == "flamingo"] == ["body"]
    assert found[1]["body"] == "a flamingo among others"
    assert (await plain_client.call("memory/search", params | {"limit": 1}))["documents"] == found[:1]
    assert (await plain_client.call("memory/search", params | {"query": "👍"}))["documents"] == []


async def test_a_search_has_five_results_unless_told_otherwise(plain_client, plain_project):
    for number in range(12):
        plain_project.write(f"n{number}", note(f"Flamingo {number}", "pink"))
    params = {"query": "flamingo", "projectRoot": str(plain_project.root)}
    assert len((await plain_client.call("memory/search", params))["documents"]) == 5
    assert len((await plain_client.call("memory/search", params | {"limit": 100}))["documents"]) == 12


async def test_a_search_touches_no_session(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    session = new_session()
    params = {"query": "deploy", "projectRoot": str(plain_project.root), "sessionId": session}
    before = (await plain_client.call("daemon/status"))["sessions"]
    assert len((await plain_client.call("memory/search", params))["documents"]) == 1
    assert (await plain_client.call("daemon/status"))["sessions"] == before
    assert (await Turn.start(plain_client, "deploy", plain_project, session=session)).fast_titles == [
        "Deploy"
    ]
    # And no session hides anything from it.
    assert len((await plain_client.call("memory/search", params))["documents"]) == 1


async def test_a_list_is_of_the_newest_two_hundred_of_each_scope_without_bodies(start_daemon, connect_wire):
    daemon = start_daemon()
    for number in range(205):
        dated(
            daemon.write_note("project", f"p{number:03}.md", note(f"P {number:03}", "x", "the body")), number
        )
        dated(
            daemon.write_note("user", f"u{number:03}.md", note(f"U {number:03}", "x", "the body")),
            number + 0.5,
        )
    client = await connect_wire(daemon)
    documents = (await client.call("memory/list", {"projectRoot": str(daemon.project)}))["documents"]
    assert [document["title"] for document in documents] == [
        f"{scope} {number:03}" for scope in "PU" for number in range(200)
    ]
    assert not any("body" in document for document in documents)
    assert documents[0] == {
        "scope": "project",
        "type": "project",
        "title": "P 000",
        "description": "x",
        "path": str(daemon.project_notes / "p000.md"),
        "relativePath": "p000.md",
        "savedAt": "2023-11-14T22:13:20Z",
        "age": documents[0]["age"],
    }
    assert documents[0]["age"].startswith("saved ") and documents[0]["age"].endswith(" days ago")
    own = (await client.call("memory/list"))["documents"]
    assert [document["scope"] for document in own] == ["user"] * 200


async def test_a_note_is_read_by_the_path_it_was_shown_with(plain_client, plain_project):
    written = plain_project.write("sub/deploy", note("Deploy", "how to deploy", "x" * 2_000))
    params = {"projectRoot": str(plain_project.root)}
    [found] = (await plain_client.call("memory/search", params | {"query": "deploy"}))["documents"]
    read = (await plain_client.call("memory/read", params | {"path": found["path"]}))["document"]
    assert read == {name: value for name, value in found.items() if name not in {"matched", "score"}}
    assert (read["body"], read["truncated"]) == ("x" * 1_200, True)
    written.write_text(note("Deploy", "how to deploy", "another way"), encoding="utf-8")
    assert (await plain_client.call("memory/read", params | {"path": found["path"]}))["document"][
        "body"
    ] == "another way"
    written.unlink()
    await plain_client.call_error("memory/read", params | {"path": found["path"]})


async def test_nothing_but_the_notes_of_the_project_and_the_user_is_read(
    plain_daemon, plain_client, plain_project
):
    note_path = plain_project.write("deploy", note("Deploy", "how to deploy"))
    folder = note_path.parent
    (folder / "MEMORY.md").write_text("an index", encoding="utf-8")
    (folder / "secret.txt").write_text("no note", encoding="utf-8")
    (folder / "out.md").symlink_to("/etc/hostname")
    other = Project(plain_daemon, plain_daemon.home / f"{plain_project.root.name}-other")
    params = {"projectRoot": str(plain_project.root)}
    await plain_client.call("memory/read", params | {"path": str(note_path)})
    for path in (
        "",
        "deploy.md",
        "/etc/hostname",
        str(folder),
        f"{folder}/",
        f"{folder}/./deploy.md",
        f"{folder}/../{folder.name}/deploy.md",
        f"{folder}/MEMORY.md",
        f"{folder}/secret.txt",
        f"{folder}/out.md",
        f"{note_path}\0",
        str(other.write("deploy", note("Deploy", "elsewhere"))),
    ):
        error = await plain_client.call_error("memory/read", params | {"path": path})
        assert error["code"] == -32803
        assert not path or path not in error["message"]


async def test_every_change_completed_before_a_call_is_seen_by_it(plain_client, plain_project):
    params = {"query": "deploy", "projectRoot": str(plain_project.root)}

    async def seen():
        documents = (await plain_client.call("memory/search", params))["documents"]
        return [(document["title"], document["body"]) for document in documents]

    assert await seen() == []
    for number in range(20):
        path = plain_project.write("deploy", note("Deploy", "how to", f"version {number}"))
        assert await seen() == [("Deploy", f"version {number}")]
        temporary = path.with_name("deploy.md.tmp")
        temporary.write_text(note("Deploy", "how to", f"replaced {number}"), encoding="utf-8")
        temporary.rename(path)
        assert await seen() == [("Deploy", f"replaced {number}")]
        moved = plain_project.notes.with_name(f"{plain_project.notes.name}-moved")
        plain_project.notes.rename(moved)
        assert await seen() == []
        moved.rename(plain_project.notes)
        assert await seen() == [("Deploy", f"replaced {number}")]
        path.unlink()
        assert await seen() == []


# Status ---------------------------------------------------------------------------------------------


async def test_status_counts_connections_sessions_and_turns(plain_daemon, plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    before = await plain_client.call("daemon/status")
    async with await WireClient.connect(plain_daemon.socket) as other:
        assert (await other.call("daemon/status"))["connections"] == before["connections"] + 1
    await poll(
        lambda: plain_client.call("daemon/status"), lambda now: now["connections"] == before["connections"]
    )

    turn = await Turn.start(plain_client, "deploy", plain_project)
    await turn.outcome()
    after = await plain_client.call("daemon/status")
    assert after["sessions"] == before["sessions"] + 1
    assert after["openTurns"] == 0
    assert after["topics"] == before["topics"] + 1
    assert after["counters"]["turns"] > before["counters"].get("turns", 0)
    assert after["latency"]["samples"] > before["latency"]["samples"]
    assert (
        0
        <= after["latency"]["p50"]
        <= after["latency"]["p90"]
        <= after["latency"]["p99"]
        <= after["latency"]["max"]
    )
    assert after["pid"] == plain_daemon.pid
    assert after["uptimeS"] >= before["uptimeS"] > 0
    assert after["selector"]["kind"] == "none"
    assert (after["version"], after["protocolVersion"]) == (before["version"], 1)
    assert "project" not in after


async def test_status_names_a_projects_folders_and_what_was_left_out_of_them(plain_client, plain_project):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    os.mkfifo(plain_project.notes / "pipe.md")
    (plain_project.notes / "outside.md").symlink_to("/etc/hostname")
    status = await plain_client.call("daemon/status", {"projectRoot": str(plain_project.root / "src")})
    project = status["project"]
    assert project["root"] == str(plain_project.root)
    native = next(
        root for root in project["roots"] if root["layout"] == "native" and root["scope"] == "project"
    )
    assert native == {
        "scope": "project",
        "layout": "native",
        "path": str(plain_project.notes),
        "topics": 1,
        "exists": True,
    }
    assert [root["exists"] for root in project["roots"] if root["layout"] == "claude"] == [False]
    reasons = {each["path"]: each["reason"] for each in project["skipped"]}
    assert reasons[str(plain_project.notes / "pipe.md")] == "not-a-regular-file"
    assert str(plain_project.notes / "outside.md") in reasons
    for reason in reasons.values():
        assert status["skipped"][reason] >= 1


async def test_the_selector_in_use_is_named(shared_model, client):
    assert (await client.call("daemon/status"))["selector"]["kind"] == "openai"
    capabilities = (await client.call("initialize"))["capabilities"]["experimental"]["memrecall"]
    assert capabilities["selector"] == "openai"
    assert capabilities["limits"] == {
        "initialWaitMs": 100,
        "fastDocuments": 2,
        "refinedDocuments": 5,
        "bodyCharacters": 1200,
        "messageBytes": 4 * 1024 * 1024,
    }


async def test_notes_below_a_folder_whose_name_is_no_text_are_served(tmp_path):
    daemon = DaemonProcess(Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xff")))
    daemon.write_note("user", "deploy.md", note("Deploy", "how to deploy"))
    daemon.start()
    try:
        async with await WireClient.connect(daemon.socket) as client:
            for params in ({}, {"projectRoot": str(daemon.home.parent)}):
                turn = await Turn.start(client, "deploy", **params)
                assert turn.fast_titles == ["Deploy"]
                assert "/h\ufffd/" in turn.fast["delivery"]["prompt"]
            await client.call("daemon/status", {"projectRoot": str(daemon.home.parent)})
    finally:
        daemon.close()
