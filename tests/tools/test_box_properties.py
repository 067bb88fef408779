"""Boxes and cuts, for any numbers that a model can give."""

from __future__ import annotations

import io
import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

from fieldmark.errors import ToolError
from fieldmark.task import Space
from fieldmark.tools.boxes import place
from fieldmark.tools.pictures import images
from fieldmark.trace import Box, Picture

SPACES = st.sampled_from(["pixel", "sent", "norm1000", "fraction"])
ANY = st.floats(allow_nan=False, allow_infinity=False)
SIDE = st.integers(1, 9000)


def picture(width: int, height: int) -> Picture:
    return Picture(blob="0" * 64, media_type="image/png", width=width, height=height)


@given(st.tuples(ANY, ANY, ANY, ANY), SPACES, SIDE, SIDE, st.floats(0.01, 1))
def test_a_placed_box_is_in_the_picture_and_stays_where_it_is(
    corners: Box, space: Space, width: int, height: int, shrunk: float
) -> None:
    image = picture(width, height)
    view = picture(max(1, round(width * shrunk)), max(1, round(height * shrunk)))
    try:
        placed = place(corners, space, image, view)
    except ToolError:
        return
    left, top, right, bottom = placed.box
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    assert place(placed.box, "pixel", image, view).box == placed.box


@given(st.tuples(*[st.floats(0, 1)] * 4), SIDE, SIDE)
def test_all_spaces_mean_the_same_place(corners: Box, width: int, height: int) -> None:
    x1, y1, x2, y2 = corners
    assume(abs(x1 - x2) * width > 0.01 and abs(y1 - y2) * height > 0.01)
    image = picture(width, height)
    spelled: dict[Space, Box] = {
        "fraction": corners,
        "norm1000": (x1 * 1000, y1 * 1000, x2 * 1000, y2 * 1000),
        "pixel": (x1 * width, y1 * height, x2 * width, y2 * height),
        "sent": (x1 * width, y1 * height, x2 * width, y2 * height),
    }
    boxes = [place(box, space, image, image).box for space, box in spelled.items()]
    assert all(math.isclose(a, b, abs_tol=1e-6) for box in boxes for a, b in zip(box, boxes[0], strict=True))


@settings(max_examples=40)
@given(
    st.tuples(*[st.floats(-500, 500)] * 4) | st.none(),
    st.floats(1e-3, 50), st.floats(-720, 720), st.integers(8, 300),
)  # fmt: skip
def test_a_cut_has_the_size_it_says_and_no_side_over_the_limit(
    box: Box | None, scale: float, rotate: float, max_side: int
) -> None:
    whole = Image.linear_gradient("L").convert("RGB").resize((97, 61))
    try:
        cut = images.cut_decoded(
            whole, box, scale=scale, media_type="image/png", max_side=max_side, rotate=rotate
        )
    except ToolError:
        return
    assert Image.open(io.BytesIO(cut.data)).size == cut.size
    assert max(cut.size) <= max_side + 2  # a turned picture grows to whole pixels at both ends
    left, top, right, bottom = cut.box
    assert 0 <= left < right <= 97
    assert 0 <= top < bottom <= 61
    if box is not None:
        assert left <= max(min(box[0], box[2]), 0) + 1
