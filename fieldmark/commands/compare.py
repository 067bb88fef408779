"""`fieldmark compare`: runs over the same tasks, pair by pair."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fieldmark.evals.report.table import Table
from fieldmark.rundir import RunDir


@click.command("compare")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the bootstrap.  [default: 0]")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of it and all runs here."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (fractions are 0–1).")
def command(runs: tuple[Path, ...], seed: int, html: Path | None, as_json: bool) -> None:
    """Compare each later run with the first, over the tasks that both have done.

    First what the runs were made with that differs; then the paired table, the difference with its interval,
    McNemar's test, and the tasks that flipped. docs/statistics.md says how to read it.

    \b
    fieldmark compare runs/closed-book runs/react
    fieldmark compare runs/A runs/B runs/C --html compared.html
    fieldmark compare runs/A runs/B --json | jq '.versus[].paired.gained'
    """
    from fieldmark.evals.comparison.comparison import comparison
    from fieldmark.evals.report.comparison_tables import comparison_tables
    from fieldmark.evals.report.terminal import print_tables

    folders = [RunDir.open(path) for path in runs]
    made = comparison(folders, seed=seed)
    if as_json:
        told = made.model_dump(mode="json")
        click.echo(json.dumps(told, ensure_ascii=True, indent=2, allow_nan=False))
    else:
        print_tables(comparison_tables(made))
    if html:
        _write(html, folders, comparison_tables(made))
        click.echo(f"page: {html}", err=as_json)


def _write(path: Path, folders: list[RunDir], tables: list[Table]) -> None:
    from fieldmark.evals.metrics.summary import summarise
    from fieldmark.evals.report.html import write_html
    from fieldmark.facts import facts_of_run
    from fieldmark.leaks import leaks_of

    summaries = [summarise(folder, leaks_of(folder), facts_of_run(folder)) for folder in folders]
    write_html(summaries, path, tables)
