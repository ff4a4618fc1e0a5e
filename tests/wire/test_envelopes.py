"""Messages as JSON-RPC sees them: ids, batches, kinds, and what is no message at all."""

from __future__ import annotations

import json

import pytest

from tests.support.notes import note
from tests.support.wire import WireClient, frame
from tests.wire.model import Choice
from tests.wire.turns import Turn, titles

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

NULL_ID = {
    "no JSON": (b"{nonsense", PARSE_ERROR, "JSON"),
    "nothing": (b"", PARSE_ERROR, "truncated"),
    "half a message": (b'{"jsonrpc": "2.0", "id": 1, "meth', PARSE_ERROR, "truncated"),
    "two messages in one frame": (b'{"jsonrpc":"2.0","method":"initialized"} {}', PARSE_ERROR, "JSON"),
    "100,000 open brackets": (b'{"jsonrpc":"2.0","id":1,"params":' + b"[" * 100_000, PARSE_ERROR, "nested"),
    "100,000 levels of arrays": (
        b'{"jsonrpc":"2.0","id":1,"method":"daemon/status","params":'
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}",
        PARSE_ERROR,
        "nested",
    ),
    "100,000 levels of objects": (
        b'{"jsonrpc":"2.0","id":1,"x":' + b'{"x":' * 100_000 + b"1" + b"}" * 100_001,
        PARSE_ERROR,
        "nested",
    ),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"daemon/status"}]', INVALID_REQUEST, "array"),
    "an empty batch": (b"[]", INVALID_REQUEST, "array"),
    "null": (b"null", INVALID_REQUEST, "`object`"),
    "a string": (b'"daemon/status"', INVALID_REQUEST, "`object`"),
    "an empty object": (b"{}", INVALID_REQUEST, "jsonrpc"),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"daemon/status"}', INVALID_REQUEST, "$.id"),
    "a fractional id": (b'{"jsonrpc":"2.0","id":1.5,"method":"daemon/status"}', INVALID_REQUEST, "$.id"),
    "a boolean id": (b'{"jsonrpc":"2.0","id":true,"method":"daemon/status"}', INVALID_REQUEST, "$.id"),
    "an array for an id": (b'{"jsonrpc":"2.0","id":[1],"method":"daemon/status"}', INVALID_REQUEST, "$.id"),
    "an endless id": (
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"daemon/status"}',
        INVALID_REQUEST,
        "$.id",
    ),
    "neither method nor result": (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, "method"),
    "result and error": (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', INVALID_REQUEST, "method"),
    "a request without an id": (
        b'{"jsonrpc":"2.0","method":"recall/start","params":{"sessionId":"s","query":"q"}}',
        INVALID_REQUEST,
        "$.id",
    ),
    "parameters of a notification": (
        b'{"jsonrpc":"2.0","method":"recall/end","params":{"sessionId":5}}',
        INVALID_PARAMS,
        "$.sessionId",
    ),
}


@pytest.mark.parametrize(("body", "code", "said"), NULL_ID.values(), ids=NULL_ID.keys())
async def test_what_belongs_to_no_request_is_answered_without_an_id(plain_client, body, code, said):
    await plain_client.send_bytes(frame(body))
    error = await plain_client.unattributed_error()
    assert error["code"] == code
    assert said in error["message"]
    await plain_client.call("daemon/status")


OWN_ID = {
    "another version": (b'{"jsonrpc":"1.0","id":%s,"method":"daemon/status"}', INVALID_REQUEST, '"2.0"'),
    "no version": (b'{"id":%s,"method":"daemon/status"}', INVALID_REQUEST, "jsonrpc"),
    "a number for a method": (b'{"jsonrpc":"2.0","id":%s,"method":5}', INVALID_REQUEST, "$.method"),
    "an unknown method": (
        b'{"jsonrpc":"2.0","id":%s,"method":"recall/begin"}',
        METHOD_NOT_FOUND,
        "recall/begin",
    ),
    "an unknown protocol method": (
        b'{"jsonrpc":"2.0","id":%s,"method":"$/what"}',
        METHOD_NOT_FOUND,
        "$/what",
    ),
    "a method of editors": (
        b'{"jsonrpc":"2.0","id":%s,"method":"textDocument/hover","params":{}}',
        METHOD_NOT_FOUND,
        "textDocument/hover",
    ),
    "a method of the daemon's own": (
        b'{"jsonrpc":"2.0","id":%s,"method":"recall/fast","params":{}}',
        METHOD_NOT_FOUND,
        "recall/fast",
    ),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":%s,"method":"\xff"}', PARSE_ERROR, "UTF-8"),
    "an unescaped surrogate": (b'{"jsonrpc":"2.0","id":%s,"method":"\xed\xa0\xbd"}', PARSE_ERROR, "UTF-8"),
    "invalid UTF-8 in the parameters": (
        b'{"jsonrpc":"2.0","id":%s,"method":"memory/search","params":{"query":"\xff"}}',
        PARSE_ERROR,
        "UTF-8",
    ),
}


@pytest.mark.parametrize("msg_id", [b"3", b'"3"', b"0", b"-3", b'""'])
@pytest.mark.parametrize(("body", "code", "said"), OWN_ID.values(), ids=OWN_ID.keys())
async def test_what_is_wrong_with_a_request_is_said_under_its_id(plain_client, body, code, said, msg_id):
    plain_client.expect_answer(json.loads(msg_id))
    await plain_client.send_bytes(frame(body % msg_id))
    error = (await plain_client.response(json.loads(msg_id)))["error"]
    assert error["code"] == code
    assert said in error["message"]
    await plain_client.call("daemon/status")


@pytest.mark.parametrize(
    "msg_id", [0, -1, 2**31, 2**53, 2**63 - 1, 2**64, "", "0", "a b", "ünïcode 漢字", "x" * 10_000]
)
async def test_an_id_comes_back_as_it_was(plain_client, msg_id):
    await plain_client.request("daemon/status", msg_id=msg_id)
    assert "result" in await plain_client.response(msg_id)


ABSENT = object()


@pytest.mark.parametrize("params", [ABSENT, [], {}, None], ids=["absent", "[]", "{}", "null"])
@pytest.mark.parametrize("method", ["daemon/status", "memory/list", "initialize"])
async def test_absent_parameters_have_four_forms(plain_client, method, params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    await plain_client.send(message if params is ABSENT else message | {"params": params})
    assert "result" in await plain_client.response(1)


@pytest.mark.parametrize("params", [ABSENT, [], {}, None], ids=["absent", "[]", "{}", "null"])
async def test_shutdown_and_exit_take_absent_parameters_in_every_form(plain_daemon, params):
    given = {} if params is ABSENT else {"params": params}
    async with await WireClient.connect(plain_daemon.socket) as client:
        await client.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
        assert "result" in await client.response(0)
        await client.send({"jsonrpc": "2.0", "method": "initialized"} | given)
        await client.send({"jsonrpc": "2.0", "id": 1, "method": "shutdown"} | given)
        assert (await client.response(1))["result"] is None
        await client.send({"jsonrpc": "2.0", "method": "exit"} | given)
        await client.closed_by_daemon()


async def test_what_nobody_knows_is_passed_over(plain_client):
    await plain_client.notify("$/setTrace", {"value": "off"})
    await plain_client.notify("textDocument/didOpen", {"textDocument": {"uri": "file:///x"}})
    await plain_client.notify("recall/fast", {"turnId": 5})
    await plain_client.notify("recall/fast")
    await plain_client.send({"jsonrpc": "2.0", "id": 9, "result": {"selected": []}})
    await plain_client.send({"jsonrpc": "2.0", "id": "none", "error": {"code": 1, "message": "x"}})
    await plain_client.send(
        {"jsonrpc": "2.0", "id": 1, "method": "daemon/status", "trace": {"deep": [1]}, "params": {"new": 1}}
    )
    assert "result" in await plain_client.response(1)
    assert len(plain_client.messages) == 1


async def test_an_id_in_flight_cannot_be_used_again_until_it_is_answered(shared_model, client, project):
    project.write("deploy", note("Deploy", "how to deploy"))
    project.write("lunch", note("Lunch", "where we eat"))
    choice = Choice("Lunch", held=True)
    shared_model.answers = [choice]
    turn = await Turn.start(client, "deploy", project)
    await client.request("daemon/status", msg_id=turn.request_id)
    error = (await client.response(turn.request_id))["error"]
    assert error["code"] == INVALID_REQUEST
    assert "still open" in error["message"]
    choice.release.set()
    assert titles((await turn.settled_tool_result())["delivery"]) == ["Lunch"]

    await client.request("daemon/status", msg_id=turn.request_id)
    await client.call("daemon/status")
    answers = [message for message in client.messages if message.get("id") == turn.request_id]
    assert answers[1]["result"]["outcome"]["deliveryPoint"] == "tool_result"
    assert "pid" in answers[2]["result"]


LONE_SURROGATES = [
    rb"deploy \ud83d",
    rb"\ude80 deploy",
    rb"deploy \ud83d\ud83d\ude80",
    rb"deploy \\\ud83d",
    rb"\uD83D\u0041 deploy",
    rb"\\ud83d deploy \ud83d",
]


@pytest.mark.parametrize("query", LONE_SURROGATES)
async def test_a_query_cut_in_the_middle_of_an_emoji_is_served(plain_client, plain_project, query):
    plain_project.write("deploy", note("Deploy", "how to deploy"))
    await plain_project.read(plain_client)
    root = json.dumps(str(plain_project.root)).encode()
    for msg_id, method, more in (
        (1, b"memory/search", b""),
        (2, b"recall/start", b',"sessionId":"cut \\ud83d"'),
    ):
        plain_client.expect_answer(msg_id)
        await plain_client.send_bytes(
            frame(
                b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":{"query":"%b","projectRoot":%b%b}}'
                % (msg_id, method, query, root, more)
            )
        )
    found = (await plain_client.response(1))["result"]["documents"]
    assert [document["title"] for document in found] == ["Deploy"]
    await plain_client.response(2)
