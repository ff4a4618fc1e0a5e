"""Wrong parameters are refused with the name of the field and what was expected, and nothing else happens."""

from __future__ import annotations

import pytest

from tests.support.wire import frame
from tests.wire.turns import new_session

INVALID_PARAMS = -32602
START = {"sessionId": "s", "query": "deploy"}

WRONG = {
    "an array": ("recall/start", [1], "`object`"),
    "a string": ("recall/start", "s", "`object`"),
    "nothing at all": ("recall/start", {}, "`sessionId`"),
    "no session": ("recall/start", {"query": "deploy"}, "`sessionId`"),
    "no query": ("recall/start", {"sessionId": "s"}, "`query`"),
    "a query of null": ("recall/start", {"sessionId": "s", "query": None}, "$.query"),
    "a number for a query": ("recall/start", {"sessionId": "s", "query": 5}, "$.query"),
    "a list for a query": ("recall/start", {"sessionId": "s", "query": ["deploy"]}, "$.query"),
    "an empty session": ("recall/start", START | {"sessionId": ""}, "$.sessionId"),
    "a session of 10 KB": ("recall/start", START | {"sessionId": "x" * 10_240}, "$.sessionId"),
    "a number for a session": ("recall/start", START | {"sessionId": 7}, "$.sessionId"),
    "an agent of 10 KB": ("recall/start", START | {"agentId": "x" * 10_240}, "$.agentId"),
    "a number for an agent": ("recall/start", START | {"agentId": 7}, "$.agentId"),
    "a number for a project": ("recall/start", START | {"projectRoot": 7}, "$.projectRoot"),
    "a string for detached": ("recall/start", START | {"detached": "yes"}, "$.detached"),
    "a string for tools": ("recall/start", START | {"recentTools": "bash"}, "$.recentTools"),
    "a number among tools": ("recall/start", START | {"recentTools": ["bash", 7]}, "$.recentTools[1]"),
    "too many tools": ("recall/start", START | {"recentTools": ["bash"] * 1000}, "$.recentTools"),
    "an unknown layout": ("recall/start", START | {"excludeLayouts": ["obsidian"]}, "native, qwen, claude"),
    "no session at a tool result": ("recall/toolResult", {}, "`sessionId`"),
    "an empty session at a tool result": ("recall/toolResult", {"sessionId": ""}, "$.sessionId"),
    "a number for a turn": ("recall/toolResult", {"sessionId": "s", "turnId": 7}, "$.turnId"),
    "a number for a tool": ("recall/toolResult", {"sessionId": "s", "toolName": 7}, "$.toolName"),
    "no room for a prompt": ("recall/start", START | {"maxPromptChars": 0}, "$.maxPromptChars"),
    "a number of words for a prompt": ("recall/start", START | {"maxPromptChars": "9"}, "$.maxPromptChars"),
    "a number for a last delivery": ("recall/start", START | {"lastDelivery": 7}, "$.lastDelivery"),
    "no room at a tool result": ("recall/toolResult", {"sessionId": "s", "maxPromptChars": 0}, "$.maxPrompt"),
    "no session to reset": ("recall/reset", {}, "`sessionId`"),
    "an empty session to reset": ("recall/reset", {"sessionId": ""}, "$.sessionId"),
    "nothing to search for": ("memory/search", {}, "`query`"),
    "a limit of zero": ("memory/search", {"query": "deploy", "limit": 0}, "$.limit"),
    "a negative limit": ("memory/search", {"query": "deploy", "limit": -1}, "$.limit"),
    "a huge limit": ("memory/search", {"query": "deploy", "limit": 10**9}, "$.limit"),
    "a string for a limit": ("memory/search", {"query": "deploy", "limit": "5"}, "$.limit"),
    "a fraction for a limit": ("memory/search", {"query": "deploy", "limit": 1.5}, "$.limit"),
    "nothing to explain": ("memory/explain", {"query": "deploy"}, "`path`"),
    "an empty session to explain for": (
        "memory/explain",
        {"query": "deploy", "path": "/n.md", "sessionId": ""},
        "$.sessionId",
    ),
    "nothing to read": ("memory/read", {}, "`path`"),
    "a number for a path": ("memory/read", {"path": 5}, "$.path"),
    "a list of projects": ("memory/list", {"projectRoot": ["/w"]}, "$.projectRoot"),
    "a number for a status": ("daemon/status", {"projectRoot": 5}, "$.projectRoot"),
    "a string of folders": ("initialize", {"workspaceFolders": "/w"}, "$.workspaceFolders"),
    "a folder without URI": ("initialize", {"workspaceFolders": [{"name": "w"}]}, "`uri`"),
    "a number for a root": ("initialize", {"rootUri": 5}, "$.rootUri"),
}


@pytest.mark.parametrize(("method", "params", "said"), WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_parameter_is_named_with_what_was_expected(plain_client, method, params, said):
    before = await plain_client.call("daemon/status")
    error = await plain_client.call_error(method, params)
    assert error["code"] == INVALID_PARAMS
    assert said in error["message"]
    after = await plain_client.call("daemon/status")
    assert (after["sessions"], after["counters"]) == (before["sessions"], before["counters"])


PROJECTS = {
    "an empty path": ("", "an empty string"),
    "a relative path": ("w/my-app", "a relative path"),
    "the folder above": ("..", "a relative path"),
    "another scheme": ("https://example.org/w", "a relative path"),
    "another host": ("file://example.org/w", "another host"),
    "a NUL": ("/w/\0x", "NUL"),
    "an escaped NUL": ("file:///w/%00x", "NUL"),
    "a query": ("file:///w?x=1", "a query or a fragment"),
    "no UTF-8": ("file:///w/%ff", "not UTF-8"),
    "10 KB": ("/" + "x" * 10_240, "4096 bytes"),
}


@pytest.mark.parametrize(("root", "said"), PROJECTS.values(), ids=PROJECTS.keys())
@pytest.mark.parametrize(
    "method", ["memory/search", "memory/list", "memory/read", "daemon/status", "recall/start"]
)
async def test_what_names_no_project_is_refused(plain_client, method, root, said):
    params = {"query": "deploy", "path": "x", "sessionId": new_session(), "projectRoot": root}
    error = await plain_client.call_error(method, params)
    assert error["code"] == INVALID_PARAMS
    assert said in error["message"]
    assert "absolute path or a file: URI" in error["message"]
    if len(root) > 2:
        assert root not in error["message"]
    assert all("method" not in message for message in plain_client.messages), "there was no turn to speak of"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("$.sessionId", {"sessionId": ""}),
        ("$.turnId", {"sessionId": "s", "turnId": [1]}),
        ("`sessionId`", {}),
    ],
)
async def test_a_notifications_author_hears_of_a_wrong_parameter_too(plain_client, path, said):
    await plain_client.notify("recall/end", said)
    error = await plain_client.unattributed_error()
    assert error["code"] == INVALID_PARAMS
    assert path in error["message"]


@pytest.mark.parametrize("msg_id", ["null", "1.5", "[1]", "{}"])
async def test_a_cancellation_names_a_number_or_a_string(plain_client, msg_id):
    body = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%b}}' % msg_id.encode()
    await plain_client.send_bytes(frame(body))
    error = await plain_client.unattributed_error()
    assert error["code"] == INVALID_PARAMS
    assert "$.id" in error["message"]


async def test_unknown_fields_are_passed_over(plain_client, plain_project):
    params = {
        "query": "deploy",
        "projectRoot": str(plain_project.root),
        "sessionId": new_session(),
        "future": {"x": [1]},
    }
    assert (await plain_client.call("memory/search", params))["documents"] == []
    response = await plain_client.call("recall/start", params)
    assert response["outcome"]["discardReason"] == "no_relevant_results"
    assert (
        await plain_client.call("recall/reset", {"sessionId": params["sessionId"], "why": "compacted"}) == {}
    )
