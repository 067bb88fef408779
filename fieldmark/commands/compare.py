"""`fieldmark compare`: runs over the same tasks, pair by pair."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fieldmark.evals.report.table import Table
from fieldmark.rundir import RunDir
from fieldmark.study.folder import StudyDir


@click.command("compare")
@click.argument("runs", metavar="RUN RUN...|STUDY", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--all-pairs", is_flag=True, help="Each run with each.  [default: each later one with the first]"
)
@click.option(
    "--published", is_flag=True, help="Beside them the figures of the benchmark's paper, not paired."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the bootstrap.  [default: 0]")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of it and all runs here."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (fractions are 0–1).")
def command(
    runs: tuple[Path, ...], all_pairs: bool, published: bool, seed: int, html: Path | None, as_json: bool
) -> None:
    """Compare each later run with the first, over the tasks that both have done.

    First what the runs were made with that differs; then the paired table, the difference with its interval,
    McNemar's test, and the tasks that flipped. docs/statistics.md says how to read it.

    \b
    fieldmark compare runs/closed-book runs/react
    fieldmark compare runs/A runs/B runs/C --all-pairs --html compared.html
    fieldmark compare runs/A runs/B --json | jq '.versus[].paired.gained'
    fieldmark compare runs/my-study     # its arms, each over all its orders
    """
    from fieldmark.evals.comparison.comparison import comparison
    from fieldmark.evals.comparison.papers import beside_paper
    from fieldmark.evals.comparison.study import study_comparison
    from fieldmark.evals.metrics.persons import baseline
    from fieldmark.evals.report.comparison_tables import comparison_tables
    from fieldmark.evals.report.persons_table import persons_table
    from fieldmark.evals.report.published_table import published_table
    from fieldmark.evals.report.terminal import print_tables

    if len(runs) == 1 and StudyDir(runs[0]).begun:
        study = StudyDir.open(runs[0])
        folders = [run for _, run in study.begun_runs()]
        made = study_comparison(study, seed=seed, all_pairs=all_pairs).comparison
    else:
        folders = [RunDir.open(path) for path in runs]
        made = comparison(folders, seed=seed, all_pairs=all_pairs)
    paper = beside_paper(folders) if published else None
    persons = baseline(folders)
    tables = [*comparison_tables(made), *([persons_table(persons)] if persons else [])]
    tables += [published_table(paper)] if paper else []
    if as_json:
        told = made.model_dump(mode="json")
        if paper:
            told["published"] = paper.model_dump(mode="json")
        if persons:
            told["persons"] = persons.model_dump(mode="json")
        click.echo(json.dumps(told, ensure_ascii=True, indent=2, allow_nan=False))
    else:
        print_tables(tables)
    if html:
        _write(html, folders, tables)
        click.echo(f"page: {html}", err=as_json)


def _write(path: Path, folders: list[RunDir], tables: list[Table]) -> None:
    from fieldmark.evals.metrics.summary import summarise
    from fieldmark.evals.report.html import write_html
    from fieldmark.evals.report.thumbnails import Thumbnails
    from fieldmark.facts import facts_of_run
    from fieldmark.leaks import leaks_of

    summaries = [summarise(folder, leaks_of(folder), facts_of_run(folder)) for folder in folders]
    write_html(summaries, path, tables, thumbnails=Thumbnails(folders))
