"""`fieldmark curate evidence`, and `refresh`: pages and models of today, for what is released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.counting import counted
from fieldmark.curating.options import FOLDER, asking
from fieldmark.curating.telling import SHOWN, say_aside, say_some, say_told

if TYPE_CHECKING:
    from fieldmark.curating.rechecking import EvidenceDrift
    from fieldmark.curating.refreshing import Drift


def _fetching(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what fetches pages."""
    for option in (
        click.option(
            "--no-screenshots", is_flag=True, help="Keep text and bytes alone; no container is started."
        ),
        click.option("--allow-local", default="", help="host:port that are not public, with commas."),
        click.option(
            "--site", type=click.Path(path_type=Path), help="Pages in the web's place, a folder a host."
        ),
    ):
        function = option(function)
    return function


@click.command("evidence")
@FOLDER
@click.option("--urls", type=click.Path(path_type=Path), help="A CSV to attach: columns candidate and url.")
@click.option("--by", default="csv", show_default=True, help="Who attaches them.")
@_fetching
@click.option("--again", is_flag=True, help="Fetch anew what was fetched before.")
def evidence(
    folder: Path,
    urls: Path | None,
    by: str,
    site: Path | None,
    allow_local: str,
    no_screenshots: bool,
    again: bool,
) -> None:
    """Fetch and keep the pages that are named as evidence, and drop what none of them supports.

    Kept are the bytes, the text, a screenshot by the sandbox's browser, and their hashes.

    \b
    fieldmark curate list my-set --after audit      # the candidates, for evidence.csv
    fieldmark curate evidence my-set --urls evidence.csv
    """
    from fieldmark.curating.evidencing import FOLDER as PLACE
    from fieldmark.curating.evidencing import check_all, keeping
    from fieldmark.evals.curation.evidence.attaching import attach_all
    from fieldmark.evals.curation.evidence.pages import domains
    from fieldmark.evals.curation.project import Project

    web = _web(site, allow_local)
    with Project.open(folder) as project:
        if urls:
            click.echo(f"{counted(attach_all(project, urls, by), 'new URL')} attached")
        project.require("audit")
        with keeping(project.folder / PLACE, web, say_aside, screenshots=not no_screenshots) as keeper:
            say_told(check_all(project, keeper, say_aside, again=again))
        kept = [project.decision("evidence", each.id) for each in project.candidates("evidence")]
        found = domains(url for one in kept if one for url in one.evidence["urls"])
        shots = sum(bool(page["screenshot"]) for one in kept if one for page in one.evidence["pages"])
    counts = {"evidence URL": found.total(), "domain": len(found), "screenshot": shots}
    click.echo(", ".join(counted(number, noun) for noun, number in counts.items()))
    for name, count in found.most_common(SHOWN):
        click.echo(f"  {count:5}  {name}")


@click.command("refresh")
@FOLDER
@click.option("--only", type=click.Choice(["evidence", "hardness"]), help="One of the two.  [default: both]")
@_fetching
@asking
def refresh(
    folder: Path, only: str | None, site: Path | None, allow_local: str, no_screenshots: bool,
    parallel: int | None, probe: bool,
) -> int:  # fmt: skip
    """Look at what is released again: the pages it rests on, and what models of [screen.hard] know by now.

    Nothing is decided by it; refresh/DATE.json says what drifted. Exit code 1 when an item lost its evidence,
    is known by now, or is without a verdict.

    \b
    fieldmark curate refresh my-set
    fieldmark curate refresh my-set --only evidence
    """
    from fieldmark.curating import refreshing
    from fieldmark.curating.asking import How
    from fieldmark.curating.evidencing import keeping
    from fieldmark.curating.rechecking import recheck
    from fieldmark.evals.curation.project import Project

    web, bad = _web(site, allow_local), False
    with Project.open(folder) as project:
        refreshing.check_released(project)
        if only != "hardness":
            place = project.folder / refreshing.FOLDER / "pages"
            with keeping(place, web, say_aside, screenshots=not no_screenshots) as keeper:
                drift = recheck(project, keeper, say_aside)
            path = refreshing.write(project, {"evidence": asdict(drift)})
            bad = _say_evidence(drift)
        if only != "evidence":
            models = project.settings.screen.hard.models
            drifts = refreshing.ask_again(project, models, How(parallel, probe, cached=False), say_aside)
            path = refreshing.write(project, {"hardness": [asdict(each) for each in drifts]})
            bad |= _say_hardness(drifts)
    click.echo(f"nothing is decided by it; {path} has all of it")
    return int(bad)


def _web(site: Path | None, allow_local: str) -> Any:
    from fieldmark.curating.fetching import Web
    from fieldmark.errors import UsageError

    places = [place.strip() for place in allow_local.split(",") if place.strip()]
    for place in places:
        if not place.rpartition(":")[0] or not place.rpartition(":")[2].isdecimal():
            raise UsageError(f"--allow-local {place!r} is no host:port: give 127.0.0.1:8000")
    return Web(site, frozenset(places))


def _say_evidence(drift: EvidenceDrift) -> bool:
    changes = [page.change for page in drift.pages]
    told = ", ".join(f"{changes.count(each)} {each}" for each in dict.fromkeys(sorted(changes)))
    click.echo(
        f"evidence: {len(drift.lost)} of {counted(drift.of, 'item')} lost all support;"
        f" {counted(len(changes), 'page')}: {told}"
    )
    say_some(
        [f"  {each.candidate} {each.url}: {each.change}: {each.why}" for each in drift.pages if each.why]
    )
    return bool(drift.lost)


def _say_hardness(drifts: list[Drift]) -> bool:
    for drift in drifts:
        click.echo(f"{drift.model}: {drift.known} of {drift.of} items are known by now, {drift.open} open")
        say_some([f"  {name}" for name in drift.ids])
    return any(drift.known or drift.open for drift in drifts)
