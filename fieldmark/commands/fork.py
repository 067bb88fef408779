"""`fieldmark fork`: a recorded episode once more from an event on, with one thing changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fieldmark.counting import counted
from fieldmark.evals.report.table import Table
from fieldmark.forking.outcome import Outcome, Side

_FILE = click.Path(path_type=Path, exists=True)


@click.command("fork")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("task")
@click.option(
    "--event", type=click.IntRange(min=0), required=True, metavar="N", help="Its `seq` in the trace."
)
@click.option("--epoch", type=click.IntRange(min=0), default=0, help="Of the recorded episode.  [default: 0]")
@click.option("--arguments", metavar="JSON", help="All arguments of that call, instead of the model's.")
@click.option("--result", metavar="TEXT|@FILE", help="What the model is told that the call brought.")
@click.option("--picture", metavar="restore|original|@FILE", help="A picture in every request from there on.")
@click.option("--reply", metavar="TEXT|@FILE", help="The text of that reply of the model.")
@click.option("--model", help="Who answers after the fork.  [default: the recorded model]")
@click.option("--base-url", help="Its server.  [default: the recorded one]")
@click.option("--key-env", help="The variable that holds its key.  [default: the recorded one]")
@click.option(
    "--after", type=click.Choice(["model", "replay"]), default="model",
    help="replay: the recorded replies, as far as they go, offline.  [default: model]",
)  # fmt: skip
@click.option("--repeat", type=click.IntRange(1, 1000), help="Go on so many times.  [default: 1]")
@click.option("--benchmark", help="Where the recorded benchmark lies now.  [default: where it lay]")
@click.option("--data", type=_FILE, help="The same of the data of fika.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder.  [default: runs/TIME-fork-RUN]")
@click.option("--trust", is_flag=True, help="Use the servers, keys and Python files that its folder names.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def command(
    run: Path, task: str, event: int, epoch: int, as_json: bool, trust: bool,
    arguments: str | None, result: str | None, picture: str | None, reply: str | None, **flags: Any,
) -> int:  # fmt: skip
    """Run one recorded episode again, with one thing changed at an event.

    Before the event its model is answered from the recording, so that the episode is the same; from there
    on the model is asked. The fork is a run of its own. docs/fork.md says what can be changed where.

    \b
    fieldmark fork runs/A mini-01 --event 7 --arguments '{"x1": 0, "y1": 0, "x2": 400, "y2": 300}'
    fieldmark fork runs/A mini-01 --event 8 --result "no text was found"
    fieldmark fork runs/A mini-01 --event 20 --picture restore --repeat 10
    fieldmark fork runs/A mini-01 --event 6 --reply @other.txt --after replay --json
    """
    from fieldmark.forking.asked import one_of
    from fieldmark.forking.carrying_out import carry_out

    asked = one_of({"arguments": arguments, "result": result, "picture": picture, "reply": reply})
    told = carry_out(run, task, epoch, event, asked, flags, _say, trusted=trust)
    if as_json:
        click.echo(told.model_dump_json(indent=2))
    else:
        _show(told)
    return 1 if any(side.status == "sandbox_error" for side in told.forks) else 0


def _say(line: str) -> None:
    click.echo(line, err=True)


def _show(told: Outcome) -> None:
    from fieldmark.evals.report.terminal import print_tables

    print_tables([_table(told)])
    for number, side in enumerate(told.forks):
        named = f"fork {number + 1}: " if len(told.forks) > 1 else ""
        click.echo(f"{named}{_parts(side)}")
        if side.drift:
            click.echo(
                f"{named}! {counted(side.drift, 'request')} before the fork differ from the recorded ones"
            )
    if told.right and told.right.fraction is not None and told.interval:
        low, high = 100 * told.interval.low, 100 * told.interval.high
        right = f"{told.right.count:.0f} of {told.right.n} continuations are right"
        click.echo(f"{right}, {100 * told.right.fraction:.1f} % (95 % CI {low:.1f}–{high:.1f})")
    for line in told.not_shown:
        click.echo(f"not shown: {line}")
    click.echo(f"run folder: {told.folder}")


def _parts(side: Side) -> str:
    if side.parts is None:
        return "beside what was changed, every event is the recorded one"
    return f"they part at {side.parts.line}"


def _table(told: Outcome) -> Table:
    sides = [("recorded", told.recorded)]
    several = len(told.forks) > 1
    sides += [(f"fork {n + 1}" if several else "fork", side) for n, side in enumerate(told.forks)]
    rows = [
        [
            name, side.verdict or "none", side.status, str(side.model_calls), _known(side.acts),
            side.answer or "–",
        ]
        for name, side in sides
    ]  # fmt: skip
    return Table(
        f"{told.run}, task {told.task}: {told.changed} changed at event {told.event}",
        f"{told.replayed} of the model calls of a fork are the recorded ones.",
        ["Episode", "Verdict", "Status", "Calls", "Acts", "Answer"], rows,
        text_columns=3, wraps="Answer",
    )  # fmt: skip


def _known(count: int | None) -> str:
    return "–" if count is None else str(count)
