"""Where in the picture the answer is to be read: a bounding box, or several, in pixels of the picture.

The form of the column is not published. Taken are `[x0, y0, x1, y1]`, a list of such, an object with these
four numbers by name, and each of them as JSON in a text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from fieldmark.trace import Box

_NAMES = (
    ("x0", "y0", "x1", "y1"),
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
    ("left", "top", "right", "bottom"),
)
FORMS = "[x0, y0, x1, y1] in pixels, or a list of such"
THOUSANDTHS = 1000


class OddRegion(ValueError):
    """A value that is no box in pixels; the message says why, and what would be one."""


def regions_of(value: Any, size: tuple[int, int] | None) -> list[Box]:
    """The boxes of one item; `size` is that of its upright picture in pixels, None where it is not known.

    OddRegion for what is no box, has no area, or cannot be in pixels of that picture.
    """
    return [_checked(box, size) for box in _boxes(_loaded(value))]


def maybe_thousandths(boxes: Sequence[tuple[Box, tuple[int, int] | None]]) -> bool:
    """Whether all boxes of a whole benchmark lie within 0 to 1000 although their pictures are larger."""
    larger = [box for box, size in boxes if size and min(size) > THOUSANDTHS]
    return len(larger) > 1 and all(max(box) <= THOUSANDTHS for box in larger)


def _loaded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return json.loads(value)
    except ValueError:
        raise OddRegion(f"bounding box {value[:60]!r} is no {FORMS}") from None


def _boxes(value: Any) -> list[list[float]]:
    if value is None or value == []:
        return []
    if isinstance(value, dict):
        return [_named(value)]
    if isinstance(value, list) and all(isinstance(item, list | dict) for item in value):
        return [box for item in value for box in _boxes(item)]
    if isinstance(value, list) and len(value) == 4:
        return [[_number(item, value) for item in value]]
    raise OddRegion(f"bounding box {json.dumps(value)[:60]} is no {FORMS}")


def _named(value: dict[str, Any]) -> list[float]:
    plain = {str(key).strip().lower(): item for key, item in value.items()}
    for names in _NAMES:
        if plain.keys() >= set(names):
            return [_number(plain[name], value) for name in names]
    raise OddRegion(f"bounding box {json.dumps(value)[:60]} is no {FORMS}")


def _number(item: Any, whole: Any) -> float:
    try:
        number = math.nan if isinstance(item, bool) else float(item)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise OddRegion(f"bounding box {json.dumps(whole)[:60]} is no {FORMS}")
    return number


def _checked(box: list[float], size: tuple[int, int] | None) -> Box:
    x0, y0, x1, y1 = box
    if max(map(abs, box)) <= 1:
        raise OddRegion(f"bounding box {box} is in fractions of the sides: give {FORMS}")
    if not (0 <= x0 < x1 and 0 <= y0 < y1):
        raise OddRegion(f"bounding box {box} has no area as x0, y0, x1, y1 (is it x, y, width, height?)")
    if size and (x1 > size[0] or y1 > size[1]):
        raise OddRegion(f"bounding box {box} leaves its picture of {size[0]}x{size[1]} px: give {FORMS}")
    return (x0, y0, x1, y1)
