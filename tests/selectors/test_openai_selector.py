from __future__ import annotations

import asyncio
import gzip
import json
import logging
import os
import socket
import traceback
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from memrecalld.config import SelectorConfig
from memrecalld.errors import SelectionError
from memrecalld.selectors.openai import OpenAISelector
from tests.selectors.model_server import (
    Answer,
    Exchange,
    ModelServer,
    hang_up,
    hang_up_halfway,
    model_server,
    never,
    raw,
    says,
)

CHOICE = '{"selected": ["m2"]}'
MANIFEST = "m1 project 2026-01-02 CI runners: how they start\nm2 user 2026-01-03 Editor: vim\n"


@asynccontextmanager
async def asking(
    *answers: Answer, environ: Mapping[str, str] | None = None, **config: str
) -> AsyncIterator[tuple[OpenAISelector, ModelServer]]:
    async with model_server(*answers) as server:
        selector = OpenAISelector(
            SelectorConfig(kind="openai", base_url=server.base_url, **config), environ or {}
        )
        try:
            yield selector, server
        finally:
            await selector.close()


async def test_question_carries_query_manifest_model_and_schema() -> None:
    async with asking(says(CHOICE), model="small") as (selector, server):
        assert await selector.select("which editor?", MANIFEST) == CHOICE
    request = server.exchanges[0]
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "small"
    assert request.body["temperature"] == 0
    schema = request.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["selected"]["maxItems"] == 5
    system, user = request.body["messages"]
    assert system["role"] == "system"
    assert user["role"] == "user"
    assert "which editor?" in user["content"]
    assert user["content"].endswith(MANIFEST)


async def test_server_that_ignores_the_schema_has_its_prose_returned_as_it_is() -> None:
    prose = 'Sure! I pick {"selected": ["m1"]} because\n…'
    async with asking(says(prose)) as (selector, _):
        assert await selector.select("q", MANIFEST) == prose


async def test_thoughts_are_not_part_of_the_answer() -> None:
    async with asking(says(CHOICE, reasoning_content="m1? no")) as (selector, _):
        assert await selector.select("q", MANIFEST) == CHOICE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (raw(500, b"marker"), "http-500"),
        (raw(429, b"marker"), "http-429"),
        (raw(201, b"marker"), "http-201"),
        (raw(400, b"marker"), "http-400"),
        (hang_up, "connection"),
        (hang_up_halfway, "connection"),
        (raw(200, b'{"choices": [{"message": {"content": "marker'), "not-json"),
        (raw(200, b"<html>marker</html>"), "not-json"),
        (raw(200, b""), "not-json"),
        (raw(200, b"\xff\xfe"), "not-json"),
        (raw(200, b'{"marker":' + b"[" * 100_000), "not-json"),
        (raw(200, gzip.compress(b"{}"), headers="Content-Encoding: gzip\r\n"), "not-json"),
        (raw(200, b'{"choices": []}'), "no-choice"),
        (raw(200, b'{"error": "marker"}'), "no-choice"),
        (raw(200, b"[]"), "no-choice"),
        (raw(200, b'{"choices": {"marker": 1}}'), "no-choice"),
        (says(None), "no-choice"),
        (says(None, reasoning_content="marker"), "no-choice"),
        (says([{"type": "text", "text": "marker"}]), "no-choice"),
    ],
)
async def test_failure_is_a_short_code_that_repeats_nothing_of_the_server(
    answer: Answer, reason: str
) -> None:
    async with asking(answer) as (selector, server):
        with pytest.raises(SelectionError) as caught:
            await selector.select("q", MANIFEST)
    assert str(caught.value) == reason
    shown = "".join(traceback.format_exception(caught.value))
    assert "marker" not in shown
    assert server.base_url.removeprefix("http://") not in shown
    assert "During handling" not in shown


async def test_megabyte_answer_is_given_up_at_the_bound() -> None:
    async with asking(says("x" * 1_000_000)) as (selector, _):
        with pytest.raises(SelectionError, match=r"\Atoo-large\Z"):
            await selector.select("q", MANIFEST)


async def test_endless_answer_is_given_up_at_the_bound() -> None:
    async def endless(exchange: Exchange) -> None:
        exchange.writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            exchange.writer.write(b"400\r\n" + b" " * 1024 + b"\r\n")
            await exchange.writer.drain()

    async with asking(endless) as (selector, server):
        with pytest.raises(SelectionError, match=r"\Atoo-large\Z"):
            await selector.select("q", MANIFEST)
        await asyncio.wait_for(server.left.wait(), 5)


async def test_answer_of_just_the_bound_is_taken() -> None:
    empty = json.dumps({"choices": [{"message": {"content": ""}}]})
    content = "x" * (262_144 - len(empty))
    body = empty.replace('""', f'"{content}"').encode()
    assert len(body) == 262_144
    async with asking(raw(200, body), raw(200, body + b" ")) as (selector, _):
        assert await selector.select("q", MANIFEST) == content
        with pytest.raises(SelectionError, match="too-large"):
            await selector.select("q", MANIFEST)


async def test_nobody_listening_is_a_connection_failure() -> None:
    with socket.socket() as taken:  # bound but not listening, so nobody else can take the port either
        taken.bind(("127.0.0.1", 0))
        config = SelectorConfig(kind="openai", base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        selector = OpenAISelector(config, {})
        with pytest.raises(SelectionError, match=r"\Aconnection\Z") as caught:
            await selector.select("q", MANIFEST)
        await selector.close()
    assert "127.0.0.1" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("host", ["a" * 70, "a..b", "[::1"])
async def test_host_that_no_resolver_takes_is_a_connection_failure(host: str) -> None:
    selector = OpenAISelector(SelectorConfig(kind="openai", base_url=f"http://{host}/v1"), {})
    with pytest.raises(SelectionError, match=r"\Aconnection\Z"):
        await selector.select("q", MANIFEST)
    await selector.close()


@pytest.mark.parametrize("status", [400, 422])
async def test_server_without_schema_support_is_asked_again_once_and_remembered(status: int) -> None:
    async with asking(raw(status, b'{"error": "response_format?"}'), says(CHOICE)) as (selector, server):
        assert await selector.select("q", MANIFEST) == CHOICE
        assert await selector.select("q", MANIFEST) == CHOICE
    assert ["response_format" in exchange.body for exchange in server.exchanges] == [True, False, False]


async def test_request_that_fails_without_the_schema_too_is_not_blamed_on_the_schema() -> None:
    async with asking(raw(400, b""), raw(404, b""), says(CHOICE)) as (selector, server):
        with pytest.raises(SelectionError, match="http-404"):
            await selector.select("q", MANIFEST)
        await selector.select("q", MANIFEST)
    assert ["response_format" in exchange.body for exchange in server.exchanges] == [True, False, True]


@pytest.mark.parametrize("answer", [raw(500, b""), raw(429, b""), raw(302, b""), hang_up, says(None)])
async def test_other_failures_are_not_tried_again(answer: Answer) -> None:
    async with asking(answer) as (selector, server):
        with pytest.raises(SelectionError):
            await selector.select("q", MANIFEST)
    assert len(server.exchanges) == 1


async def test_redirect_is_not_followed() -> None:
    async with model_server(says(CHOICE)) as other:
        moved = raw(307, b"", headers=f"Location: {other.base_url}/chat/completions\r\n")
        async with asking(moved, environ={"KEY": "secret"}, api_key_env="KEY") as (selector, _):
            with pytest.raises(SelectionError, match="http-307"):
                await selector.select("q", MANIFEST)
        assert other.connections == 0


async def test_two_selections_share_one_connection() -> None:
    async with asking(says(CHOICE)) as (selector, server):
        await selector.select("one", MANIFEST)
        await selector.select("two", MANIFEST)
    assert [exchange.connection for exchange in server.exchanges] == [1, 1]
    assert server.connections == 1


async def test_request_lost_on_a_kept_connection_is_not_sent_again() -> None:
    async with asking(says(CHOICE), hang_up) as (selector, server):
        await selector.select("one", MANIFEST)
        with pytest.raises(SelectionError, match="connection"):
            await selector.select("two", MANIFEST)
    assert [exchange.connection for exchange in server.exchanges] == [1, 1]


async def test_connection_that_the_server_closed_meanwhile_fails_no_selection() -> None:
    async def answer_and_close(exchange: Exchange) -> None:
        await says(CHOICE)(exchange)
        exchange.writer.close()
        await exchange.writer.wait_closed()

    async with asking(answer_and_close) as (selector, server):
        for n in range(1, 4):
            assert await selector.select("q", MANIFEST) == CHOICE
            await asyncio.wait_for(server.left.wait(), 5)
            server.left.clear()
            for _ in range(5):  # the end of the stream is here; let the client's side of the loop read it
                await asyncio.sleep(0)
            assert server.connections == n


async def test_selections_at_once_are_bounded_and_all_answered() -> None:
    async with asking(says(CHOICE)) as (selector, server):
        answers = await asyncio.gather(*(selector.select(f"q{n}", MANIFEST) for n in range(40)))
    assert answers == [CHOICE] * 40
    assert server.connections <= 8


async def _cancel_and_see_the_connection_closed() -> None:
    async with asking(never, says(CHOICE)) as (selector, server):
        task = asyncio.create_task(selector.select("q", MANIFEST))
        await asyncio.wait_for(server.asked.wait(), 5)
        assert not server.left.is_set()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 5)
        assert await selector.select("q", MANIFEST) == CHOICE


async def test_cancelling_closes_the_request() -> None:
    await _cancel_and_see_the_connection_closed()


def test_cancelling_closes_the_request_on_the_event_loop_of_the_daemon() -> None:
    uvloop.run(_cancel_and_see_the_connection_closed())


async def test_cancelling_in_the_middle_of_an_answer_closes_the_request() -> None:
    begun = asyncio.Event()

    async def begin(exchange: Exchange) -> None:
        exchange.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        await exchange.writer.drain()
        begun.set()
        await never(exchange)

    async with asking(begin) as (selector, server):
        task = asyncio.create_task(selector.select("q", MANIFEST))
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 5)


async def test_closing_fails_what_still_runs_and_what_comes_later() -> None:
    async with asking(never) as (selector, server):
        task = asyncio.create_task(selector.select("q", MANIFEST))
        await asyncio.wait_for(server.asked.wait(), 5)
        await selector.close()
        with pytest.raises(SelectionError, match="connection"):
            await task
        with pytest.raises(SelectionError, match="closed"):
            await selector.select("q", MANIFEST)
        await selector.close()


async def test_long_query_keeps_both_ends() -> None:
    async with asking(says(CHOICE)) as (selector, server):
        await selector.select("A" * 2_000 + "B" * 1_000_000 + "C" * 2_000, MANIFEST)
        await selector.select("D" * 4_000, MANIFEST)
    long, whole = (exchange.body["messages"][1]["content"] for exchange in server.exchanges)
    assert "A" * 2_000 in long
    assert "C" * 2_000 in long
    assert "B" not in long
    assert "D" * 4_000 in whole


async def test_query_with_lone_surrogates_is_still_asked() -> None:
    async with asking(says(CHOICE)) as (selector, server):
        assert await selector.select("vim \ud83d and 👍 über", MANIFEST) == CHOICE
    assert "vim ? and 👍 über" in server.exchanges[0].body["messages"][1]["content"]


async def test_environment_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server(says("from the proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
        async with asking(says(CHOICE)) as (selector, _):
            assert await selector.select("q", MANIFEST) == CHOICE
        assert proxy.connections == 0


async def test_no_key_sends_no_authorization() -> None:
    async with asking(says(CHOICE), environ={"OPENAI_API_KEY": "secret"}) as (selector, server):
        await selector.select("q", MANIFEST)
    assert "authorization" not in server.exchanges[0].headers


async def test_key_of_the_environment_is_sent() -> None:
    async with asking(says(CHOICE), environ={"KEY": "secret"}, api_key_env="KEY") as (selector, server):
        await selector.select("q", MANIFEST)
    assert server.exchanges[0].headers["authorization"] == "Bearer secret"


async def test_key_of_a_file_is_read_again_for_each_request(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text("first\n")
    async with asking(says(CHOICE), api_key_file=str(file)) as (selector, server):
        await selector.select("q", MANIFEST)
        file.write_text("second\r\n")
        await selector.select("q", MANIFEST)
    sent = [exchange.headers["authorization"] for exchange in server.exchanges]
    assert sent == ["Bearer first", "Bearer second"]


async def test_key_file_opened_to_others_later_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_text("secret\n")
    async with asking(says(CHOICE), api_key_file=str(file)) as (selector, server):
        file.chmod(0o640)
        with pytest.raises(SelectionError, match=r"\Akey-file\Z") as caught:
            await selector.select("q", MANIFEST)
    assert server.connections == 0
    shown = "".join(traceback.format_exception(caught.value))
    assert str(file) not in shown
    assert "During handling" not in shown


@pytest.mark.parametrize(
    "answer", [raw(401, b"no"), hang_up, hang_up_halfway, says(None), says("x" * 300_000)]
)
async def test_key_query_and_notes_appear_in_no_error_and_no_log(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    key, query, manifest = (uuid.uuid4().hex for _ in range(3))
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    async with asking(answer, environ={"KEY": key}, api_key_env="KEY") as (selector, server):
        with pytest.raises(SelectionError) as caught:
            await selector.select(query, manifest)
        shown = [repr(selector), *map(repr, vars(selector).values())]
    assert server.exchanges[0].headers["authorization"] == f"Bearer {key}"
    shown += [*traceback.format_exception(caught.value), caplog.text]
    assert not [word for word in (key, query, manifest) for text in shown if word in text]


async def test_many_failures_leave_no_descriptors_open() -> None:
    async with asking(hang_up) as (selector, _):
        for _ in range(3):
            with pytest.raises(SelectionError):
                await selector.select("q", MANIFEST)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(30):
            with pytest.raises(SelectionError):
                await selector.select("q", MANIFEST)
        assert len(os.listdir("/proc/self/fd")) <= before + 2
