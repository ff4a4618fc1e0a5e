"""The small client: a socket and JSON, for agents, hooks and scripts.

    with Client.connect() as client:
        turn = client.start("how do we deploy?", session_id="s1", project_root="/home/me/shop")
        prompt = turn.delivery["prompt"] if turn.delivery else ""
        ...                                    # the first request to the model
        turn.tool_result("grep")["delivery"]   # what a model chose meanwhile, for the next request
        turn.end()

``memrecalld.client.aio`` has the same for asyncio.
"""

from memrecalld.client.errors import (
    CallTimeout,
    ClientError,
    DaemonUnavailable,
    ProtocolError,
    ResponseError,
)
from memrecalld.client.sync import Client, Turn

__all__ = [
    "CallTimeout",
    "Client",
    "ClientError",
    "DaemonUnavailable",
    "ProtocolError",
    "ResponseError",
    "Turn",
]
