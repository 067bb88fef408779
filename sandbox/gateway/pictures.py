"""GET /image and /image/region: the view as it is, and cuts of the original made on the host."""

from __future__ import annotations

import math
from typing import get_args

from aiohttp import web

from fieldmark.errors import EpisodeFault, ToolError
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import Box, Contrast


async def view(session: Session, request: web.BaseRequest) -> web.Response:
    """The picture that models are shown, the same bytes for every agent."""
    return web.Response(body=session.pictures.view, content_type=session.prompt.view.media_type)


async def region(session: Session, request: web.BaseRequest) -> web.Response:
    """A cut of the original; its Picture stands in the header X-Picture."""
    asked = request.query.get("box")
    box = box_of(asked.split(",")) if asked else None
    scale = number(request.query.get("scale", "1"))
    media_type = request.query.get("type", "image/png")
    rotate, contrast = number(request.query.get("rotate", "0")), request.query.get("contrast", "none")
    if media_type not in ("image/png", "image/jpeg") or not 0 < scale <= 64:
        message = "type is image/png or image/jpeg, scale is over 0 and at most 64"
        raise Refused(400, "invalid_args", message)
    if not math.isfinite(rotate) or contrast not in get_args(Contrast):
        raise Refused(400, "invalid_args", "rotate is degrees clockwise, contrast is none or auto")
    try:
        made = await session.look_up(
            session.backends.cut,
            session.pictures.original_path,
            box,
            scale,
            media_type,
            rotate,
            contrast,
            request.query.get("shown") == "1",
        )
    except ToolError as error:
        raise Refused(400, error.kind, str(error)) from None
    except EpisodeFault as error:
        raise Refused(400, "invalid_args", str(error)) from None
    blob = await session.in_thread(session.blobs.put, made.data, media_type)
    picture = made.picture(blob, of=session.prompt.image.blob)
    session.known_pictures[picture.blob] = picture
    headers = {"X-Picture": picture.model_dump_json(exclude_none=True)}
    return web.Response(body=made.data, content_type=media_type, headers=headers)


def box_of(numbers: object) -> Box:
    """Four finite numbers x0,y0,x1,y1 in pixels of the original; Refused says so."""
    box = [number(item) for item in numbers] if isinstance(numbers, list) else []
    if len(box) != 4 or not all(map(math.isfinite, box)):
        message = "box is four finite numbers x0,y0,x1,y1 in pixels of the original"
        raise Refused(400, "invalid_args", message)
    return (box[0], box[1], box[2], box[3])


def number(value: object) -> float:
    """NaN for what is not a number."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):  # OverflowError: an integer of hundreds of digits
        return math.nan
