"""What of the task picture reached the model, over the episodes of a run; None where a trace is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from fieldmark.records import EpisodeRecord, Sight
from fieldmark.sight import Shown, sight_of
from fieldmark.trace import EpisodeStart, Event, ModelRequest, ModelResponse, Receipt


class SightFacts(BaseModel):
    """Counts of episodes: `exact` + `resampled` + `none` = `episodes`. `largest` is the greatest size, in
    pixels, at which a resampled picture arrived. `unseen` are those without any, `lost` those that lost it.
    """

    episodes: int
    exact: int
    resampled: int
    none: int
    largest: tuple[int, int] | None
    lost: list[str]
    unseen: list[str]


def sight(rows: Iterable[tuple[EpisodeRecord, Sight]]) -> SightFacts:
    """Of the episodes in which the model was asked at all."""
    asked = [(record, seen) for record, seen in rows if seen.calls or seen.refused]
    sizes = [(seen.width, seen.height) for _, seen in asked if seen.delivered == "resampled"]
    how = [seen.delivered for _, seen in asked]
    return SightFacts(
        episodes=len(asked),
        exact=how.count("exact"),
        resampled=len(sizes),
        none=how.count("none"),
        largest=max(sizes, key=lambda size: size[0] * size[1], default=None),
        lost=[_name(record) for record, seen in asked if seen.lost_at],
        unseen=[_name(record) for record, seen in asked if seen.delivered == "none"],
    )


def sight_in(events: Sequence[Event]) -> Sight:
    """The sight of one episode from its trace; an older one has no receipts, but the pictures' sha256."""
    http = {event.call: event.http for event in events if isinstance(event, ModelResponse)}
    start = next((event for event in events if isinstance(event, EpisodeStart)), None)
    own = {start.image.blob, start.view.blob} if start else set()
    asked = [event for event in events if isinstance(event, ModelRequest) and event.role == "agent"]
    return sight_of(
        [
            Shown(
                event.call, event.task_picture or _by_hash(event, own), event.tools,
                event.purpose == "step", event.partial, http.get(event.call, 0),
            )
            for event in asked
        ]
    )  # fmt: skip


def _by_hash(event: ModelRequest, own: set[str]) -> Receipt | None:
    picture = next((picture for picture in event.pictures if picture.blob in own), None)
    size = {"width": picture.width, "height": picture.height} if picture else {}
    return Receipt(delivered="exact", blob=picture.blob, **size) if picture else None


def _name(record: EpisodeRecord) -> str:
    return f"{record.id} (epoch {record.epoch})" if record.epoch else record.id
