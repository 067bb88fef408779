"""A crop at the right place of an 8K picture: what counts as a look at a region, and what does not."""

from __future__ import annotations

import pytest

from fieldmark.evals.facts.found import gold_facts_of
from fieldmark.evals.facts.region import is_look_at, is_read_in
from fieldmark.findings import GoldFacts
from fieldmark.task import Gold
from fieldmark.trace import Box
from tests.evals.facts.traces import Trace

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


def facts(*boxes: Box, tool: str = "crop_zoom") -> GoldFacts:
    """Of an agent that looked at these boxes of a picture of 4000x3000 px, one after the other."""
    trace = Trace()
    for box in boxes:
        trace.call(tool, {}, regions=[{"of": "original", "box": box}])
    trace.answer("x")
    return gold_facts_of(
        trace.record, trace.events, Gold(answer="Saab 340", regions=[(1000, 1000, 1200, 1100)])
    )


@pytest.mark.parametrize(
    ("boxes", "held", "iou", "region"),
    [
        ([], 0.0, 0.0, False),
        ([(1000, 1000, 1200, 1100)], 1.0, 1.0, True),
        ([(900, 950, 1300, 1150)], 1.0, 0.25, True),  # holds it, four times as large
        ([(1000, 1000, 1080, 1100)], 0.4, 0.4, False),  # two fifths of it
        ([(1000, 1000, 1080, 1100), (1100, 1000, 1300, 1100)], 0.5, 0.4, True),  # the best of each
        ([(0, 0, 4000, 3000)], 0.0, 0.0, False),  # the whole picture holds everything, and is no look
        ([(0, 0, 2000, 1500)], 0.0, 0.0067, False),  # a quarter of it: too large to count as holding
    ],
)
def test_how_much_of_the_region_a_look_held(boxes: list[Box], held: float, iou: float, region: bool) -> None:
    found = facts(*boxes)
    assert (found.region_held, found.region_iou, found.region) == (held, iou, region)


def test_without_a_region_nothing_is_known_of_it() -> None:
    trace = Trace().answer("x")
    found = gold_facts_of(trace.record, trace.events, Gold(answer="Saab 340"))
    assert (found.region, found.region_held, found.region_iou) == (None, None, None)


def test_a_sign_that_was_read_was_looked_at_though_its_letters_do_not_fill_it() -> None:
    """What Tesseract gives for a drawn sign of 559x124 px in a picture of 24 megapixels."""
    sign, letters = (3893, 764, 4452, 888), (3934.6, 801.7, 4409.3, 852.3)
    assert is_read_in(sign, [letters])
    assert not is_read_in(sign, [(100, 100, 700, 150)])  # another sign
    assert not is_read_in((3000, 500, 5000, 1500), [letters])  # a word somewhere in a large region
    tight = (1040, 1030, 1160, 1070)
    assert facts(tight, tool="ocr").region
    assert not facts(tight).region  # a crop of the same size shows a quarter of it
