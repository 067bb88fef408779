"""POST /lookup/*: the services of the host that tools ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import web

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.pictures import box_of, number
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session

Search = Callable[..., Coroutine[Any, Any, dict[str, Any]]]
DEFAULT_HITS, MAX_HITS = 5, 20


async def reverse_image(session: Session, request: web.BaseRequest) -> web.Response:
    """Search for the task picture, or a box of it (original pixels), in the run's picture index."""
    body = await _json(session, request)
    limit = _limit(body.get("limit", DEFAULT_HITS))
    box = box_of(body["box"]) if body.get("box") is not None else None
    search = session.backends.reverse_image
    return web.json_response(await _found(session, search, session.pictures.original_path, box, limit))


async def aircraft(session: Session, request: web.BaseRequest) -> web.Response:
    """Look a registration or 24-bit address up in the run's aircraft registry."""
    query = (await _json(session, request)).get("query", "")
    if not isinstance(query, str):
        raise Refused(400, "invalid_args", "query is a text")
    return web.json_response(await _found(session, session.backends.aircraft, query[:100]))


async def _found(session: Session, search: Search, *args: Any) -> dict[str, Any]:
    try:
        return await session.look_up(search, *args)
    except ToolError as error:
        status = 503 if error.kind == "unavailable" else 400
        raise Refused(status, error.kind, str(error)) from None


def _limit(value: object) -> int:
    limit = number(value)
    if not math.isfinite(limit):
        raise Refused(400, "invalid_args", f"limit is a number from 1 to {MAX_HITS}")
    return int(min(MAX_HITS, max(1, limit)))


async def _json(session: Session, request: web.BaseRequest) -> dict[str, Any]:
    body = await read_json(session, request)
    if not isinstance(body, dict):
        raise Refused(400, "malformed", "the body is a JSON object")
    return body
