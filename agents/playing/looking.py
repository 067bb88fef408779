"""`inspect_picture`: what can be read off the pixels of one picture, for players that take no pictures.

It knows the drawn garments of `amigo-garments`, by code; of any other picture it says that it knows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from fieldmark.tools.base import Args, Tool, ToolResult
from fieldmark.tools.context import Context
from fieldmark.tools.numbers import Number
from fieldmark.tools.pictures.garments import read_garment

NAME = "inspect_picture"


class LookArgs(Args):
    picture: Number = Field(description="the picture's number in the gallery", ge=1)


def looking(gallery: Mapping[int, bytes]) -> Tool:
    """The tool over the pictures that have been shown, by number."""

    def run(args: LookArgs, context: Context) -> ToolResult:
        number = int(args.picture)
        if number not in gallery:
            return ToolResult.failed("not_found", f"picture {number} has not been shown")
        read = read_garment(gallery[number])
        data = {"picture": number, "found": read is not None, "attributes": read or {}}
        if read is None:
            return ToolResult(f"Picture {number}: nothing could be read off it.", data)
        said = "; ".join(f"{kind}: {value}" for kind, value in read.items())
        return ToolResult(f"Picture {number}: {said}.", data)

    return Tool(
        name=NAME,
        description=(
            "Read the attributes of one picture of the gallery off its pixels, by its number; none means "
            "that the thing is not there. It reads simple drawings of garments and nothing else."
        ),
        args=LookArgs,
        action="image_inspection",
        run=run,
    )
