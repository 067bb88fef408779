"""`fieldmark curate attributes`: pictures get attribute labels by the vote of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.counting import counted

if TYPE_CHECKING:
    from fieldmark.curating.attributing import Labelled
    from fieldmark.evals.curation.attributes.state import State

SHOWN = 20
"""Pictures that cannot be used which are named one by one."""


@click.command("attributes")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("place", type=click.Path(path_type=Path), required=False)
@click.option(
    "--parallel", type=click.IntRange(1, 256), default=8, show_default=True, help="Requests at once."
)
def attributes(folder: Path, place: Path | None, parallel: int) -> int:
    """Label pictures with attributes by a weighted vote of models, and make AMIGO episodes of them.

    Without an attributes.toml in FOLDER one is written to edit. PLACE is a folder of pictures, a CSV file
    with the column image, or a curation; without it what was taken in before is gone on with. No reply is
    asked for twice, whatever stops the command. Exit code 1 when a picture cannot be used, or a request was
    refused. docs/attributes.md says how the vote is counted.

    \b
    fieldmark curate attributes my-garments
    fieldmark curate attributes my-garments photos/
    fieldmark run --benchmark amigo --data my-garments --model …
    """
    from fieldmark.curating.attributing import label_all
    from fieldmark.errors import UsageError
    from fieldmark.evals.curation.attributes.settings import FILE, read_settings, template
    from fieldmark.evals.curation.attributes.state import State

    file = folder / FILE
    if not file.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(template(), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror}: name another folder") from None
        click.echo(f"{file}: say there which attributes and which models, and call again with the pictures")
        return 0
    settings = read_settings(file)
    with State(folder) as state:
        broken = _take_in(folder, state, place) if place else 0
        if not state.pictures():
            raise UsageError(
                f"{folder} has no pictures yet: name a folder, a CSV file or a curation after it"
            )
        told = label_all(folder, state, settings, parallel, lambda line: click.echo(line, err=True))
    _say(folder, told)
    return 1 if broken or told.refused else 0


def _take_in(folder: Path, state: State, place: Path) -> int:
    from fieldmark.evals.curation.attributes.taking import take_in

    taken = take_in(folder, state, place)
    for origin, why in taken.problems[:SHOWN]:
        click.echo(f"cannot be used: {origin}: {why}", err=True)
    click.echo(
        f"{counted(taken.read, 'picture')} read, {taken.new} new, {len(taken.problems)} cannot be used"
    )
    return len(taken.problems)


def _say(folder: Path, told: Labelled) -> None:
    click.echo(
        f"{'type':16}{'label':>8}{'doubt':>8}{'conflict':>10}{'no value':>10}{'α':>8}  person and vote"
    )
    for name, each in told.counts.items():
        alpha = "-" if each.alpha is None else f"{each.alpha:.2f}"
        found = told.audited.get(name)
        kappa = f", κ {found.kappa:.2f}" if found and found.kappa is not None else ""
        person = f"{found.raw.count:g} of {found.n} the same{kappa}" if found else "-"
        counts = f"{each.clear:>8}{each.doubt:>8}{each.conflict:>10}{each.no_value:>10}"
        click.echo(f"{name:16}{counts}{alpha:>8}  {person}")
    for model, used in told.spent.items():
        usd = "cost unknown" if used.usd is None else f"{used.usd:.4f} USD"
        click.echo(
            f"{model}: {used.replies} replies, {used.input} tokens in, {used.output} out, {usd}"
            + (f"; {used.without_usage} without usage" if used.without_usage else "")
        )
    if told.refused:
        click.echo(f"{counted(told.refused, 'request')} without a reply: the same command asks again")
    made = ", ".join(f"{count} at τ {tau:g}" for tau, count in told.episodes.items())
    click.echo(f"{folder}: {counted(told.pictures, 'picture')}; episodes: {made}")
    if not told.audited:
        click.echo(f"{folder}/audit.csv: a person fills in the column person; the same command compares")
