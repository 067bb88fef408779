"""`fieldmark curate`: from candidates to a frozen benchmark, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.counting import counted
from fieldmark.curating.attributes_command import attributes
from fieldmark.curating.commands import audit, evidence, leakage
from fieldmark.evals.curation.sources.reading import LAYOUTS

if TYPE_CHECKING:
    from fieldmark.curating.asking import How
    from fieldmark.evals.curation.deciding import Told
    from fieldmark.evals.curation.project import Project

SHOWN = 20
"""Flips and broken pictures that are named one by one."""
_FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))


def _asking(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what asks models."""
    function = click.option("--probe/--no-probe", default=True, help="Try first whether the model sees.")(
        function
    )
    return click.option("--parallel", type=click.IntRange(1, 256), help="Pictures at once, as in run.")(
        function
    )


@click.group("curate")
def command() -> None:
    """Make the next benchmark: screen candidates, keep what models do not know, freeze what is left.

    A curation is a folder with curate.toml and a SQLite file. Every step can be stopped and called again;
    what stands is not decided anew. What is in doubt does not enter. docs/curate.md: the whole sequence.

    \b
    fieldmark curate new my-set
    fieldmark curate import my-set photos/ --licence CC0-1.0
    fieldmark curate screen first my-set && fieldmark curate screen hard my-set
    fieldmark curate leakage my-set --index web-pictures/
    fieldmark curate audit my-set --annotator ann
    fieldmark curate evidence my-set --urls evidence.csv
    fieldmark curate status my-set
    fieldmark curate attributes my-garments photos/
    """


for step in (leakage, audit, evidence, attributes):
    command.add_command(step)


@command.command("new")
@_FOLDER
def new(folder: Path) -> None:
    """Begin a curation: a folder with a curate.toml to edit. One that is there stays as it is.

    \b
    fieldmark curate new my-set
    """
    from fieldmark.evals.curation.project import Project

    Project.create(folder).close()
    click.echo(f"{folder}/curate.toml: say there which models are asked, and the licence of the release")


@command.command("import")
@_FOLDER
@click.argument("place", type=click.Path(path_type=Path), required=False)
@click.option(
    "--layout", type=click.Choice(sorted(LAYOUTS)), help="The source dataset that PLACE is, as distributed."
)
@click.option("--source", help="How the dataset is called.  [default: the layout, else the name of PLACE]")
@click.option("--licence", default="", help="Of pictures whose source names none; one without is dropped.")
def import_(folder: Path, place: Path | None, layout: str | None, source: str | None, licence: str) -> int:
    """Take candidates in: folders named by class, a CSV, JSONL or Parquet file, a Hugging Face folder.

    Copies are merged. Without a PLACE, what is there is decided again by the settings of now. Exit code 1
    when a picture cannot be used.

    \b
    fieldmark curate import my-set photos/ --licence CC-BY-4.0
    fieldmark curate import my-set fgvc-aircraft-2013b/ --layout fgvc-aircraft
    fieldmark curate import my-set rows.parquet --source minerals --licence CC0-1.0
    """
    from fieldmark.evals.curation.importing import decide_import

    with _open(folder) as project:
        broken = _take_in(project, place, layout, source, licence) if place else 0
        _say_told(decide_import(project))
    return 1 if broken else 0


def _take_in(project: Project, place: Path, layout: str | None, source: str | None, licence: str) -> int:
    """Read a place and say what came of it; how many of its pictures cannot be used."""
    from fieldmark.evals.curation.importing import import_all
    from fieldmark.evals.curation.sources.reading import read

    name = source or layout or place.resolve().stem
    told = import_all(project, name, read(place, layout, licence), _progress)
    for origin, why in told.problems[:SHOWN]:
        click.echo(f"cannot be used: {origin}: {why}", err=True)
    if len(told.problems) > SHOWN:
        click.echo(f"… and {len(told.problems) - SHOWN} more that cannot be used", err=True)
    click.echo(
        f"{counted(told.read, 'picture')} read: {told.added} new, {told.merged} exact copies, {told.known}"
        f" known before, {len(told.problems)} cannot be used"
    )
    return len(told.problems)


@command.command("status")
@_FOLDER
@click.option("--json", "as_json", is_flag=True, help="One JSON list.")
def status(folder: Path, as_json: bool) -> None:
    """The funnel: what each step got, kept, dropped and left open.

    \b
    fieldmark curate status my-set
    """
    with _open(folder) as project:
        rows = project.funnel()
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows]))
        return
    click.echo(f"{'step':14}{'reached':>9}{'keep':>8}{'drop':>8}{'open':>8}{'classes':>9}")
    for row in rows:
        click.echo(
            f"{row.step:14}{row.reached:>9,}{row.keep:>8,}{row.drop:>8,}{row.open:>8,}{row.classes:>9,}"
        )


@command.command("show")
@_FOLDER
@click.argument("candidate")
def show(folder: Path, candidate: str) -> None:
    """Every decision on one candidate: who, when, what and why.

    \b
    fieldmark curate show my-set 3f1c9a0b7d5e2468
    """
    with _open(folder) as project:
        one = project.candidate(candidate)
        click.echo(f"{one.id}  {one.label}  ({one.source}, {one.licence})  {project.picture(one)}")
        for each in project.history(candidate):
            click.echo(f"{each.when}  {each.step:13} {each.verdict:5} by {each.who}: {each.why}")


@command.group("screen")
def screen() -> None:
    """Ask models closed book, and keep what they do not know.

    \b
    fieldmark curate screen first my-set
    fieldmark curate screen hard my-set --parallel 8
    """


@screen.command("first")
@_FOLDER
@_asking
def screen_first(folder: Path, parallel: int | None, probe: bool) -> None:
    """One model over a sample of each class: classes that it knows go, the others stay whole.

    \b
    fieldmark curate screen first my-set
    """
    from fieldmark.curating.screening import screen_first as first

    with _open(folder) as project:
        _say_told(first(project, _how(parallel, probe), _say))


@screen.command("hard")
@_FOLDER
@_asking
def screen_hard(folder: Path, parallel: int | None, probe: bool) -> None:
    """Several models over what is left: the wrong samples of the classes that they do not know stay.

    \b
    fieldmark curate screen hard my-set
    """
    from fieldmark.curating.screening import screen_hard as hard

    with _open(folder) as project:
        _say_told(hard(project, _how(parallel, probe), _say))


@command.command("taxonomy")
@_FOLDER
def taxonomy(folder: Path) -> None:
    """Give every class its place by taxonomy.toml; where there is none yet, write one to fill in.

    \b
    fieldmark curate taxonomy my-set
    """
    from fieldmark.evals.curation.deciding import decide_all
    from fieldmark.evals.curation.taxonomy import FILE, categorise, read_taxonomy, template

    with _open(folder) as project:
        path = folder / FILE
        if not path.exists():
            names = {each.class_name for each in project.candidates(after="evidence")}
            path.write_text(template(sorted(names)), encoding="utf-8")
            click.echo(
                f"{path}: name the categories of {counted(len(names), 'class', 'classes')}, and call again"
            )
            return
        found = read_taxonomy(project)
        _say_told(decide_all(project, "taxonomy", categorise(project.candidates(after="evidence"), found)))


@command.command("questions")
@_FOLDER
def questions(folder: Path) -> None:
    """Give every item a question of its category; one that says the answer or an alias leaves it open.

    \b
    fieldmark curate questions my-set
    """
    from fieldmark.evals.curation.deciding import decide_all
    from fieldmark.evals.curation.questions import question_all
    from fieldmark.evals.curation.taxonomy import read_taxonomy

    with _open(folder) as project:
        found = read_taxonomy(project)
        left = project.candidates(after="taxonomy")
        _say_told(decide_all(project, "questions", question_all(project, left, found)))


@command.command("freeze")
@_FOLDER
def freeze(folder: Path) -> None:
    """Write the release: one zip with manifest, pictures, datasheet, statistics, hashes, and its .sha256.

    \b
    fieldmark curate freeze my-set
    fieldmark run --benchmark fika --data my-set/releases/my-benchmark-1.zip --agent react …
    """
    from fieldmark.evals.curation.archive import freeze as write

    with _open(folder) as project:
        frozen = write(project)
    told = "written" if frozen.is_new else "there already, the same"
    click.echo(f"{frozen.path}: {counted(frozen.items, 'item')}, {told}; sha256 {frozen.sha256}")


@command.command("refresh")
@_FOLDER
@_asking
def refresh(folder: Path, parallel: int | None, probe: bool) -> int:
    """Ask the models of [screen.hard] the released questions anew, and say what they know by now.

    Nothing is decided by it. Exit code 1 when an item is known or without a verdict.

    \b
    fieldmark curate refresh my-set
    """
    from fieldmark.curating.refreshing import refresh as again

    with _open(folder) as project:
        how = _how(parallel, probe, cached=False)
        drifts = again(project, project.settings.screen.hard.models, how, _say)
    for drift in drifts:
        click.echo(f"{drift.model}: {drift.known} of {drift.of} items are known by now, {drift.open} open")
        click.echo("".join(f"  {name}\n" for name in drift.ids[:SHOWN]), nl=False)
    return 1 if any(drift.known or drift.open for drift in drifts) else 0


def _open(folder: Path) -> Project:
    from fieldmark.evals.curation.project import Project

    return Project.open(folder)


def _how(parallel: int | None, probe: bool, *, cached: bool = True) -> How:
    from fieldmark.curating.asking import How

    return How(parallel, probe, cached)


def _say_told(told: Told) -> None:
    """What a step decided, and what of it was otherwise before."""
    kept, dropped, left = (told.counts[key] for key in ("keep", "drop", "open"))
    click.echo(
        f"{told.step}: {kept} kept, {dropped} dropped, {left} open; {told.new} decided for the first time"
    )
    for candidate, was, now, why in told.flips[:SHOWN]:
        click.echo(f"flipped: {candidate} {was} → {now}: {why}")
    if len(told.flips) > SHOWN:
        click.echo(f"… and {len(told.flips) - SHOWN} more flipped")


def _progress(read: int) -> None:
    if read % 1000 == 0:
        click.echo(f"{read} pictures read", err=True)


def _say(line: str) -> None:
    click.echo(line, err=True)
