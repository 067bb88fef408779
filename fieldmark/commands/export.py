"""`fieldmark export`: what of a run may be published, proved to hold no gold."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fieldmark.errors import UsageError

SHOWN = 20


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--public", type=click.Path(path_type=Path), metavar="OUT", required=True,
    help="The new folder.",
)  # fmt: skip
@click.option(
    "--traces", is_flag=True, help="The traces too; pages in them often quote gold, which is refused."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(run: Path, public: Path, traces: bool, as_json: bool) -> int:
    """Copy what may be published of RUN to the folder OUT: ids, predictions, verdicts, aggregates.

    No question, label, picture, rationale or anything of private/. Every written line is searched for each
    reference answer, alias and evidence link; when one is there, the file and line are named, nothing is
    written, and the exit code is 1. results.csv is safe to open in Excel; the .jsonl files are the truth.

    \b
    fieldmark export runs/A --public published/A
    fieldmark export runs/A --public published/A-traces --traces
    """
    from fieldmark.exporting.public import export_public
    from fieldmark.rundir import RunDir

    if public.resolve().is_relative_to(run.resolve()):
        raise UsageError(f"--public {public} is inside the run: name a folder outside")
    exported = export_public(RunDir.open(run), public, traces=traces)
    if as_json:
        told = {**vars(exported), "found": [vars(each) for each in exported.found]}
        click.echo(json.dumps(told, ensure_ascii=False))
        return 1 if exported.found else 0
    if exported.found:
        for each in exported.found[:SHOWN]:
            click.echo(f"{each.file}:{each.line}: holds the {each.what}", err=True)
        shown = f", the first {SHOWN} shown" if len(exported.found) > SHOWN else ""
        click.echo(f"not exported: gold in {len(exported.found)} places{shown}", err=True)
        return 1
    short = f"; {exported.too_short} too short to search for" if exported.too_short else ""
    click.echo(
        f"{public}: {len(exported.files)} files; none of {exported.searched} answers, aliases and evidence "
        f"links is in them{short}"
    )
    return 0
