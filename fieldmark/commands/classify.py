"""`fieldmark classify`: why each answer that is not correct was wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldmark.classifying import Classified


@click.command("classify")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--no-llm", is_flag=True, help="Facts alone; says what they left open.")
@click.option(
    "--hierarchy", type=click.Path(path_type=Path), metavar="TSV",
    help="Names and their parents: columns name, parent, rank, aliases (docs/taxonomy.md).",
)  # fmt: skip
@click.option("--anew", is_flag=True, help="Ask the model again, also of what it has classified already.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
def command(runs: tuple[Path, ...], no_llm: bool, hierarchy: Path | None, anew: bool, as_json: bool) -> int:
    """Classify every answer of each RUN that is not correct, and write failures.jsonl.

    Facts of the trace decide first. Calling it again changes nothing, unless a verdict changed meanwhile.

    \b
    fieldmark classify runs/a --no-llm
    fieldmark classify runs/a runs/b --no-llm --hierarchy birds.tsv
    """
    from fieldmark.classifying import classify_run
    from fieldmark.rundir import RunDir

    for folder in [RunDir.open(run) for run in runs]:
        done = classify_run(
            folder, hierarchy=hierarchy, anew=anew, say=lambda line: click.echo(line, err=True)
        )
        click.echo(json.dumps(done.model_dump(), ensure_ascii=False) if as_json else _told(done))
    return 0


def _told(done: Classified) -> str:
    left = sum(done.open.values())
    lines = [
        f"{done.run}: {done.wrong} answers are not correct: {done.by_facts} classified by facts,"
        f" {done.by_model} by a model, {left} left open; {done.written} rows written"
    ]
    lines += [f"  {label:24}{n:5}" for label, n in sorted(done.labels.items(), key=lambda row: -row[1])]
    lines += [f"  open: {why:18}{n:5}" for why, n in sorted(done.open.items(), key=lambda row: -row[1])]
    return "\n".join(lines)
