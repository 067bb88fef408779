"""The events of an episode as lines: when, who, what, and below it texts, pictures and boxes.

A box stands in pixels of the original picture, as `[x0, y0, x1, y1]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fieldmark.counting import counted
from fieldmark.showing.visible import as_json, one_line
from fieldmark.trace import (
    Answer,
    Box,
    Egress,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GameTurn,
    Log,
    MemoryRead,
    MemoryWrite,
    ModelRequest,
    ModelResponse,
    Picture,
    Region,
    SamePicture,
    SkillRead,
    ToolCall,
    ToolResult,
)

SHORT = 400
"""Characters of one text."""
REGIONS = 8
"""Places of one result that are told."""
Tone = Literal["plain", "bad", "model", "tool", "answer", "quiet"]


@dataclass(frozen=True)
class Moment:
    """One event. `head` says what happened, `below` are further lines; all are safe on a terminal.

    `pictures` are new with it: those of a result.
    """

    seq: int
    t: float
    by: str
    head: str
    below: tuple[str, ...] = ()
    tone: Tone = "plain"
    pictures: tuple[Picture, ...] = ()


def moments(
    events: Sequence[Event], cited: Collection[int] = (), where: Callable[[Picture], str] | None = None
) -> Iterator[Moment]:
    """In order, one for each event; those of `cited` say that they show the failure.

    `where` names the file of a picture that is new, where that is to be told.
    """
    for moment in _moments(events):
        if where and moment.pictures:
            files = [one_line(f"file {where(picture)}", SHORT) for picture in moment.pictures]
            moment = replace(moment, below=(*moment.below, *files))
        yield replace(moment, head=f"{moment.head} · shows the failure") if moment.seq in cited else moment


def _moments(events: Sequence[Event]) -> Iterator[Moment]:
    names: dict[tuple[bool, str], str] = {}
    for event in events:
        if isinstance(event, ToolCall):
            names[event.by == "gateway", event.call] = event.name
        if isinstance(event, ToolResult):
            yield _result(event, names.get((event.by == "gateway", event.call), "?"))
        else:
            yield _KINDS.get(type(event), _other)(event)


def _moment(
    event: Event,
    head: str,
    below: Iterable[tuple[str, Any]] = (),
    tone: Tone = "plain",
    more: Iterable[str] = (),
) -> Moment:
    """`below`: name and text, left out where there is none."""
    told = [
        one_line(f"{name}: {_text(value)}" if name else _text(value), SHORT) for name, value in below if value
    ]
    return Moment(event.seq, event.t, event.by, one_line(head, SHORT), (*told, *more), tone)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _start(event: EpisodeStart) -> Moment:
    head = f"episode starts: {event.agent} · {event.model} · picture {event.image.width}×{event.image.height}"
    return _moment(event, head, [("limits", event.limits)], "quiet")


def _request(event: ModelRequest) -> Moment:
    receipt = event.task_picture
    seen = f"picture {receipt.delivered} {receipt.width}×{receipt.height}" if receipt else "no task picture"
    inside = f" in {event.thread} of {event.parent_thread}" if event.parent_thread else ""
    head = (
        f"{event.call} asks {event.role} {event.model} ({event.purpose}{inside}): "
        f"{counted(len(event.messages), 'message')}, {counted(len(event.tools), 'tool')}, {seen}"
    )
    return _moment(event, head, [("sent otherwise", event.sent)], "quiet", map(_picture, event.pictures))


def _response(event: ModelResponse) -> Moment:
    used = event.tokens
    tokens = f" · {used.input} → {used.output} tokens" if used else ""
    waited = f" · waited {event.waited:.1f} s" if event.waited >= 0.05 else ""
    tries = f" · {event.tries} tries" if event.tries > 1 else ""
    bad = bool(event.error) or event.http >= 400
    http = f" · HTTP {event.http}" if bad else ""
    head = (
        f"{event.call} says ({event.finish or 'no end'}) · {event.seconds:.1f} s{waited}{tries}{tokens}{http}"
    )
    calls = [(f"→ {call.name}", call.arguments) for call in event.tool_calls]
    below = [("error", event.error), ("thinks", event.reasoning), ("", event.text), *calls]
    return _moment(event, head, below, "bad" if bad else "model")


def _call(event: ToolCall) -> Moment:
    side = f" · {event.side}" if event.side else ""
    via = f" · via {event.via}" if event.via else ""
    parent = f" · inside {event.parent}" if event.parent else ""
    repaired = " · arguments repaired" if event.repaired else ""
    head = f"{event.name} {as_json(event.arguments)}"
    return _moment(
        event,
        head,
        [("", f"{event.action} · {event.door} · {event.call}{side}{via}{parent}{repaired}")],
        "tool",
    )


def _result(event: ToolResult, name: str) -> Moment:
    error = ": ".join(part for part in (event.error_kind, event.error) if part)
    head = f"{name} {'✓' if event.ok else '✗'} {event.seconds:.2f} s{'' if event.ok else ' · ' + error}"
    below = [("", event.text), ("speaks to a model", event.injection)]
    more = [*map(_picture, event.pictures), *map(_region, event.regions[:REGIONS])]
    if len(event.regions) > REGIONS:
        more.append(f"and {len(event.regions) - REGIONS} more places")
    told = _moment(event, head, below, "plain" if event.ok else "bad", more)
    return replace(told, pictures=tuple(event.pictures))


def _picture(picture: Picture) -> str:
    done = [
        f"box {_box(picture.box)} of the original" if picture.box else "",
        f"scale {picture.scale:.3g}" if picture.scale else "",
        f"turned {picture.rotate:g}°" if picture.rotate else "",
        f"contrast {picture.contrast}" if picture.contrast not in (None, "none") else "",
    ]
    name = f"picture {picture.blob[:12]} {picture.width}×{picture.height} {picture.media_type}"
    return one_line(" · ".join([name, *filter(None, done)]), SHORT)


def _region(region: Region) -> str:
    score = "" if region.score is None else f" · {region.score:.2f}"
    return one_line(f"box {_box(region.box)} {region.label or ''}{score}", SHORT)


def _box(box: Box) -> str:
    return f"[{', '.join(f'{edge:.0f}' for edge in box)}]"


def _egress(event: Egress) -> Moment:
    bad = event.decision in ("denied", "missed") or (event.http or 0) >= 400
    head = (
        f"web {event.decision}: {event.method} {event.url} · HTTP {event.http or '–'} · {event.bytes} bytes"
    )
    return _moment(event, head, [("reason", event.reason)], "bad" if bad else "plain")


def _turn(event: GameTurn) -> Moment:
    where = f"turn {event.turn}" if event.turn else "game begins" if not event.text else "uploading"
    broke = f" · rule {event.rule}: {event.about}" if event.rule else ""
    shown = f" · shows {counted(len(event.pictures), 'picture')}" if event.pictures else ""
    return _moment(event, f"{where}: {event.text} → {event.reply}{broke}{shown}")


def _log(event: Log) -> Moment:
    return _moment(event, f"{event.level}: {event.message}", tone="quiet" if event.level == "info" else "bad")


def _answer(event: Answer) -> Moment:
    sure = "" if event.confidence is None else f" · confidence {event.confidence:.2f}"
    below = [("rationale", event.rationale), ("evidence", event.evidence)]
    return _moment(event, f"answer: {event.text}{sure}", below, "answer")


def _end(event: EpisodeEnd) -> Moment:
    error = event.error
    broken = f" · {error.boundary}/{error.kind}: {error.message}" if error else ""
    cost = "" if event.cost is None else f" · {event.cost:g} USD"
    head = f"episode ends: {event.status} · {event.seconds:.1f} s{cost}{broken}"
    return _moment(event, head, tone="bad" if error else "quiet")


def _recalled(event: MemoryRead) -> Moment:
    notes = [("", f"{hit.get('note')} · {hit.get('score')}") for hit in event.hits]
    return _moment(
        event,
        f"memory read at {event.at}: {event.query}",
        [("found", f"{counted(len(notes), 'note')}"), *notes],
    )


def _same(event: SamePicture) -> Moment:
    return _moment(event, f"the task picture itself was found: {event.title}", [("page", event.page)], "bad")


def _other(event: Event) -> Moment:
    """A kind that this version does not know."""
    fields = {
        key: value for key, value in event.model_dump(mode="json").items() if key not in Event.model_fields
    }
    return _moment(event, f"{event.kind}", [("", fields)])


_KINDS: dict[type[Event], Callable[[Any], Moment]] = {
    EpisodeStart: _start,
    ModelRequest: _request,
    ModelResponse: _response,
    ToolCall: _call,
    SamePicture: _same,
    SkillRead: lambda event: _moment(event, f"reads the skill {event.skill}: {event.file}"),
    MemoryRead: _recalled,
    MemoryWrite: lambda event: _moment(
        event, f"memory write {event.note}: {event.text}", [("cites", event.cites)]
    ),
    GameTurn: _turn,
    Egress: _egress,
    Log: _log,
    Answer: _answer,
    EpisodeEnd: _end,
}
