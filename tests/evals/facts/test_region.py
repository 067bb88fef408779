"""A crop at the right place of an 8K picture: what counts as a look at a region, and what does not."""

from __future__ import annotations

import pytest

from fieldmark.evals.facts.region import is_look_at
from fieldmark.trace import Box

WHOLE = 7680.0 * 4320.0
REGION: Box = (5000, 3000, 5100, 3060)


@pytest.mark.parametrize(
    ("box", "looks"),
    [
        ((5000, 3000, 5100, 3060), True),  # the region itself
        ((4800, 2900, 5300, 3200), True),  # holds it
        ((4400, 2600, 5700, 3500), True),  # holds it, a twenty-eighth of the picture
        ((5000, 3000, 5051, 3060), True),  # 51 % of it
        ((5000, 3000, 5049, 3060), False),  # 49 % of it
        ((5020, 3010, 5030, 3020), False),  # inside it, a sixtieth of it
        ((5100, 3000, 5200, 3060), False),  # beside it
        ((0, 0, 7680, 4320), False),  # the whole picture
        ((3840, 2160, 7680, 4320), False),  # a quarter of it: no look closer
    ],
)
def test_a_box_and_a_region(box: Box, looks: bool) -> None:
    assert is_look_at(REGION, box, WHOLE) is looks


def test_a_large_region_may_be_looked_at_with_room_around_it() -> None:
    region: Box = (2000, 1000, 4000, 2500)
    assert is_look_at(region, (1000, 500, 5000, 3500), WHOLE)
    assert not is_look_at(region, (0, 0, 7680, 4320), WHOLE)
