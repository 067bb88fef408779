"""my_tool: which colours fill the picture. Name, docstring and parameters are what a model reads."""

import io
from collections import Counter
from typing import Annotated

from PIL import Image
from pydantic import Field

from fieldmark.tools.context import Context
from fieldmark.tools.own import tool


@tool
def my_tool(
    context: Context,
    most: Annotated[int, Field(description="how many colours to name", ge=1, le=16)] = 3,
) -> dict[str, object]:
    """Name the colours that fill most of the picture, as #rrggbb, each with its share of the area, 0 to 1."""
    data, _ = context.region(None)  # the original picture; a box cuts a part of it out
    with Image.open(io.BytesIO(data)) as picture:
        pixels = picture.convert("RGB").resize((64, 64)).quantize(16).convert("RGB").tobytes()
    counted = Counter(pixels[place : place + 3].hex() for place in range(0, len(pixels), 3))
    colours = [{"colour": f"#{rgb}", "share": round(n / 64**2, 2)} for rgb, n in counted.most_common(most)]
    return {"found": True, "colours": colours}
