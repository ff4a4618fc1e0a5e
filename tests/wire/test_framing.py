"""Frames as clients send them: each message is answered, and of a lost stream it is said that it is lost."""

from __future__ import annotations

import json

import pytest

from tests.support.wire import WireClient, frame

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
LIMIT = 4 * 1024 * 1024


def status(msg_id):
    return json.dumps({"jsonrpc": "2.0", "id": msg_id, "method": "daemon/status"}).encode()


async def answered(client, *msg_ids):
    for msg_id in msg_ids:
        assert "result" in await client.response(msg_id)


# Streams that can be followed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length:   %d  \r\n\r\n",
        b"Content-Length: 00%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Trace: 5:6:7\r\nX-Empty:\r\n\r\n",
        b"X-Long: " + b"x" * 2000 + b"\r\nContent-Length: %d\r\n\r\n",
    ],
)
async def test_a_header_is_read_in_any_case_and_company(plain_client, header):
    plain_client.expect_answer(7)
    await plain_client.send_bytes(header % len(status(7)) + status(7))
    await answered(plain_client, 7)


async def test_several_messages_in_one_packet_are_answered_in_order(plain_client):
    for number in range(50):
        plain_client.expect_answer(number)
    await plain_client.send_bytes(b"".join(frame(status(number)) for number in range(50)))
    await answered(plain_client, *range(50))
    assert [message["id"] for message in plain_client.messages] == list(range(50))


async def test_messages_may_come_one_byte_at_a_time(plain_client):
    plain_client.expect_answer("é")
    plain_client.expect_answer(2)
    body = json.dumps({"jsonrpc": "2.0", "id": "é", "method": "daemon/status"}, ensure_ascii=False).encode()
    for byte in frame(body) + frame(status(2)):
        await plain_client.send_bytes(bytes([byte]))
    await answered(plain_client, "é", 2)


async def test_the_length_counts_bytes_and_not_characters(plain_client, plain_project):
    await plain_client.call(
        "memory/search", {"query": "漢字 und Größe 👨‍👩‍👧", "projectRoot": str(plain_project.root)}
    )
    await plain_client.call("daemon/status")


async def test_a_message_of_the_largest_size_is_served(plain_client):
    empty = {"jsonrpc": "2.0", "id": 1, "method": "memory/search", "params": {"query": ""}}
    empty["params"]["query"] = "x" * (LIMIT - len(json.dumps(empty)))
    plain_client.expect_answer(1)
    body = json.dumps(empty).encode()
    assert len(body) == LIMIT
    await plain_client.send_bytes(frame(body))
    await answered(plain_client, 1)


@pytest.mark.parametrize("size", [LIMIT + 1, 5 * 1024 * 1024])
async def test_a_message_that_is_too_large_is_refused_and_passed_over(plain_client, size):
    plain_client.expect_answer(2)
    await plain_client.send_bytes(frame(b"x" * size) + frame(status(2)))
    error = await plain_client.unattributed_error()
    assert error["code"] == INVALID_REQUEST
    assert str(size) in error["message"] and str(LIMIT) in error["message"]
    await answered(plain_client, 2)


@pytest.mark.parametrize(
    ("beginning", "msg_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"memory/search","params":{"query":"', 7),
        (b'{"method": "memory/list", "id" : "a \\"b\\" \\u00e9", "params": {"id": 8, "query": "', 'a "b" é'),
        (b'{"params":{"id":8,"more":[{"id":9}]},"id":10,"jsonrpc":"', 10),
    ],
)
async def test_what_is_too_large_is_refused_under_its_id(plain_client, beginning, msg_id):
    plain_client.expect_answer(msg_id)
    await plain_client.send_bytes(frame(beginning + b"x" * LIMIT))
    error = (await plain_client.response(msg_id))["error"]
    assert error["code"] == INVALID_REQUEST
    await plain_client.call("daemon/status")


@pytest.mark.parametrize(
    "beginning",
    [
        b'{"params":{"id":8},"x":"',
        b'{"id":1.5,"x":"',
        b'{"id":null,"x":"',
        b'[{"id":8},"',
        b'{"x":"id","y":8,"z":"',
    ],
)
async def test_what_is_too_large_is_refused_without_an_id_it_does_not_begin_with(plain_client, beginning):
    await plain_client.send_bytes(frame(beginning + b"x" * LIMIT))
    assert (await plain_client.unattributed_error())["code"] == INVALID_REQUEST


async def test_a_refusal_comes_before_the_rest_of_what_is_too_large(plain_client):
    await plain_client.send_bytes(b"Content-Length: 5242880\r\n\r\n" + b"x" * 1024)
    assert (await plain_client.unattributed_error())["code"] == INVALID_REQUEST
    plain_client.expect_answer(2)
    await plain_client.send_bytes(b"x" * (5242880 - 1024) + frame(status(2)))
    await answered(plain_client, 2)


async def test_a_length_named_twice_and_alike_is_no_contradiction(plain_client):
    plain_client.expect_answer(1)
    length = b"Content-Length: %d\r\n" % len(status(1))
    await plain_client.send_bytes(length * 2 + b"\r\n" + status(1))
    await answered(plain_client, 1)


# Streams that cannot --------------------------------------------------------------------------------

LOST = {
    "no length": (b"X-Header: 5\r\n\r\n{}", "Content-Length"),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length"),
    "letters": (b"Content-Length: abc\r\n\r\n{}", "Content-Length"),
    "a fraction": (b"Content-Length: 2.0\r\n\r\n{}", "Content-Length"),
    "a sign": (b"Content-Length: -2\r\n\r\n{}", "Content-Length"),
    "a plus": (b"Content-Length: +2\r\n\r\n{}", "Content-Length"),
    "nothing": (b"Content-Length: \r\n\r\n{}", "Content-Length"),
    "digits of another script": ("Content-Length: ٢\r\n\r\n{}".encode(), "Content-Length"),
    "beyond any message": (b"Content-Length: 67108865\r\n\r\n{}", "67108864"),
    "absurd": (b"Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length"),
    "very absurd": (b"Content-Length: " + b"9" * 3000 + b"\r\n\r\n{}", "Content-Length"),
    "no colon": (b"Content-Length 2\r\n\r\n{}", "a colon"),
    "an empty header": (b"\r\n\r\n{}", "a colon"),
    "line feeds alone": (b"Content-Length: 2\n\n{}", "CR LF"),
    "carriage returns alone": (b"Content-Length: 2\r\r{}", "CR LF"),
    "a message on a line": (status(1) + b"\n", "Content-Length: 42"),
    "a message without header": (status(1), "Content-Length: 42"),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "a colon"),
    "a length that was too short": (b"Content-Length: 1\r\n\r\n" + status(1), "CR LF"),
    "an endless header": (b"X-Header: " + b"x" * 5000, "4096 bytes"),
    "many headers": (b"X-Header: 5\r\n" * 400 + b"\r\n", "4096 bytes"),
    "zeros": (bytes(100), "CR LF"),
    "TLS": (bytes.fromhex("16030100f5010000f10303"), "CR LF"),
}


@pytest.mark.parametrize(("data", "said"), LOST.values(), ids=LOST.keys())
async def test_a_stream_that_cannot_be_followed_is_refused_and_closed(plain_daemon, plain_client, data, said):
    async with await WireClient.connect(plain_daemon.socket) as client:
        await client.send_bytes(data)
        await client.closed_by_daemon()
        errors = [await client.unattributed_error() for _ in client.messages]
    assert errors[-1]["code"] == PARSE_ERROR
    assert said in errors[-1]["message"]
    await plain_client.call("daemon/status")


async def test_messages_before_the_loss_are_answered(plain_daemon):
    async with await WireClient.connect(plain_daemon.socket) as client:
        client.expect_answer(1)
        await client.send_bytes(frame(status(1)) + b"Content-Length: abc\r\n\r\n" + frame(status(2)))
        await answered(client, 1)
        assert (await client.unattributed_error())["code"] == PARSE_ERROR
        await client.closed_by_daemon()


async def test_what_is_too_large_costs_no_memory(plain_daemon, plain_client):
    def resident_kib():
        with open(f"/proc/{plain_daemon.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    async with await WireClient.connect(plain_daemon.socket) as client:
        await client.send_bytes(b"Content-Length: 67108864\r\n\r\n" + b"x" * 1024)
        assert (await client.unattributed_error())["code"] == INVALID_REQUEST
        before = resident_kib()
        for _ in range(60):
            await client.send_bytes(b"x" * 1024 * 1024)
        await plain_client.call("daemon/status")
        assert resident_kib() - before < 20 * 1024
        await client.abort()
