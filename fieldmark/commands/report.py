"""`fieldmark report`: the tables of one or more runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fieldmark.evals.metrics.summary import Summary, summarise
from fieldmark.rundir import RunDir


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page of all runs here."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (fractions are 0–1).")
def command(runs: tuple[Path, ...], html: Path | None, as_json: bool) -> None:
    """Print accuracy, statuses, tool use and runtime of one or more runs.

    Also writes report.html into each run folder, or one page of all runs to --html FILE.

    \b
    fieldmark report runs/20261130-101500-react-scout
    fieldmark report runs/a runs/b --html compared.html
    fieldmark report runs/a --json | jq .runs[0].accuracy.rows
    """
    show([RunDir.open(path) for path in runs], html=html, as_json=as_json)


def show(folders: list[RunDir], *, html: Path | None = None, as_json: bool = False) -> None:
    """Print the report of each run, compare their headlines when there are several, and write the HTML."""
    from fieldmark.evals.metrics.failures import pooled
    from fieldmark.evals.report.figures import headline
    from fieldmark.evals.report.html import write_html
    from fieldmark.leaks import leaks_of

    summaries = [summarise(folder, leaks_of(folder)) for folder in folders]
    if as_json:
        told: dict[str, object] = {"runs": [summary.model_dump(mode="json") for summary in summaries]}
        if len(summaries) > 1:
            rows = pooled([summary.failures for summary in summaries])
            told["failures_pooled"] = [row.model_dump(mode="json") for row in rows]
        click.echo(json.dumps(told, ensure_ascii=True, indent=2, allow_nan=False))
    else:
        _print(summaries)
    own = {folder.report_html: [summary] for folder, summary in zip(folders, summaries, strict=True)}
    for path, shown in ({html: summaries} if html else own).items():
        write_html(shown, path)
        if not as_json:
            click.echo(f"report: {path}")
    if not as_json:
        for summary in summaries:  # once more where the eye is when the tables have scrolled by
            click.echo(headline(summary))


def _print(summaries: list[Summary]) -> None:
    from fieldmark.evals.report.terminal import print_comparison, print_report

    for summary in summaries:
        print_report(summary)
    if len(summaries) > 1:
        print_comparison(summaries)
