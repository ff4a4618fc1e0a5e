"""The MCP server: two tools, and the notes as resources."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

import anyio
import msgspec
from mcp import MCPError, stdio_server
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Annotations,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListRootsRequest,
    ListRootsResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

import memrecalld
from memrecalld.client import ClientError, DaemonUnavailable, ResponseError
from memrecalld.client.aio import AsyncClient, AsyncTurn
from memrecalld.mcp.text import NOTHING_NEW, NOTHING_RELEVANT, found_text, note_text
from memrecalld.mcp.way import Way

if TYPE_CHECKING:
    from memrecalld.client.shapes import FoundDocument, ListedDocument

CHOICE_S: Final = 3.0
"""How long a recall waits for a model's choice: the agent waits as well."""
_POLL_S: Final = 0.05
_CANCEL_S: Final = 1.0
_ROOTS_S: Final = 2.0
"""How long an agent may take to name its roots."""

_URI: Final = "memrecall://note"
_MARKDOWN: Final = "text/markdown"

_INSTRUCTIONS: Final = (
    "Saved notes about this user and project: preferences, corrections, decisions, references. "
    "Call recall_memory once with each new request of the user, in the user's words, before you begin."
)


class RecallArguments(msgspec.Struct, forbid_unknown_fields=True):
    """Of ``recall_memory``."""

    query: str
    again: bool = False


class SearchArguments(msgspec.Struct, forbid_unknown_fields=True):
    """Of ``search_memory``."""

    query: str
    limit: int = 5


_READ_ONLY: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_QUERY: Final = {
    "type": "string",
    "description": "What it is about, in any language; the user's own words are best",
}
TOOLS: Final = (
    Tool(
        name="recall_memory",
        title="Recall memory",
        description="The saved notes that matter for a request. Gives each note once in a session.",
        input_schema={
            "type": "object",
            "properties": {
                "query": _QUERY,
                "again": {
                    "type": "boolean",
                    "description": "Give notes again that were given before: set it once after the context "
                    "was cleared or compacted",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        annotations=_READ_ONLY,
    ),
    Tool(
        name="search_memory",
        title="Search memory",
        description="Saved notes that match a query, best first, whether they were given before or not.",
        input_schema={
            "type": "object",
            "properties": {
                "query": _QUERY,
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        annotations=_READ_ONLY,
    ),
)

Context = ServerRequestContext[Any]


class Recall:
    """What one agent asks, put to the daemon."""

    def __init__(self, way: Way, folder: str) -> None:
        """``folder`` is the project of an agent that names none."""
        self._way = way
        self._folder = folder
        self._session_id = f"mcp-{secrets.token_hex(8)}"

    def server(self) -> Server[Any]:
        """The server that answers with it."""
        return Server(
            "memrecalld",
            version=memrecalld.__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_read_resource=self.read_resource,
        )

    # Tools -------------------------------------------------------------------------------------------------

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(TOOLS))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        tools: dict[str, Callable[[Context, dict[str, Any]], Awaitable[str]]] = {
            "recall_memory": self._recall,
            "search_memory": self._search,
        }
        if (tool := tools.get(params.name)) is None:
            raise MCPError(INVALID_PARAMS, f"there is no such tool; there are {' and '.join(tools)}")
        try:
            text = await tool(context, params.arguments or {})
        except (ClientError, msgspec.ValidationError) as error:
            # A tool's error goes to the model, which can tell its user what to do.
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        return CallToolResult(content=[TextContent(text=text)])

    async def _recall(self, context: Context, arguments: dict[str, Any]) -> str:
        asked = msgspec.convert(arguments, RecallArguments)
        project = await self._project(context)

        async def recall(client: AsyncClient) -> str:
            if asked.again:
                await client.reset(self._session_id)
            turn = await client.start(
                asked.query, session_id=self._session_id, project_root=project, last_delivery=""
            )
            try:
                return await _deliveries(turn)
            except asyncio.CancelledError:
                # Nobody gets what was delivered, so that it may be delivered again.
                with anyio.move_on_after(_CANCEL_S, shield=True):
                    await turn.cancel()
                raise

        return await self._way.ask(recall)

    async def _search(self, context: Context, arguments: dict[str, Any]) -> str:
        asked = msgspec.convert(arguments, SearchArguments)
        project = await self._project(context)

        async def search(client: AsyncClient) -> list[FoundDocument]:
            return await client.search(asked.query, project_root=project, limit=asked.limit)

        return found_text(await self._way.ask(search))

    # Resources ---------------------------------------------------------------------------------------------

    async def list_resources(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        project = await self._project(context)

        async def newest(client: AsyncClient) -> list[ListedDocument]:
            return await client.list(project_root=project)

        listed = await self._ask(newest)
        return ListResourcesResult(resources=[_resource(document) for document in listed])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        path = unquote(params.uri.removeprefix(_URI))
        project = await self._project(context)

        async def read(client: AsyncClient) -> FoundDocument:
            return await client.read(path, project_root=project)

        text = note_text(await self._ask(read))
        contents = TextResourceContents(uri=params.uri, mime_type=_MARKDOWN, text=text)
        return ReadResourceResult(contents=[contents])

    async def _ask(self, question: Callable[[AsyncClient], Awaitable[Any]]) -> Any:  # noqa: ANN401
        """As ``Way.ask``, with errors as the protocol has them for resources."""
        try:
            return await self._way.ask(question)
        except ResponseError as error:
            raise MCPError(INVALID_PARAMS, error.message) from None
        except ClientError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None

    # The parts ---------------------------------------------------------------------------------------------

    async def _project(self, context: Context) -> str:
        """The agent's first root, or the folder it started the server in.

        Asked for at every call: an agent may change its roots, and need not say so.
        """
        session = context.session
        capabilities = session.client_capabilities
        if capabilities is None or capabilities.roots is None or not session.can_send_request:
            return self._folder
        try:
            answer = await session.send_request(
                ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_ROOTS_S
            )
        except (MCPError, ValidationError):
            return self._folder
        return next((str(root.uri) for root in answer.roots), self._folder)


async def serve(socket: str | None, folder: str) -> None:
    """Serve the agent on standard input and output until it leaves."""
    way = Way(socket)
    server = Recall(way, folder).server()
    try:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())
    finally:
        await way.close()


async def _deliveries(turn: AsyncTurn) -> str:
    """The prompts of a turn, one after the other, when the model has chosen or the time is over."""
    prompts = [] if turn.delivery is None else [turn.delivery["prompt"]]
    outcome = None
    try:
        if turn.fast is not None and turn.fast["pending"]:
            until = asyncio.get_running_loop().time() + CHOICE_S
            while (result := await turn.tool_result())["state"] == "pending":
                if asyncio.get_running_loop().time() > until:
                    break
                await asyncio.sleep(_POLL_S)
            if result["delivery"] is not None:
                prompts.append(result["delivery"]["prompt"])
        outcome = await turn.end()
    except DaemonUnavailable:
        if not prompts:  # else they are delivered, and would not come again
            raise
    if prompts:
        return "\n\n".join(prompts)
    repeated = outcome is not None and outcome.get("discardReason") == "already_delivered"
    return NOTHING_NEW if repeated else NOTHING_RELEVANT


def _resource(document: ListedDocument) -> Resource:
    return Resource(
        uri=_URI + quote(document["path"]),
        name=document["relativePath"],
        title=document["title"],
        description=document["description"] or None,
        mime_type=_MARKDOWN,
        annotations=Annotations(last_modified=document["savedAt"]),
    )
