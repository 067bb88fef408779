"""Where an agent looked and read: boxes on the original picture, in its pixels, numbered as the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fieldmark.evals.inspector.timeline import Step
from fieldmark.trace import Box, EpisodeStart, Event, Picture, ToolResult


@dataclass(frozen=True)
class Mark:
    """A box `x0, y0, x1, y1` of step `number`, from the event `seq`. `numbered`: its number is written at it.

    `kind` is `crop` for a picture that was cut out, `region` for a place that a result speaks of.
    """

    number: int
    seq: int
    kind: str
    box: Box
    title: str
    numbered: bool


@dataclass(frozen=True)
class Original:
    """The picture that boxes refer to: its blob and its size in pixels."""

    blob: str
    width: int
    height: int


def original(task: dict[str, Any], events: Iterable[Event]) -> Original | None:
    """As the trace says it, else as tasks.jsonl does; None where neither knows a size."""
    start = next((event for event in events if isinstance(event, EpisodeStart)), None)
    if start is not None:
        return _sized(start.image.blob, start.image.width, start.image.height)
    image = task.get("image")
    told = image if isinstance(image, dict) else {}
    return _sized(told.get("blob"), told.get("width"), told.get("height"))


def _sized(blob: Any, width: Any, height: Any) -> Original | None:
    known = isinstance(blob, str) and isinstance(width, int) and isinstance(height, int)
    return Original(blob, width, height) if known and width > 0 and height > 0 else None


def marks(shown: Iterable[Step], picture: Original) -> list[Mark]:
    """Every box of these steps on the original, the largest first: a small one stays on top of it."""
    found = [mark for step in shown for mark in _of_step(step, picture.blob)]
    return sorted(found, key=lambda mark: -(mark.box[2] - mark.box[0]) * (mark.box[3] - mark.box[1]))


def _of_step(step: Step, blob: str) -> Iterator[Mark]:
    """A crop is told of twice, as a picture and as a region: it is drawn once. One number for a reading."""
    drawn: set[Box] = set()
    named = False
    for event in step.events:
        for kind, box, told in _boxes(event, blob):
            if box in drawn or box[2] <= box[0] or box[3] <= box[1]:
                continue
            drawn.add(box)
            title = f"{step.number} {step.name}{f': {told}' if told else ''}"
            yield Mark(step.number, event.seq, kind, box, title, kind == "crop" or not named)
            named = True


def _boxes(event: Event, blob: str) -> Iterator[tuple[str, Box, str]]:
    if not isinstance(event, ToolResult):
        return
    for picture in event.pictures:
        if picture.of == blob and picture.box:
            yield "crop", picture.box, _crop(picture)
    for region in event.regions:
        if region.of == blob:
            yield "region", region.box, region.label or ""


def _crop(picture: Picture) -> str:
    told = [f"{picture.width} × {picture.height} px"]
    told += [f"scale {picture.scale:.3g}"] if picture.scale else []
    told += [f"turned {picture.rotate:g}°"] if picture.rotate else []
    return ", ".join(told)
