"""`fieldmark export`: a run for other programs, and what of it may be published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.counting import counted
from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from fieldmark.exporting.proof import Found

SHOWN = 20
CHOICES = ("--public", "--parquet", "--csv", "--atif", "--inspect", "--otel", "--hf", "--trajectories")
_OUT = click.Path(path_type=Path)


@click.command("export")
@click.argument("run", type=_OUT)
@click.option("--public", type=_OUT, metavar="DIR", help="What may be published, proved to hold no gold.")
@click.option("--parquet", type=_OUT, metavar="DIR", help="The tables of docs/sql.md as Parquet files.")
@click.option("--csv", type=_OUT, metavar="DIR", help="The same as CSV files, safe to open in Excel.")
@click.option("--atif", type=_OUT, metavar="DIR", help="A trajectory an episode, in Harbor's ATIF.")
@click.option("--inspect", type=_OUT, metavar="FILE.eval", help="A log that `inspect view` opens.")
@click.option("--otel", type=_OUT, metavar="FILE", help="OpenTelemetry's GenAI spans, as lines of OTLP JSON.")
@click.option(
    "--hf", type=_OUT, metavar="DIR", help="A dataset folder of Hugging Face, proved as --public is."
)
@click.option("--trajectories", type=_OUT, metavar="FILE", help="Games of AMIGO, a step a line; has gold.")
@click.option("--pictures", is_flag=True, help="With --hf: question, labels and picture too.")
@click.option("--private", is_flag=True, help="Gold too, and what only gold could tell; not with --public.")
@click.option(
    "--traces",
    is_flag=True,
    help="With --public: traces too; pages in them often quote gold, which is refused.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    run: Path, public: Path | None, parquet: Path | None, csv: Path | None, atif: Path | None,
    inspect: Path | None, otel: Path | None, hf: Path | None, trajectories: Path | None, pictures: bool,
    private: bool, traces: bool, as_json: bool,
) -> int:  # fmt: skip
    """Write RUN for another program, or what of it may be published: one choice at a time.

    --public: ids, predictions, verdicts, aggregates; no question, label, picture, rationale or anything of
    private/. Every written line is searched for each reference answer, alias and evidence link; when one is
    there, the file and line are named, nothing is written, and the exit code is 1.

    --hf: the same rules and proof, one row an episode; --pictures adds question, labels and picture, which
    may be yours to publish or not.

    The other exports are for your own use, not for publishing: they hold questions, pictures and what traces
    hold, pages included, and no gold unless you say --private. --parquet and --csv take a study, too.

    \b
    fieldmark export runs/A --public published/A
    fieldmark export runs/A --parquet tables/A
    fieldmark export runs/A --inspect logs/A.eval
    fieldmark export runs/A --hf datasets/A
    fieldmark export runs/A --trajectories games.jsonl --private
    """
    chosen = dict(zip(CHOICES, (public, parquet, csv, atif, inspect, otel, hf, trajectories), strict=True))
    given = [(name, out) for name, out in chosen.items() if out is not None]
    if len(given) != 1:
        told = "give one of them" if given else "say what to write"
        raise UsageError(
            f"export: {told}: {', '.join(CHOICES)}; `fieldmark export --help` says what they are"
        )
    name, out = given[0]
    if out.resolve().is_relative_to(run.resolve()):
        raise UsageError(f"{name} {out} is inside the run: name a place outside")
    if name == "--public":
        if private:
            raise UsageError("--public and --private: what is published holds no gold; leave one out")
        return _public(run, out, traces=traces, as_json=as_json)
    if pictures and name != "--hf":
        raise UsageError("--pictures is for --hf")
    if traces:
        raise UsageError("--traces is for --public: the other exports say what traces hold anyway")
    if name == "--hf":
        return _hugging_face(run, out, pictures=pictures, private=private, as_json=as_json)
    wrote = _written(name, run, out, private=private)
    if as_json:
        click.echo(json.dumps({"out": str(out), "wrote": wrote, "private": private}))
    else:
        gold = (
            "with gold: keep it to yourself" if private else "no gold, and not proved so: not to be published"
        )
        click.echo(f"{out}: {', '.join(f'{count} {what}' for what, count in wrote.items())}; {gold}")
    return 0


def _written(name: str, run: Path, out: Path, *, private: bool) -> dict[str, int]:
    """Write it; what it is, and how many of it."""
    from fieldmark.evals.frames import load
    from fieldmark.exporting.atif import export_atif
    from fieldmark.exporting.games import export_games
    from fieldmark.exporting.inspect_log import export_inspect
    from fieldmark.exporting.otel import export_otel
    from fieldmark.exporting.tables import export_csv, export_parquet
    from fieldmark.rundir import RunDir

    if name == "--parquet":
        return export_parquet(load(run), out, private=private)
    if name == "--csv":
        return export_csv(load(run), out, private=private)
    if name == "--otel":
        return export_otel(RunDir.open(run), out, private=private)
    if name == "--trajectories":
        return {"steps": export_games(RunDir.open(run), out, private=private)}
    if name == "--atif":
        return {"trajectories": export_atif(RunDir.open(run), out, private=private)}
    return {"samples": export_inspect(RunDir.open(run), out, private=private)}


def _public(run: Path, public: Path, *, traces: bool, as_json: bool) -> int:
    from fieldmark.exporting.public import export_public
    from fieldmark.rundir import RunDir

    exported = export_public(RunDir.open(run), public, traces=traces)
    if as_json:
        told = {**vars(exported), "found": [vars(each) for each in exported.found]}
        click.echo(json.dumps(told, ensure_ascii=False))
        return 1 if exported.found else 0
    if exported.found:
        return _refused(exported.found)
    short = f"; {exported.too_short} too short to search for" if exported.too_short else ""
    click.echo(
        f"{public}: {counted(len(exported.files), 'file')}; none of {exported.searched:,} answers, aliases "
        f"and evidence links is in them{short}"
    )
    return 0


def _hugging_face(run: Path, out: Path, *, pictures: bool, private: bool, as_json: bool) -> int:
    from fieldmark.exporting.hugging_face import export_hugging_face
    from fieldmark.rundir import RunDir

    wrote = export_hugging_face(RunDir.open(run), out, pictures=pictures, private=private)
    if as_json:
        told = {**vars(wrote), "found": [vars(each) for each in wrote.found], "private": private}
        click.echo(json.dumps({"out": str(out), **told}, ensure_ascii=False))
        return 1 if wrote.found else 0
    if wrote.found:
        return _refused(wrote.found)
    proof = f"none of {wrote.searched} answers, aliases and evidence links is in them"
    click.echo(f"{out}: {wrote.rows} rows; {'with gold: keep it to yourself' if private else proof}")
    return 0


def _refused(found: list[Found]) -> int:
    """Says where gold was found, and that nothing was written."""
    for each in found[:SHOWN]:
        click.echo(f"{each.file}:{each.line}: holds the {each.what}", err=True)
    shown = f", the first {SHOWN} shown" if len(found) > SHOWN else ""
    click.echo(f"not exported: gold in {counted(len(found), 'place')}{shown}", err=True)
    return 1
