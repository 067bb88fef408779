"""`fieldmark data`: what is in a benchmark, before anything is spent on it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.run_options import pairs

if TYPE_CHECKING:
    from fieldmark.evals.benchmarks.checking import Checked


@click.group("data")
def command() -> None:
    """Look at the data of a benchmark before a run.

    \b
    fieldmark data check --benchmark fika --data fika-bench-testset.zip
    """


@command.command("check")
@click.option("--benchmark", help="As in `fieldmark run`.  [default: fika with --data, else fieldmark-mini]")
@click.option("--data", type=click.Path(path_type=Path), help="The zip, its folder or manifest.")
@click.option("--map", "said", multiple=True, callback=pairs, metavar="FIELD=KEY", help="As in run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(benchmark: str | None, data: Path | None, said: dict[str, str] | None, as_json: bool) -> int:
    """Count tasks by split, category and language; open every picture; find doubles. No gold is printed.

    Exit code 1 when a picture is missing or cannot be used, or two tasks have the same picture and question.

    \b
    fieldmark data check --data fika-bench-testset.zip
    fieldmark data check --benchmark fika --data my.jsonl --map question=ask --json
    fieldmark data check --benchmark pix2fact --data Pix2Fact_1k.csv
    fieldmark data check --benchmark my/tasks.jsonl
    """
    from fieldmark.evals.benchmarks.checking import check as check_benchmark
    from fieldmark.evals.benchmarks.loading import load_benchmark

    name = benchmark or ("fika" if data else "fieldmark-mini")
    checked = check_benchmark(load_benchmark(name, data, said))
    if as_json:
        click.echo(json.dumps({**asdict(checked), "sound": checked.sound}, ensure_ascii=False))
    else:
        _print(checked)
    return 0 if checked.sound else 1


def _print(checked: Checked) -> None:
    click.echo(f"{checked.name} {checked.version}: {checked.tasks} tasks")
    if checked.data:
        mapping = ", ".join(f"{field}={key}" for field, key in checked.data["mapping"].items())
        click.echo(f"data: {checked.data['name']} sha256 {checked.data['sha256']}")
        click.echo(f".sha256 file: {checked.data['sha256_file']}; pictures: {checked.data['pictures']}/")
        click.echo(f"read as: {mapping}; unused keys: {', '.join(checked.data['unused_keys']) or 'none'}")
    for row in checked.counts:
        click.echo(f"{row.tasks:6}  {row.split} · {row.top} · {row.language}")
    extent = checked.extent
    click.echo(
        f"{extent.top} top and {extent.mid} mid categories, {extent.targets} targets, {extent.aliases}"
        f" aliases; {extent.evidence_links} evidence links on {extent.evidence_domains} domains, "
        f"{extent.without_evidence} tasks without one"
    )
    if checked.longer_sides:
        least, middle, most = checked.longer_sides
        click.echo(f"longer side of the pictures: {least} to {most} px, median {middle:g}")
    for ids in checked.same_picture:
        click.echo(f"the same picture: {', '.join(ids)}")
    for line in checked.warnings:
        click.echo(f"warning: {line}")
    for task_id, why in checked.unusable.items():
        click.echo(f"WRONG  {task_id}: {why}")
    for ids in checked.doubles:
        click.echo(f"WRONG  the same picture and question: {', '.join(ids)}")
    click.echo("sound" if checked.sound else f"{len(checked.unusable) + len(checked.doubles)} wrong")
