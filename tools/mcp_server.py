"""The tools of an episode as an MCP server over stdio, with the official SDK.

A result is one text, as our own agents give it to a model, and the pictures as image content. Its data stands
in the last line of the text and not in `structuredContent`: clients that find that field show a model nothing
else, no text and no picture (anthropics/claude-code#54737, anomalyco/opencode#32868).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Protocol, cast

import anyio
from mcp import types as wire
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from fieldmark import __version__
from fieldmark.client import GatewayGone
from fieldmark.tools.base import Tool, schema
from fieldmark.tools.calling import call_by_name
from fieldmark.tools.context import Context
from fieldmark.tools.offer import Offer
from fieldmark.trace import Picture

CALLS_AT_ONCE = 4
"""Calls that run at once; the others wait."""

Arguments = str | dict[str, Any]


class World(Context, Protocol):
    """A Context that still has the pictures its tools made."""

    def data(self, picture: Picture) -> bytes | None:
        """The bytes of a picture; None when they did not pass here."""


def serve(offer: Offer, world: Callable[[], World], instructions: str | None = None) -> None:
    """Serve until the client closes stdin; `world` gives each call the Context it works on.

    When the episode is over the process ends, exit code 0, without a word: nobody is left to hear one.
    """
    anyio.run(_serve, _server(offer, world, instructions))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", _requests())) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _requests() -> AsyncIterator[str]:
    """The lines that the client writes. Stdin is empty from now on, for the programs that tools start."""
    incoming, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    async for line in anyio.wrap_file(os.fdopen(incoming, encoding="utf-8", errors="replace")):
        yield _readable(line)


def _readable(line: str) -> str:
    """`line`; half a surrogate pair, as of a broken emoji, becomes "?": the SDK would drop the request, and
    its client wait for ever.
    """
    if "\\ud" not in line.lower():
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace").decode()
    except (ValueError, RecursionError):
        return line


def _server(offer: Offer, world: Callable[[], World], instructions: str | None) -> Server[Any]:
    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)

    async def list_tools(
        ctx: ServerRequestContext[Any], params: wire.PaginatedRequestParams | None
    ) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=[_described(tool) for tool in offer.tools.values()])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: wire.CallToolRequestParams
    ) -> wire.CallToolResult:
        return await call(params.name, params.arguments or {})

    async def take_any_arguments(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """Arguments that are no object would be refused by the SDK, and such a call not be recorded."""
        name, arguments = (ctx.params or {}).get("name"), (ctx.params or {}).get("arguments")
        if ctx.method == "tools/call" and isinstance(name, str) and not isinstance(arguments, dict | None):
            return await call(name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        return await call_next(ctx)

    async def call(name: str, arguments: Arguments) -> wire.CallToolResult:
        """In a thread; a cancelled call is left to its end there, and recorded, but not waited for."""
        work = partial(_call, name, arguments, offer, world)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
        except GatewayGone:
            os._exit(0)

    server = Server[Any](
        "fieldmark",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(take_any_arguments)
    return server


def _described(tool: Tool) -> wire.Tool:
    function = schema(tool)["function"]
    return wire.Tool(
        name=function["name"], description=function["description"], input_schema=function["parameters"]
    )


def _call(name: str, arguments: Arguments, offer: Offer, world: Callable[[], World]) -> wire.CallToolResult:
    context = world()
    result = call_by_name(name, arguments, offer, context, door="mcp")
    text = result.for_model().encode("utf-8", "replace").decode()
    content: list[wire.ContentBlock] = [wire.TextContent(text=text)]
    for picture in result.pictures:
        data = context.data(picture)
        if data is not None:
            encoded = base64.b64encode(data).decode("ascii")
            content.append(wire.ImageContent(data=encoded, mime_type=picture.media_type))
    return wire.CallToolResult(content=content, is_error=not result.ok)
