"""Whether the agent looked at the right place of the picture, where gold has one.

A look is a box on the original that a crop, a reading, a question or a search by picture says it is about.
It is at the right place when it covers half of a gold region or more, and is a look at that region: smaller
than the picture, and at most 16 times the region or a sixteenth of the picture, whichever is more.
Lines of text that were read fill less of the place that they stand on: those of one reading that lie in a
region are at the right place when what they span is a fifth of it or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fieldmark.evals.facts.results import LOOKING, Result
from fieldmark.trace import Box, EpisodeStart, Event

COVERED = 0.5
SPANNED = 0.2
TIMES = 16.0
_LOOKS = LOOKING | {"reverse_image_search"}
_DIGITS = 4


@dataclass(frozen=True)
class Looked:
    """`at`: `seq` of the first result that looked at a region. Of all looks smaller than the picture:
    `held`, the most of a region that one held which was a look at it by its size, and `iou`, the best
    intersection over union of one with a region; fractions 0–1.
    """

    at: int | None
    held: float
    iou: float


def looked_at(regions: Sequence[Box], events: Iterable[Event], results: Iterable[Result]) -> Looked | None:
    """Regions and looks in original pixels; None for a trace without a beginning."""
    start = next((event for event in events if isinstance(event, EpisodeStart)), None)
    if start is None:
        return None
    whole, at, held, iou = float(start.image.width * start.image.height), None, 0.0, 0.0
    for result in results:
        boxes = list(_boxes(result, start.image.blob))
        for region in regions:
            looks = [box for box in boxes if _area(box) < whole]
            held = max([held, *(_held(region, box) for box in looks if _near(region, box, whole))])
            iou = max([iou, *(_iou(region, box) for box in looks)])
            right = any(is_look_at(region, box, whole) for box in boxes) or (
                result.call.action == "ocr" and is_read_in(region, boxes)
            )
            at = result.seq if at is None and right else at
    return Looked(at, round(held, _DIGITS), round(iou, _DIGITS))


def is_look_at(region: Box, box: Box, whole: float) -> bool:
    """`whole` is the area of the picture in pixels."""
    return _area(box) < whole and _near(region, box, whole) and _held(region, box) >= COVERED


def is_read_in(region: Box, lines: Sequence[Box]) -> bool:
    """Whether the lines of one reading that lie in a region, by half or more, span enough of it."""
    inside = [line for line in lines if _area(line) and _shared(region, line) >= _area(line) / 2]
    if not inside:
        return False
    left, top, right, bottom = zip(*inside, strict=True)
    return _held(region, (min(left), min(top), max(right), max(bottom))) >= SPANNED


def _near(region: Box, box: Box, whole: float) -> bool:
    return _area(box) <= max(TIMES * _area(region), whole / TIMES)


def _held(region: Box, box: Box) -> float:
    return _shared(region, box) / _area(region) if _area(region) else 0.0


def _iou(region: Box, box: Box) -> float:
    shared = _shared(region, box)
    return shared / (_area(region) + _area(box) - shared) if shared else 0.0


def _boxes(result: Result, original: str) -> Iterator[Box]:
    if not result.event.ok or result.call.action not in _LOOKS:
        return
    yield from (region.box for region in result.event.regions if region.of == original)
    yield from (picture.box for picture in result.event.pictures if picture.of == original and picture.box)


def _shared(one: Box, other: Box) -> float:
    return _area((max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])))


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
