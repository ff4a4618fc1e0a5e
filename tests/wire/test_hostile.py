"""Whatever one client sends, it is answered well, and the others are served as if it were not there."""

from __future__ import annotations

import asyncio
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrecalld.server.messages import METHODS
from tests.support.notes import note
from tests.support.wire import WAIT_S, frame

FIELDS = ["jsonrpc", "id", "method", "params", "result", "error", "code", "message"]
FIELDS += [
    "sessionId",
    "agentId",
    "turnId",
    "toolName",
    "query",
    "projectRoot",
    "recentTools",
    "excludeLayouts",
]
FIELDS += ["detached", "limit", "uri", "event", "added", "removed", "workspaceFolders", "rootUri", "selected"]

WORDS = st.sampled_from(["", "s", "deploy", "2.0", "/", "/w", "file:///w", "native", *METHODS])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=12,
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from([*METHODS])},
    optional={
        "id": st.integers() | WORDS | JSON,
        "params": st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON,
    },
)
HEADERS = st.sampled_from(
    [b"Content-Length: ", b"content-length:", b"Content-Type: x\r\n", b"\r\n", b"\r\n\r\n", b"5"]
)
FRAMES = st.one_of(
    (MESSAGES | JSON).map(lambda value: frame(json.dumps(value).encode())),
    st.binary(max_size=40).map(frame),
    (MESSAGES | JSON).map(lambda value: frame(json.dumps(value).encode())[:-1]),
    HEADERS,
    st.binary(max_size=40),
)


async def said_to(daemon, chunks):
    """Everything that the daemon answers to a client that sends this and then nothing more."""
    async with asyncio.timeout(WAIT_S):
        reader, writer = await asyncio.open_unix_connection(str(daemon.socket))
        try:
            for chunk in chunks:
                writer.write(chunk)
                await asyncio.sleep(0)
            writer.write_eof()
            return await reader.read()
        except ConnectionError:  # it was closed while more was sent
            return b""
        finally:
            writer.transport.abort()


def messages(data):
    """The messages in a stream that must be nothing but whole frames."""
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        length = int(header.removeprefix(b"Content-Length: "))
        assert len(rest) >= length
        yield json.loads(rest[:length])
        data = rest[length:]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chunks=st.lists(FRAMES, max_size=8))
async def test_nothing_that_one_client_sends_disturbs_another(
    plain_daemon, plain_client, plain_project, chunks
):
    plain_project.write("deploy", note("Flamingo", "how to deploy"))
    hostile = asyncio.create_task(said_to(plain_daemon, chunks))
    for query, expected in (("flamingo", ["Flamingo"]), ("walrus", [])):
        params = {"query": query, "projectRoot": str(plain_project.root)}
        found = (await plain_client.call("memory/search", params))["documents"]
        assert [document["title"] for document in found] == expected
    for message in messages(await hostile):
        assert message["jsonrpc"] == "2.0"
        assert ("method" in message) + ("result" in message) + ("error" in message) == 1
        if "error" in message:
            assert message["error"]["code"] in {-32700, -32600, -32601, -32602, -32800, -32803}
            assert message["error"]["message"]
