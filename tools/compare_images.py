"""The task picture beside a found one, with what can be measured of their likeness."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from pydantic import Field

from fieldmark.errors import DataFault, ToolError, ToolErrorKind
from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import BoxList, OptionalBoxArgs, place
from fieldmark.tools.context import Context
from fieldmark.trace import Box, Picture, Region

if TYPE_CHECKING:
    from PIL import Image

    from fieldmark.tools.image_index.likeness import Likeness

SIDE = 1024
"""Longest side, in px, of the task's part that is compared."""
MAX_PIXELS = 50_000_000
"""Pixels of a picture from the web, read from its header before it is decoded."""


class CompareArgs(OptionalBoxArgs):
    other: str = Field(
        description="the found picture: what a hit calls `image`, such as index:3, or the URL of a picture",
        min_length=1,
        max_length=2_000,
    )
    other_box: BoxList | None = Field(
        None, description="only this part of the found picture: [x1,y1,x2,y2] in its own pixels"
    )


def run(args: CompareArgs, context: Context) -> ToolResult:
    from fieldmark.tools.image_index.likeness import measure
    from fieldmark.tools.pictures.side_by_side import side_by_side
    from fieldmark.tools.pictures.upright import open_upright

    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    other = _part(_opened(args.other.strip(), context), args.other_box)
    data, part = _task_part(placed.box if placed else None, context)
    likeness = measure(data, _as_file(other))
    picture = context.keep(side_by_side(open_upright(data), other, ("task", "found")), "image/jpeg")
    lines = [
        likeness.in_words(),
        *(f"Note: {note}." for note in (placed.notes if placed else ())),
        f"Shown side by side: task (left) and found, {other.width}x{other.height} px (right).",
    ]
    return ToolResult("\n".join(lines), _data(likeness, other), [picture], _regions(likeness, part))


def _data(likeness: Likeness, other: Image.Image) -> dict[str, Any]:
    return {
        "found": likeness.found,
        "same_picture": likeness.same_picture,
        "same_object": likeness.match is not None,
        "hash_distance": likeness.hash_distance,
        "hash_bits": likeness.hash_bits,
        "key_points": likeness.match.inliers if likeness.match else 0,
        "other_size": list(other.size),
    }


def _regions(likeness: Likeness, part: Picture) -> list[Region]:
    """Where on the original the agreeing key points lie."""
    if likeness.match is None or part.of is None:
        return []
    left, top, _, _ = part.box or (0.0, 0.0, 0.0, 0.0)
    x1, y1, x2, y2 = (value / (part.scale or 1.0) for value in likeness.match.region)
    return [Region(of=part.of, box=(left + x1, top + y1, left + x2, top + y2), label="match")]


def _task_part(box: Box | None, context: Context) -> tuple[bytes, Picture]:
    width, height = (context.image.width, context.image.height)
    if box is not None:
        width, height = int(box[2] - box[0]), int(box[3] - box[1])
    return context.region(box, scale=min(1.0, SIDE / max(width, height, 1)))


def _opened(reference: str, context: Context) -> Image.Image:
    from fieldmark.tools.pictures.formats import header
    from fieldmark.tools.pictures.upright import open_upright

    on_web = re.match(r"https?://", reference, re.IGNORECASE)
    data = _fetched(reference, context) if on_web else context.found_picture(reference)
    try:
        head = header(data)
        if head.width * head.height > MAX_PIXELS:
            raise ToolError(f"other: {head.width}x{head.height} px is too large a picture", "invalid_args")
        return open_upright(data)
    except DataFault as error:
        raise ToolError(f"other: {error}" if not on_web else _no_picture(error), "invalid_args") from None


def _fetched(url: str, context: Context) -> bytes:
    data, page = context.fetch(url)
    if page.http >= 400:
        kind: ToolErrorKind = "not_found" if page.http in (404, 410) else "unavailable"
        raise ToolError(f"other: the site gives no picture at this URL (HTTP {page.http})", kind)
    if page.truncated:
        raise ToolError(
            f"other: the file is over {page.bytes:,} bytes: take a smaller picture", "invalid_args"
        )
    return data


def _no_picture(error: DataFault) -> str:
    return (
        f"other: what stands at this URL is no picture that can be read ({error}); give a picture's own URL"
    )


def _part(image: Image.Image, box: list[float] | None) -> Image.Image:
    if box is None:
        return image
    left, right = sorted((box[0], box[2]))
    top, bottom = sorted((box[1], box[3]))
    inside = (max(left, 0), max(top, 0), min(right, image.width), min(bottom, image.height))
    whole = tuple(map(round, inside))
    if whole[0] >= whole[2] or whole[1] >= whole[3]:
        size = f"{image.width}x{image.height} px"
        raise ToolError(f"other_box: empty or outside the found picture, which is {size}", "invalid_args")
    return image.crop((whole[0], whole[1], whole[2], whole[3]))


def _as_file(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


TOOL = Tool(
    name="compare_images",
    description=(
        "Place the task image, or a box of it, beside a picture that was found, look at both, and get their "
        "measured likeness: the same picture, the same object or scene verified by geometry, or no agreement "
        "found, which proves nothing. `other` is what a search hit calls `image` (index:3), or the URL of a "
        "picture. Use it to check a candidate mark by mark before you answer."
    ),
    args=CompareArgs,
    action="image_inspection",
    run=run,
    needs="found_pictures",
)
