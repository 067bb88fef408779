"""`fieldmark power`: what a comparison could find, before it is paid for."""

from __future__ import annotations

import click

from fieldmark.counting import counted
from fieldmark.errors import UsageError

_SHARE = click.FloatRange(min=0, max=1, min_open=True, max_open=True)
_CORRELATION = click.FloatRange(min=0, max=1, max_open=True)


@click.command("power")
@click.option("--tasks", type=click.IntRange(min=1), required=True, help="Tasks that both runs will do.")
@click.option("--epochs", type=click.IntRange(min=1), default=1, help="Looks at each.  [default: 1]")
@click.option(
    "--baseline", type=_SHARE, default=0.25, help="Strict accuracy of the first run, 0-1.  [default: 0.25]"
)
@click.option(
    "--shared", type=_CORRELATION, default=0.5,
    help="How far two runs agree on a task, 0 by chance to 1 fully.  [default: 0.5, an assumption]",
)  # fmt: skip
@click.option(
    "--repeat", type=_CORRELATION, default=0.7,
    help="The same of two epochs of one run, at least --shared."
    "  [default: 0.7, an assumption]",
)  # fmt: skip
@click.option("--alpha", type=_SHARE, default=0.05, help="Level of the two-sided test.  [default: 0.05]")
@click.option("--power", type=_SHARE, default=0.8, help="Wanted probability to find it.  [default: 0.8]")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON (fractions are 0–1).")
def command(
    tasks: int, epochs: int, baseline: float, shared: float, repeat: float, alpha: float, power: float,
    as_json: bool,
) -> None:  # fmt: skip
    """Say how large an improvement must be for a paired comparison to find it.

    Tasks that ask for the same target count as one. docs/statistics.md has the formula.

    \b
    fieldmark power --tasks 311
    fieldmark power --tasks 43 --baseline 0.21 --epochs 5
    """
    from fieldmark.evals.comparison.power import detectable

    if repeat < shared:
        raise UsageError(
            f"--repeat {repeat:g} is less than --shared {shared:g}: a run agrees with itself at least as"
            " much as with another"
        )
    told = detectable(
        tasks, epochs=epochs, baseline=baseline, shared=shared, repeat=repeat, alpha=alpha, power=power
    )
    if as_json:
        click.echo(told.model_dump_json(indent=2))
        return
    grid = f"{counted(tasks, 'task')} × {counted(epochs, 'epoch')}, baseline {100 * baseline:g} %"
    chance = f"with probability {power:g} at level {alpha:g}, two-sided"
    if told.effect is None or told.flips is None:
        click.echo(f"{grid}: no improvement is found {chance}; take more tasks")
    else:
        click.echo(f"{grid}: an improvement of {100 * told.effect:.1f} points or more is found {chance}")
        reached, flips = 100 * (baseline + told.effect), told.flips * tasks
        click.echo(f"(to {reached:.1f} %; in an epoch {flips:.0f} tasks would flip)")
    click.echo(f"assumed agreement on a task, 0 by chance to 1: two runs {shared:g}, two epochs {repeat:g}")
