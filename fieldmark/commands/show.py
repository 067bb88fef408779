"""`fieldmark show`: one episode, readable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from fieldmark.showing.looking import Shown
    from fieldmark.trace import Event, ModelRequest


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("task")
@click.option("--epoch", type=click.IntRange(min=0), help="Which look at the task.  [default: its first]")
@click.option("--event", "seq", type=click.IntRange(min=0), help="One event in full, by its number.")
@click.option("--curl", is_flag=True, help="With --event: a curl command, and its data as a file here.")
@click.option("--from", "first", type=click.IntRange(min=0), default=0, help="Events from this number on.")
@click.option("--to", "last", type=click.IntRange(min=0), help="Events up to this number.")
@click.option("--no-pictures", is_flag=True, help="No picture is drawn, whatever the terminal can.")
@click.option("--no-private", is_flag=True, help="Leave out gold, and what only gold could tell.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    run: Path, task: str, epoch: int | None, seq: int | None, curl: bool, first: int, last: int | None,
    no_pictures: bool, no_private: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show the episode of TASK in RUN: what became of it, and its events.

    TASK is an id, the beginning of one, or the name of a trace. Gold is shown where the private part of the
    run is there. --event N of a model call shows its request too, pictures as blob:<sha256>; with --json as
    it was received, to the byte. Pictures are lines: their files are in the run's blobs/.

    \b
    fieldmark show runs/a mini-01
    fieldmark show runs/a mini-01 --event 5
    fieldmark show runs/a mini-01 --event 5 --curl
    """
    from fieldmark.rundir import RunDir
    from fieldmark.showing.finding import find_episode
    from fieldmark.showing.looking import look

    if curl and seq is None:
        raise UsageError("--curl: say which model call with --event N")
    folder = RunDir.open(run)
    shown = look(folder, find_episode(folder, task, epoch), private=not no_private)
    if seq is not None:
        event = _event(shown, seq)
        _show_event(shown, event, curl=curl, as_json=as_json)
        if not (curl or as_json or no_pictures):
            _draw_pictures(shown, event)
        return
    numbers = range(first, shown.events[-1].seq + 1 if last is None else last + 1)
    if as_json:
        click.echo(json.dumps(_as_json(shown, numbers), ensure_ascii=True, default=str))
    else:
        _draw(shown, numbers, pictures=not no_pictures)


def _event(shown: Shown, seq: int) -> Event:
    found = next((event for event in shown.events if event.seq == seq), None)
    if found is None:
        raise UsageError(f"no event {seq} in this episode: its last is {shown.events[-1].seq}")
    return found


def _show_event(shown: Shown, event: Event, *, curl: bool, as_json: bool) -> None:
    from fieldmark.showing import request as requests
    from fieldmark.showing.visible import visible

    request = requests.request_of(shown.events, event)
    if curl:
        _show_curl(shown, event, request)
        return
    told = event.model_dump(mode="json")
    if as_json:
        if request:
            told["request"] = requests.as_received(request, shown.folder).decode("utf-8", "replace")
        click.echo(json.dumps(told, ensure_ascii=True))
        return
    click.echo(visible(_pretty(told)))
    if request:
        click.echo(f"\nthe request of {visible(request.call)} as received, pictures by name:")
        click.echo(visible(_pretty(json.loads(requests.without_pictures(request, shown.folder)))))


def _show_curl(shown: Shown, event: Event, request: ModelRequest | None) -> None:
    from fieldmark.showing.request import curl, unlike
    from fieldmark.showing.visible import visible

    if request is None:
        raise UsageError(f"event {event.seq} is {event.kind}: --curl needs a model_request or model_response")
    command = curl(request, shown.folder, shown.record, Path())
    for line in unlike(request, shown.folder):
        click.echo(f"note: {visible(line)}", err=True)
    click.echo(visible(command))


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _draw(shown: Shown, numbers: range, *, pictures: bool) -> None:
    from fieldmark.evals.report.terminal import make_console
    from fieldmark.showing.drawing import draw_header, draw_timeline
    from fieldmark.showing.header import header, task_picture, where
    from fieldmark.showing.pictures import drawing
    from fieldmark.showing.timeline import moments

    console = make_console()
    draw = drawing(console, shown.folder) if pictures else None
    draw_header(header(shown), console)
    console.print()
    picture = task_picture(shown)
    if draw and picture:
        draw(picture)
    told = moments(shown.events, shown.cited, None if draw else lambda each: where(shown, each))
    draw_timeline((each for each in told if each.seq in numbers), console, draw)


def _draw_pictures(shown: Shown, event: Event) -> None:
    """Those that an event names, where the terminal can."""
    from fieldmark.evals.report.terminal import make_console
    from fieldmark.showing.pictures import drawing

    pictures = getattr(event, "pictures", ())
    if draw := drawing(make_console(), shown.folder) if pictures else None:
        for picture in pictures:
            draw(picture)


def _as_json(shown: Shown, numbers: range) -> dict[str, Any]:
    """Gold and what rests on it under `private`, where it is shown."""
    public = {"task": shown.task, "episode": shown.record, "verdict": shown.verdict, "failure": shown.failure}
    private = {
        "gold": shown.gold, "reason": shown.reason, "failure_reason": shown.why, "facts": shown.gold_facts,
    }  # fmt: skip
    told = {name: _plain(value) for name, value in {**public, "facts": shown.facts}.items()}
    if any(value is not None for value in private.values()):
        told["private"] = {name: _plain(value) for name, value in private.items()}
    return {**told, "events": [_plain(event) for event in shown.events if event.seq in numbers]}


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
