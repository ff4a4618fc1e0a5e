"""Framing and correlation, without a socket."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrecalld.client import ProtocolError, ResponseError
from memrecalld.client.channel import MAX_RECEIVED_BYTES, MAX_SENT_BYTES, Channel, Reply, project_params
from memrecalld.server.framing import MAX_MESSAGE_BYTES
from tests.support.wire import frame


def message(**fields: object) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", **fields}, ensure_ascii=False).encode())


def asked(channel: Channel) -> tuple[int, Reply]:
    reply = Reply()
    request_id, _ = channel.request("memory/list", {}, reply)
    return request_id, reply


def test_the_client_sends_what_the_daemon_reads():
    assert MAX_SENT_BYTES == MAX_MESSAGE_BYTES


@given(
    results=st.lists(st.text(), min_size=1, max_size=5),
    cuts=st.lists(st.integers(min_value=1, max_value=40), min_size=1),
)
def test_replies_do_not_depend_on_how_the_stream_is_cut(results, cuts):
    channel = Channel()
    replies = [asked(channel) for _ in results]
    stream = b"".join(
        message(id=request_id, result=result)
        for (request_id, _), result in zip(replies, results, strict=True)
    )
    turn = 0
    while stream:
        size = cuts[turn % len(cuts)]
        assert channel.feed(stream[:size]) == b""
        stream = stream[size:]
        turn += 1
    assert [reply.result() for _, reply in replies] == results


@given(st.binary(max_size=200) | st.binary(max_size=60).map(frame))
def test_whatever_comes_is_read_or_refused(data):
    channel = Channel()
    asked(channel)
    with contextlib.suppress(ProtocolError):
        channel.feed(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "method", "params", "result", "error", "code", "message", "requestId"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=10,
    )
)
def test_whatever_json_comes_is_read_or_refused(value):
    channel = Channel()
    asked(channel)
    with contextlib.suppress(ProtocolError):
        channel.feed(frame(json.dumps(value).encode()))


def test_answers_may_come_in_any_order():
    channel = Channel()
    (first, first_reply), (second, second_reply) = asked(channel), asked(channel)
    channel.feed(message(id=second, result="b") + message(id=first, result="a"))
    assert (first_reply.result(), second_reply.result()) == ("a", "b")


def test_a_fast_result_reaches_only_its_own_request():
    channel = Channel()
    (first, first_reply), (_, second_reply) = asked(channel), asked(channel)
    channel.feed(message(method="recall/fast", params={"requestId": first, "turnId": "t"}))
    channel.feed(message(method="recall/fast", params={"requestId": 99, "turnId": "other"}))
    assert first_reply.fast == {"requestId": first, "turnId": "t"}
    assert second_reply.fast is None


def test_what_comes_for_a_forgotten_request_is_dropped():
    channel = Channel()
    request_id, reply = asked(channel)
    channel.forget(request_id)
    channel.feed(message(id=request_id, result="late"))
    assert not reply.answered


def test_an_error_answer_is_raised_with_its_parts():
    channel = Channel()
    request_id, reply = asked(channel)
    channel.feed(message(id=request_id, error={"code": -32602, "message": "no", "data": {"a": 1}}))
    with pytest.raises(ResponseError) as caught:
        reply.result()
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32602, "no", {"a": 1})
    assert str(caught.value) == "no (-32602)"


def test_an_error_without_id_is_refused_with_its_message():
    with pytest.raises(ProtocolError, match="Parse Error"):
        Channel().feed(message(id=None, error={"code": -32700, "message": "Parse Error"}))


def test_a_request_of_the_daemon_is_declined():
    answer = Channel().feed(message(id="x", method="recall/select", params={}))
    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (body["id"], body["error"]["code"]) == ("x", -32601)


def test_unknown_notifications_are_passed_over():
    assert Channel().feed(message(method="window/logMessage", params={"message": "hello"})) == b""


@pytest.mark.parametrize(
    "header",
    [b"content-length: 2", b"CONTENT-LENGTH:2", b"Content-Type: x\r\nContent-Length: 2"],
)
def test_header_names_are_read_in_any_case_and_company(header):
    with pytest.raises(ProtocolError, match="no JSON-RPC message"):
        Channel().feed(header + b"\r\n\r\n[]")


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (MAX_RECEIVED_BYTES + 1),
        b"Content-Length: " + b"9" * 1000 + b"\r\n\r\n",
        b"HTTP/1.1 400 Bad Request " + b"x" * 5000,
    ],
)
def test_a_header_that_leads_nowhere_is_refused(header):
    with pytest.raises(ProtocolError):
        Channel().feed(header)


def test_a_message_that_the_daemon_would_not_read_is_not_sent():
    with pytest.raises(ProtocolError, match="4194304 at most"):
        Channel().request("recall/start", {"query": "漢" * (MAX_SENT_BYTES // 3)}, Reply())


def test_text_is_sent_as_utf_8_and_half_a_surrogate_pair_does_not_matter():
    _, data = Channel().request("memory/search", {"query": "漢字 \ud83d"}, Reply())
    assert json.loads(data.partition(b"\r\n\r\n")[2])["params"] == {"query": "漢字 ?"}


def test_a_project_path_is_text_bytes_or_path(tmp_path):
    expected = {"projectRoot": str(tmp_path)}
    assert project_params(str(tmp_path)) == project_params(bytes(tmp_path)) == expected
    assert project_params(tmp_path) == expected
    assert project_params(None) == {}


def test_a_project_path_that_is_not_utf_8_is_refused():
    with pytest.raises(ProtocolError, match="UTF-8"):
        project_params(b"/caf\xe9")
