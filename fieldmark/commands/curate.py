"""`fieldmark curate`: from candidates to a frozen benchmark, step by step."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.counting import counted
from fieldmark.curating.attributes_command import attributes
from fieldmark.curating.commands import audit, leakage
from fieldmark.curating.evidence_commands import evidence, refresh
from fieldmark.curating.options import FOLDER, asking
from fieldmark.curating.telling import SHOWN, say_aside, say_told
from fieldmark.evals.curation.records import STEPS, Step
from fieldmark.evals.curation.sources.reading import LAYOUTS

if TYPE_CHECKING:
    from fieldmark.curating.asking import How
    from fieldmark.evals.curation.project import Project


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


for step in (leakage, audit, evidence, refresh, attributes):
    command.add_command(step)


@command.command("new")
@FOLDER
def new(folder: Path) -> None:
    """Begin a curation: a folder with a curate.toml to edit. One that is there stays as it is.

    \b
    fieldmark curate new my-set
    """
    from fieldmark.evals.curation.project import Project

    Project.create(folder).close()
    click.echo(f"{folder}/curate.toml: say there which models are asked, and the licence of the release")


@command.command("import")
@FOLDER
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
        say_told(decide_import(project))
    return 1 if broken else 0


def _take_in(project: Project, place: Path, layout: str | None, source: str | None, licence: str) -> int:
    """Read a place and say what came of it; how many of its pictures cannot be used."""
    from fieldmark.errors import UsageError
    from fieldmark.evals.curation.importing import import_all
    from fieldmark.evals.curation.sources.reading import read

    name = source or layout or place.resolve().stem
    told = import_all(project, name, read(place, layout, licence), _progress)
    if not told.read:
        raise UsageError(f"{place} holds no picture and no row: name another place")
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
@FOLDER
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


@command.command("list")
@FOLDER
@click.option("--after", type=click.Choice(STEPS), help="Only what every step up to this one keeps.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list.")
def list_(folder: Path, after: Step | None, as_json: bool) -> None:
    """The candidates, a line each: id, answer, class, picture, with tabs between.

    \b
    fieldmark curate list my-set --after audit
    """
    from fieldmark.evals.curation.questions import answer_of
    from fieldmark.showing.visible import visible

    with _open(folder) as project:
        rows = [
            {"candidate": one.id, "answer": answer_of(project, one)[0], "class": one.class_name,
             "picture": str(project.picture(one))}
            for one in project.candidates(after=after)
        ]  # fmt: skip
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    for row in [] if as_json else rows:
        click.echo("\t".join(map(visible, row.values())))


@command.command("show")
@FOLDER
@click.argument("candidate")
def show(folder: Path, candidate: str) -> None:
    """Every decision on one candidate: who, when, what and why; with the pages of its evidence.

    \b
    fieldmark curate show my-set 3f1c9a0b7d5e2468
    """
    from fieldmark.evals.curation.evidence.pages import EvidencePage
    from fieldmark.showing.visible import visible

    with _open(folder) as project:
        one = project.candidate(candidate)
        click.echo(f"{one.id}  {one.label}  ({one.source}, {one.licence})  {project.picture(one)}")
        for each in project.history(candidate):
            click.echo(visible(f"{each.when}  {each.step:13} {each.verdict:5} by {each.who}: {each.why}"))
            for page in map(EvidencePage.model_validate, each.evidence.get("pages", [])):
                click.echo(visible(f"    {page.url}  sha256 {page.sha256[:12] or 'none'}: {page.told}"))


@command.group("screen")
def screen() -> None:
    """Ask models closed book, and keep what they do not know.

    \b
    fieldmark curate screen first my-set
    fieldmark curate screen hard my-set --parallel 8
    """


@screen.command("first")
@FOLDER
@asking
def screen_first(folder: Path, parallel: int | None, probe: bool) -> None:
    """One model over a sample of each class: classes that it knows go, the others stay whole.

    \b
    fieldmark curate screen first my-set
    """
    from fieldmark.curating.screening import screen_first as first

    with _open(folder) as project:
        say_told(first(project, _how(parallel, probe), say_aside))


@screen.command("hard")
@FOLDER
@asking
def screen_hard(folder: Path, parallel: int | None, probe: bool) -> None:
    """Several models over what is left: the wrong samples of the classes that they do not know stay.

    \b
    fieldmark curate screen hard my-set
    """
    from fieldmark.curating.screening import screen_hard as hard

    with _open(folder) as project:
        say_told(hard(project, _how(parallel, probe), say_aside))


@command.command("taxonomy")
@FOLDER
def taxonomy(folder: Path) -> None:
    """Give every class its place by taxonomy.toml; where there is none yet, write one to fill in.

    \b
    fieldmark curate taxonomy my-set
    """
    from fieldmark.evals.curation.deciding import decide_all
    from fieldmark.evals.curation.taxonomy import FILE, categorise, read_taxonomy, template

    with _open(folder) as project:
        project.require("evidence")
        path = folder / FILE
        if not path.exists():
            names = {each.class_name for each in project.candidates(after="evidence")}
            path.write_text(template(sorted(names)), encoding="utf-8")
            click.echo(
                f"{path}: name the categories of {counted(len(names), 'class', 'classes')}, and call again"
            )
            return
        found = read_taxonomy(project)
        say_told(decide_all(project, "taxonomy", categorise(project.candidates(after="evidence"), found)))


@command.command("questions")
@FOLDER
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
        project.require("taxonomy")
        left = project.candidates(after="taxonomy")
        say_told(decide_all(project, "questions", question_all(project, left, found)))


@command.command("freeze")
@FOLDER
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


def _open(folder: Path) -> Project:
    from fieldmark.evals.curation.project import Project

    return Project.open(folder)


def _how(parallel: int | None, probe: bool) -> How:
    from fieldmark.curating.asking import How

    return How(parallel, probe)


def _progress(read: int) -> None:
    if read % 1000 == 0:
        click.echo(f"{read} pictures read", err=True)
