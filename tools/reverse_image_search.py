"""Where else does this picture, or the thing in it, appear?"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import OptionalBoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number
from fieldmark.trace import Region

VERIFIED = 0.5
"""Scores from here up: the same object or scene was found again; below, a mere look-alike."""


class SearchArgs(OptionalBoxArgs):
    limit: Number = Field(5, description="how many results, 1 to 20", ge=1, le=20)


def run(args: SearchArgs, context: Context) -> ToolResult:
    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    box = None if placed is None else placed.box
    reply = context.reverse_image(box, int(args.limit))
    lines = [_headline(reply, "the whole image" if box is None else f"original pixels {shown(box)}")]
    lines += [f"Note: {note}." for note in (placed.notes if placed else ())]
    lines += [_hit(hit) for hit in reply["hits"]]
    regions = [] if box is None else [Region(of=context.image.blob, box=box, label="search")]
    return ToolResult("\n".join(lines), reply, regions=regions)


def _headline(reply: dict[str, Any], what: str) -> str:
    if not reply["hits"]:
        return f"Nothing similar to {what} was found."
    return f"Matches for {what}, best first:"


def _hit(hit: dict[str, Any]) -> str:
    kind = "same object or scene" if hit["score"] >= VERIFIED else "only looks alike"
    if hit.get("same_picture"):
        kind = "the same picture"
    page = f", {hit['page']}" if hit.get("page") else ""
    source = f" ({hit['source']})" if hit.get("source") else ""
    return f"{hit['rank']}. {hit['title']}{source}{page}: score {hit['score']:.2f}, {kind}"


TOOL = Tool(
    name="reverse_image_search",
    description=(
        "Search for pictures that show the same thing as the task image, or as a box of it (a box around "
        "the subject often finds more). Lists titles, sources and scores from 0 to 1: from 0.5 the same "
        "object or scene was recognised, below that a result only looks alike and proves nothing."
    ),
    args=SearchArgs,
    action="reverse_image_search",
    run=run,
    needs="index",
)
