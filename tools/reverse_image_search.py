"""Where else does this picture, or the thing in it, appear?"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import OptionalBoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number
from fieldmark.tools.pages.untrusted import defused_row, untrusted
from fieldmark.trace import Region

VERIFIED = 0.5
"""Scores from here up: the same object or scene was found again; below, a mere look-alike."""

_PLACES = frozenset({"url", "image", "image_url", "image_path", "path", "file", "filename", "uri"})
"""Arguments by which models try to name another picture."""


class SearchArgs(OptionalBoxArgs):
    limit: Number = Field(5, description="how many results, 1 to 20", ge=1, le=20)

    @model_validator(mode="before")
    @classmethod
    def _no_other_picture(cls, values: Any) -> Any:
        named = [name for name in values if name.lower() in _PLACES] if isinstance(values, dict) else []
        if named:
            raise ValueError(
                f"{named[0]}: only the task image, or a box of it, can be searched for, no URL or file"
            )
        return values


def run(args: SearchArgs, context: Context) -> ToolResult:
    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    box = None if placed is None else placed.box
    reply = context.reverse_image(box, int(args.limit))
    lines = [_headline(reply, "the whole image" if box is None else f"original pixels {shown(box)}")]
    lines += [f"Note: {note}." for note in (placed.notes if placed else ())]
    if reply["hits"]:
        lines.append(untrusted("\n".join(map(_hit, reply["hits"])), f"reverse_image_search:{_engine(reply)}"))
    regions = [] if box is None else [Region(of=context.image.blob, box=box, label="search")]
    return ToolResult(
        "\n".join(lines), {**reply, "hits": list(map(defused_row, reply["hits"]))}, regions=regions
    )


def _headline(reply: dict[str, Any], what: str) -> str:
    withheld = reply.get("withheld", 0)
    left_out = f" ({withheld} withheld: records of a source dataset)" if withheld else ""
    if not reply["hits"]:
        return f"Nothing similar to {what} was found{left_out}."
    if all(hit["score"] is None for hit in reply["hits"]):
        return f"Matches for {what} in the order of {_engine(reply)}, which gives no scores{left_out}:"
    return f"Matches for {what}, best first{left_out}:"


def _engine(reply: dict[str, Any]) -> str:
    return str(reply.get("engine", "local"))


def _hit(hit: dict[str, Any]) -> str:
    page = f", {hit['page']}" if hit.get("page") else ""
    source = f" ({hit['source']})" if hit.get("source") else ""
    return f"{hit['rank']}. {hit['title']}{source}{page}: {_worth(hit)}"


def _worth(hit: dict[str, Any]) -> str:
    """What is known of a hit, and no more."""
    score, same = hit["score"], hit.get("same_picture")
    if score is None:
        return "the same picture" if same else "looks alike to the search engine, not verified"
    kind = "same object or scene" if score >= VERIFIED else "only looks alike"
    return f"score {score:.2f}, {'the same picture' if same else kind}"


TOOL = Tool(
    name="reverse_image_search",
    description=(
        "Search for pictures that show the same thing as the task image, or as a box of it (a box around "
        "the subject often finds more). Lists titles, sources and, where there are any, scores from 0 to 1: "
        "from 0.5 the same object or scene was recognised, below that a result only looks alike and proves "
        "nothing. A result without a score is a lead: compare it with the picture. Only the task image can "
        "be searched for."
    ),
    args=SearchArgs,
    action="reverse_image_search",
    run=run,
    needs="index",
)
