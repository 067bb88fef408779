"""`fieldmark registry`: one SQLite file from the registries you fetched, and look-ups in it."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.counting import counted

if TYPE_CHECKING:
    from fieldmark.tools.aircraft.importing import Imported

_FORMATS = ("faa", "opensky", "tar1090", "fieldmark")


@click.group("registry")
def command() -> None:
    """Import aircraft registries into one file, and look aircraft up. None is shipped: docs/registry.md.

    \b
    fieldmark registry import ReleasableAircraft.zip aircraft.csv.gz --out aircraft.sqlite
    fieldmark registry lookup N8710M --registry aircraft.sqlite
    """


@command.command("import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The SQLite file."
)
@click.option("--format", "form", type=click.Choice(_FORMATS), help="[default: told by the header]")
@click.option("--source", "name", help="What to call the source.  [default: the format, or the file's name]")
@click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of the data.  [default: the file's]")
@click.option("--json", "as_json", is_flag=True, help="A list of what came of each source.")
def import_(
    sources: tuple[Path, ...],
    out: Path,
    form: str | None,
    name: str | None,
    date: datetime.datetime | None,
    as_json: bool,
) -> None:
    """Add SOURCES (files, zips or folders) to the registry --out; a source imported again is replaced.

    Bad rows are counted and the first ones shown; they stop nothing.

    \b
    fieldmark registry import ReleasableAircraft.zip --out aircraft.sqlite
    fieldmark registry import my-fleet.csv --source "My fleet" --date 2026-05-01 --out aircraft.sqlite
    """
    from fieldmark.tools.aircraft.importing import import_sources

    day = date.date().isoformat() if date else None
    done = import_sources(sources, out, form=form, name=name, date=day)
    if as_json:
        click.echo(json.dumps([asdict(item) for item in done], ensure_ascii=False))
        return
    for item in done:
        _tell(item)


@command.command("lookup")
@click.argument("query")
@click.option(
    "--registry",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An imported SQLite file, or a CSV.  [default: the bundled sample of 13 aircraft]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def lookup(query: str, registry: Path | None, as_json: bool) -> None:
    """Look QUERY up: a registration, a 24-bit address or a serial number; `serial:28432` says which.

    \b
    fieldmark registry lookup N8710M
    fieldmark registry lookup icao24:3c65a1 --registry aircraft.sqlite --json
    """
    from fieldmark.tools.aircraft_registry import describe

    reply = _lookup(query, registry)
    click.echo(json.dumps(reply, ensure_ascii=False) if as_json else describe(query, reply))


def _lookup(query: str, registry: Path | None) -> dict[str, Any]:
    from fieldmark.tools.aircraft.db import AircraftDb

    if registry is not None:
        return AircraftDb.open(registry).lookup(query)
    click.echo("(no --registry FILE: only the bundled sample is searched)", err=True)
    with as_file(files("fieldmark.evals.benchmarks.fieldmark_mini") / "registry.csv") as path:
        return AircraftDb.open(path).lookup(query)


def _tell(item: Imported) -> None:
    click.echo(
        f"{item.name}: {counted(item.records, 'record')} of {item.date} from {item.file} ({item.format}, "
        f"{item.seconds:.1f} s)"
    )
    if item.empty:
        click.echo(f"  left out, since nothing is said of the aircraft: {counted(item.empty, 'row')}")
    if item.bad:
        first = "; ".join(item.examples)
        click.echo(f"  {item.bad:,} bad rows left out, the first: {first}", err=True)
