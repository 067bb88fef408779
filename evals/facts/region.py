"""Whether the agent looked at the right place of the picture, where gold has one.

A look is a box on the original that a crop, a reading, a question or a search by picture says it is about.
It is at the right place when it covers half of a gold region or more, and is a look at that region: smaller
than the picture, and at most 16 times the region or a sixteenth of the picture, whichever is more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fieldmark.evals.facts.results import LOOKING, Result
from fieldmark.trace import Box, EpisodeStart, Event

COVERED = 0.5
TIMES = 16.0
_LOOKS = LOOKING | {"reverse_image_search"}


def first_look(regions: Sequence[Box], events: Iterable[Event], results: Iterable[Result]) -> int | None:
    """The `seq` of the first result about one of the regions, in original pixels."""
    start = next((event for event in events if isinstance(event, EpisodeStart)), None)
    if start is None:
        return None
    whole = float(start.image.width * start.image.height)
    for result in results:
        boxes = list(_boxes(result, start.image.blob))
        if any(is_look_at(region, box, whole) for region in regions for box in boxes):
            return result.seq
    return None


def is_look_at(region: Box, box: Box, whole: float) -> bool:
    """`whole` is the area of the picture in pixels."""
    shared = _area(
        (max(region[0], box[0]), max(region[1], box[1]), min(region[2], box[2]), min(region[3], box[3]))
    )
    most = max(TIMES * _area(region), whole / TIMES)
    return 0 < COVERED * _area(region) <= shared and _area(box) < whole and _area(box) <= most


def _boxes(result: Result, original: str) -> Iterator[Box]:
    if not result.event.ok or result.call.action not in _LOOKS:
        return
    yield from (region.box for region in result.event.regions if region.of == original)
    yield from (picture.box for picture in result.event.pictures if picture.of == original and picture.box)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
