"""`fieldmark report`: the tables of one or more runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from fieldmark.errors import UsageError
from fieldmark.evals.metrics.summary import Summary, summarise
from fieldmark.rundir import RunDir
from fieldmark.study.folder import StudyDir


@click.command("report")
@click.argument("runs", metavar="RUN|STUDY...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page of all runs here."
)
@click.option(
    "--acts",
    type=click.Choice(["new", "all"]),
    default="new",
    help="new: calls that can bring news of the subject; all: skills, memory, to-do lists, sub-agents too."
    "  [default: new]",
)
@click.option(
    "--published", is_flag=True, help="Beside them the figures of the benchmark's paper, not paired."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (fractions are 0–1).")
def command(runs: tuple[Path, ...], html: Path | None, acts: str, published: bool, as_json: bool) -> None:
    """Print accuracy, statuses, tool use and runtime of runs, or compare the arms of a study.

    Also writes report.html into each run's or study's folder, or one page of all runs to --html FILE.

    \b
    fieldmark report runs/20261130-101500-react-scout
    fieldmark report runs/a runs/b --html compared.html
    fieldmark report runs/a --acts all
    fieldmark report runs/fika --published
    fieldmark report runs/a --json | jq .runs[0].accuracy.rows
    fieldmark report runs/my-study
    """
    if studies := [path for path in runs if StudyDir(path).begun]:
        if len(runs) > 1:
            raise UsageError(f"{studies[0]} is a study: report it by itself")
        if published:
            raise UsageError("--published is for runs: name a run in the study")
        return show_study(StudyDir.open(studies[0]), html=html, as_json=as_json, every_call=acts == "all")
    folders = [RunDir.open(path) for path in runs]
    return show(folders, html=html, as_json=as_json, every_call=acts == "all", published=published)


def show(
    folders: list[RunDir],
    *,
    html: Path | None = None,
    as_json: bool = False,
    every_call: bool = False,
    published: bool = False,
) -> None:
    """Print the report of each run, compare their headlines when there are several, and write the HTML.

    `published`: with the paper's figures, first of all on a page. UsageError: a run over another benchmark.
    """
    from fieldmark.evals.comparison.papers import beside_paper
    from fieldmark.evals.metrics.failures import pooled
    from fieldmark.evals.metrics.persons import baseline
    from fieldmark.evals.report.figures import headline
    from fieldmark.evals.report.html import write_html
    from fieldmark.evals.report.persons_table import persons_table
    from fieldmark.evals.report.published_table import published_table
    from fieldmark.evals.report.runs_tables import beside_each_other
    from fieldmark.evals.report.terminal import print_tables
    from fieldmark.evals.report.thumbnails import Thumbnails
    from fieldmark.facts import facts_of_run
    from fieldmark.leaks import leaks_of

    paper = beside_paper(folders) if published else None
    summaries = [
        summarise(folder, leaks_of(folder), facts_of_run(folder), every_call=every_call) for folder in folders
    ]
    persons = baseline(folders) if len(folders) > 1 else None
    if as_json:
        told: dict[str, Any] = {"runs": [summary.model_dump(mode="json") for summary in summaries]}
        told |= {"published": paper.model_dump(mode="json")} if paper else {}
        if len(summaries) > 1:
            rows = pooled([summary.failures for summary in summaries])
            told["failures_pooled"] = [row.model_dump(mode="json") for row in rows]
            told |= {"persons": persons.model_dump(mode="json")} if persons else {}
        click.echo(json.dumps(told, ensure_ascii=True, indent=2, allow_nan=False))
    else:
        _print(summaries)
        print_tables([persons_table(persons)] if persons else [])
    if paper and not as_json:
        print_tables([published_table(paper)])
    pages = {html: folders} if html else {folder.report_html: [folder] for folder in folders}
    for path, shown in pages.items():
        found = [summary for folder, summary in zip(folders, summaries, strict=True) if folder in shown]
        several, plots = beside_each_other(shown, found)
        compared = [*several, *([published_table(beside_paper(shown))] if paper else [])]
        write_html(found, path, compared, plots, Thumbnails(shown))
        if not as_json:
            click.echo(f"report: {path}")
    if not as_json:
        for summary in summaries:  # once more where the eye is when the tables have scrolled by
            click.echo(headline(summary))


def show_study(
    study: StudyDir, *, html: Path | None = None, as_json: bool = False, every_call: bool = False
) -> None:
    """Print the comparison of a study's arms, and write it with the tables of each run as one page."""
    from fieldmark.evals.comparison.study import study_comparison
    from fieldmark.evals.report.figures import headline
    from fieldmark.evals.report.html import write_html
    from fieldmark.evals.report.study_tables import study_plots, study_tables
    from fieldmark.evals.report.terminal import print_tables
    from fieldmark.evals.report.thumbnails import Thumbnails
    from fieldmark.facts import facts_of_run
    from fieldmark.leaks import leaks_of

    made = study_comparison(study)
    folders = [folder for _, folder in study.begun_runs()]
    summaries = [
        summarise(folder, leaks_of(folder), facts_of_run(folder), every_call=every_call) for folder in folders
    ]
    path = html or study.report_html
    write_html(summaries, path, study_tables(made), study_plots(made), Thumbnails(folders))
    if as_json:
        runs = [summary.model_dump(mode="json") for summary in summaries]
        told = {"study": made.model_dump(mode="json"), "runs": runs}
        click.echo(json.dumps(told, ensure_ascii=True, indent=2, allow_nan=False))
        return
    print_tables(study_tables(made))
    click.echo(f"report: {path}")
    for summary in summaries:
        click.echo(f"{summary.run.name}: {headline(summary)}")


def _print(summaries: list[Summary]) -> None:
    from fieldmark.evals.report.terminal import print_comparison, print_report

    for summary in summaries:
        print_report(summary)
    if len(summaries) > 1:
        print_comparison(summaries)
