"""Ask the run's vision model about the picture: the pairing of a controller and eyes (FIKA-Bench)."""

from __future__ import annotations

from pydantic import Field, model_validator

from fieldmark.tools.base import Tool, ToolResult
from fieldmark.tools.boxes import BoxList, OptionalBoxArgs, Placed, place, shown
from fieldmark.tools.context import Context
from fieldmark.tools.showing import MIN_BOX, MIN_OUTPUT, at_least, check_sides, good_scale, whole
from fieldmark.trace import Box, Picture, Region


class InspectArgs(OptionalBoxArgs):
    question: str = Field(
        description="what you want to know; the other model sees only the picture and this text",
        min_length=1,
        max_length=2_000,
    )
    boxes: list[BoxList] | None = Field(
        None,
        description="instead of one box several, [x1,y1,x2,y2] each, shown together as picture 1, 2, …",
        min_length=1,
        max_length=6,
    )

    @model_validator(mode="after")
    def _one_way(self) -> InspectArgs:
        if self.boxes and self.corners():
            raise ValueError("give boxes or x1,y1,x2,y2, not both")
        return self


def run(args: InspectArgs, context: Context) -> ToolResult:
    placed = [place(corners, args.space, context.image, context.view) for corners in _corners(args)]
    pictures = [_cut(item.box, context) for item in placed] or [context.view]
    reply = context.eyes(args.question, pictures)
    boxes = [picture.box for picture in pictures if picture.box]
    regions = [Region(of=context.image.blob, box=box, label="inspect") for box in boxes]
    data = {"found": True, "model": reply["model"], "boxes": [list(box) for box in boxes]}
    return ToolResult(
        "\n".join([*_heading(reply["model"], boxes, placed), reply["text"]]), data, regions=regions
    )


def _corners(args: InspectArgs) -> list[Box]:
    if args.boxes:
        return [(box[0], box[1], box[2], box[3]) for box in args.boxes]
    corners = args.corners()
    return [corners] if corners else []


def _cut(box: Box, context: Context) -> Picture:
    box = at_least(whole(box, context.image), MIN_BOX, context.image)
    scale = good_scale(max(box[2] - box[0], box[3] - box[1]))
    box = at_least(box, MIN_OUTPUT / scale, context.image)
    check_sides(box, scale, context.image)
    return context.region(box, scale=scale, media_type="image/jpeg", shown=True)[1]


def _heading(model: str, boxes: list[Box], placed: list[Placed]) -> list[str]:
    what = f"original pixels {', '.join(map(shown, boxes))}" if boxes else "the whole image"
    notes = [f"Note: {note}." for item in placed for note in item.notes]
    return [f"{model}, a vision model, says of {what} (its reading, which can be wrong):", *notes]


TOOL = Tool(
    name="inspect_image",
    description=(
        "Ask a vision model a question about the task image, about a box of it (shown enlarged from the "
        "full-resolution original), or about several boxes side by side. It sees nothing else and knows "
        "nothing of your task, so ask for what can be seen: shapes, colours, text, marks, counts, which of "
        "two candidates the marks fit. Its answer is a reading, not evidence: check it against other tools."
    ),
    args=InspectArgs,
    action="image_inspection",
    run=run,
    needs="eyes",
)
