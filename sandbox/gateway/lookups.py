"""POST /lookup/*: the services of the host that tools ask for."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.pictures import box_of
from fieldmark.sandbox.gateway.replies import refusal
from fieldmark.sandbox.gateway.session import Session


async def reverse_image(session: Session, request: web.BaseRequest) -> web.Response:
    """Search for the task picture, or a box of it (original pixels), in the run's picture index."""
    try:
        body = await _json(request)
        limit = min(20, max(1, int(body.get("limit", 5))))
        box = box_of(body["box"]) if body.get("box") is not None else None
        found = await session.backends.reverse_image(session.pictures.original_path, box, limit)
    except ValueError as error:
        return refusal(400, "invalid_args", str(error))
    except ToolError as error:
        return refusal(503 if error.kind == "unavailable" else 400, error.kind, str(error))
    return web.json_response(found)


async def aircraft(session: Session, request: web.BaseRequest) -> web.Response:
    """Look a registration or 24-bit address up in the run's aircraft registry."""
    try:
        query = str((await _json(request)).get("query", ""))[:100]
        found = await session.backends.aircraft(query)
    except ValueError as error:
        return refusal(400, "invalid_args", str(error))
    except ToolError as error:
        return refusal(503 if error.kind == "unavailable" else 400, error.kind, str(error))
    return web.json_response(found)


async def _json(request: web.BaseRequest) -> dict[str, Any]:
    body = json.loads(await request.read(), parse_constant=lambda _: None)
    if not isinstance(body, dict):
        raise ValueError("the body is a JSON object")
    return body
