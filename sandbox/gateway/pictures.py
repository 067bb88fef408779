"""GET /image and /image/region: the view as it is, and cuts of the original made on the host."""

from __future__ import annotations

import math

from aiohttp import web

from fieldmark.errors import EpisodeFault, ToolError
from fieldmark.sandbox.gateway.replies import refusal
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import Box, Picture


async def view(session: Session, request: web.BaseRequest) -> web.Response:
    """The picture that models are shown, the same bytes for every agent."""
    return web.Response(body=session.pictures.view, content_type=session.prompt.view.media_type)


async def region(session: Session, request: web.BaseRequest) -> web.Response:
    """A cut of the original; its Picture stands in the header X-Picture."""
    try:
        asked = request.query.get("box")
        box = box_of(asked.split(",")) if asked else None
        scale = float(request.query.get("scale", "1"))
        media_type = request.query.get("type", "image/png")
        if media_type not in ("image/png", "image/jpeg") or not 0 < scale <= 64:
            raise ValueError("type is image/png or image/jpeg, scale is over 0 and at most 64")
    except ValueError as error:
        return refusal(400, "invalid_args", str(error))
    try:
        data, used, size = await session.backends.cut(session.pictures.original_path, box, scale, media_type)
    except ToolError as error:
        return refusal(400, error.kind, str(error))
    except EpisodeFault as error:
        return refusal(400, "invalid_args", str(error))
    picture = Picture(
        blob=session.blobs.put(data, media_type), media_type=media_type, width=size[0], height=size[1],
        of=session.prompt.image.blob, box=used, scale=round(size[0] / (used[2] - used[0]), 4),
    )  # fmt: skip
    session.known_pictures[picture.blob] = picture
    headers = {"X-Picture": picture.model_dump_json(exclude_none=True)}
    return web.Response(body=data, content_type=media_type, headers=headers)


def box_of(numbers: object) -> Box:
    """Four finite numbers x0,y0,x1,y1 in pixels of the original; ValueError says so."""
    try:
        x0, y0, x1, y1 = (float(number) for number in numbers)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        x0 = y0 = x1 = y1 = math.nan
    if not all(math.isfinite(number) for number in (x0, y0, x1, y1)):
        raise ValueError("box is four finite numbers x0,y0,x1,y1 in pixels of the original")
    return (x0, y0, x1, y1)
