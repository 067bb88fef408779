"""A first guess at what the picture shows, by a small classifier of 1,000 classes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import OptionalBoxArgs, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number
from fieldmark.trace import Region


class ClassArgs(OptionalBoxArgs):
    limit: Number = Field(5, description="how many classes, 1 to 20", ge=1, le=20)


def run(args: ClassArgs, context: Context) -> ToolResult:
    corners = args.corners()
    placed = None if corners is None else place(corners, args.space, context.image, context.view)
    box = None if placed is None else placed.box
    reply = context.classify(box, int(args.limit))
    lines = [_headline(reply, "the whole image" if box is None else f"original pixels {shown(box)}")]
    lines += [f"Note: {note}." for note in (placed.notes if placed else ())]
    lines += [f"{row['score']:.2f} {row['name']} ({row['group']})" for row in reply["classes"]]
    groups = ", ".join(f"{row['group']} {row['score']:.2f}" for row in reply["groups"])
    regions = [] if box is None else [Region(of=context.image.blob, box=box, label="classify")]
    return ToolResult("\n".join([*lines, f"Kinds, all classes summed: {groups}."]), reply, regions=regions)


def _headline(reply: dict[str, Any], what: str) -> str:
    if reply["found"]:
        return f"Likeliest of 1,000 ImageNet classes for {what}; a guess to verify, for it knows no others:"
    return f"No ImageNet class fits {what} well: the subject is probably none of the 1,000. The nearest:"


TOOL = Tool(
    name="classify_image",
    description=(
        "Guess what the task image, or a box of it (a box around the subject helps), shows: scores from 0 to "
        "1 of the 1,000 ImageNet classes by a small classifier. It knows 118 dog breeds, 59 birds, common "
        "mammals, reptiles and insects, some food, vehicles and household things, but no plant species, "
        "aircraft types, brands, places or works of art, and it must name one of its classes for every "
        "picture: a low best score means none fits, and a high one can still be a look-alike."
    ),
    args=ClassArgs,
    action="image_inspection",
    run=run,
    needs="classifier",
)
