"""What a step decided, in lines for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldmark.evals.curation.deciding import Told

SHOWN = 20
"""Lines of one kind."""


def say_told(told: Told) -> None:
    """The counts of a step, and what of it was otherwise before."""
    kept, dropped, left = (told.counts[key] for key in ("keep", "drop", "open"))
    new = f"{told.new} decided for the first time"
    click.echo(f"{told.step}: {kept} kept, {dropped} dropped, {left} open; {new}")
    say_some([f"flipped: {one} {was} → {now}: {why}" for one, was, now, why in told.flips])


def say_some(lines: Sequence[str]) -> None:
    """The first of them, and how many more there are."""
    for line in lines[:SHOWN]:
        click.echo(line)
    if len(lines) > SHOWN:
        click.echo(f"… and {len(lines) - SHOWN} more like it")


def say_aside(line: str) -> None:
    """Progress, beside what a command prints."""
    click.echo(line, err=True)
