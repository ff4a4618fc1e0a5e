"""A key that was put into a note, or into a query, is nowhere that a bug report would take it from."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.support.notes import note
from tests.support.wire import WireClient
from tests.wire.turns import Turn, titles

NOTED = "AKIA" + "QFILLERQFILLERQ7"
ASKED = "ghp_" + "filler0filler1filler2filler3filler45"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIqfillerqfillerq\n-----END RSA PRIVATE KEY-----"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
UUID = "123e4567-e89b-42d3-a456-426614174000"
SECRETS = (NOTED, ASKED, "MIIqfillerqfillerq")


def secrets_in(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if secret.encode() in data]


async def test_keys_of_notes_and_queries_are_in_no_log_state_error_or_argument(start_daemon):
    daemon = start_daemon()
    daemon.stop()
    daemon.start("--log-level", "debug")
    daemon.write_note("user", "keys.md", note("Upload", "how to upload", f"{NOTED}\n{PEM}\n{COMMIT} {UUID}"))
    async with await WireClient.connect(daemon.socket) as client:
        turn = await Turn.start(client, f"upload with {ASKED}")
        assert titles(turn.fast["delivery"]) == ["Upload"]
        # What tells a commit or a request apart is no secret, and nobody mangles it.
        (document,) = turn.fast["delivery"]["documents"]
        assert COMMIT in document["body"] and UUID in document["body"]
        assert COMMIT in turn.fast["delivery"]["prompt"]
        errors = [
            await client.call_error("recall/start", {"sessionId": "s", "query": [ASKED]}),
            await client.call_error("memory/read", {"path": f"/{ASKED}"}),
            await client.call_error("memory/list", {"projectRoot": ASKED}),
            await client.call_error("recall/start", {"sessionId": ASKED * 100, "query": "upload"}),
        ]
        assert not secrets_in(str(errors).encode())
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            assert not secrets_in(arguments.read_bytes())
    daemon.kill()  # in the middle of everything, so that nothing is tidied up
    assert not secrets_in(daemon.log().encode())
    looked_at = 0
    for path in [*daemon.home.rglob("*"), *daemon.runtime.rglob("*")]:
        assert not secrets_in(str(path).encode())
        if path.is_file() and path.parent != daemon.user_notes and not path.name.startswith("notes.sqlite"):
            looked_at += 1
            assert not secrets_in(path.read_bytes()), path.name
    assert looked_at >= 2
