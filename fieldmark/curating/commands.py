"""`fieldmark curate leakage` and `audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldmark.curating.options import FOLDER
from fieldmark.curating.telling import say_told

if TYPE_CHECKING:
    from fieldmark.evals.curation.audit.agreement import AuditAgreement

PORT = 7790


@click.command("leakage")
@FOLDER
@click.option("--index", type=click.Path(path_type=Path), help="A picture index in the web's place.")
@click.option(
    "--site", type=click.Path(path_type=Path), help="A folder for each host: pages in the web's place."
)
@click.option("--allow-upload", is_flag=True, help="Search by Google Lens: every picture is sent to SerpApi.")
@click.option("--serpapi-key-env", "key_env", default="SERPAPI_API_KEY", show_default=True, help="Its key.")
@click.option("--again", is_flag=True, help="Search anew for what was searched for before.")
def leakage(
    folder: Path, index: Path | None, site: Path | None, allow_upload: bool, key_env: str, again: bool
) -> None:
    """Search for each picture, verify copies, and drop what leaked or cannot be told.

    Without --index and --allow-upload nothing is searched for: the hits that are known are decided by the
    thresholds of now, and what flips is said.

    \b
    fieldmark curate leakage my-set --index web-pictures/ --site web-pages/
    fieldmark curate leakage my-set --allow-upload
    """
    from fieldmark.curating.leaking import inspect_all
    from fieldmark.curating.searching import lens, local
    from fieldmark.errors import UsageError
    from fieldmark.evals.curation.project import Project

    if index and allow_upload:
        raise UsageError("search in one place: --index or --allow-upload")
    search = local(index, site) if index else lens(key_env, site) if allow_upload else None
    with Project.open(folder) as project:
        project.require("screen.hard")
        told = inspect_all(project, search, lambda line: click.echo(line, err=True), again=again)
        say_told(told)
        left = sum(not project.decision("leakage", each.id) for each in project.candidates("screen.hard"))
    if left:
        click.echo(f"{left} were never searched for: name an --index, or --allow-upload")


@click.command("audit")
@FOLDER
@click.option("--annotator", help="Whose marks these are. Without one the agreement is printed.")
@click.option("--adjudicator", help="Who decides what the annotators disagree on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free.")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Where to listen; beyond this machine only with a token, which is printed.")  # fmt: skip
def audit(folder: Path, annotator: str | None, adjudicator: str | None, port: int, host: str) -> None:
    """Audit labels on a local page: keep, correct, or drop as ambiguous, by keys.

    Every mark is on disk at once. Annotators work at the same time, each with a command and a port of their
    own and without sight of the others; an adjudicator sees both.

    \b
    fieldmark curate audit my-set --annotator ann
    fieldmark curate audit my-set --annotator bob --port 7791
    fieldmark curate audit my-set --adjudicator cem
    fieldmark curate audit my-set
    """
    from fieldmark.curating.audit.app import make_app
    from fieldmark.curating.audit.desk import Desk
    from fieldmark.errors import UsageError
    from fieldmark.evals.curation.audit.agreement import audit_agreement
    from fieldmark.evals.curation.audit.marks import settle
    from fieldmark.evals.curation.project import Project
    from fieldmark.evals.inspector.security import door_of
    from fieldmark.evals.inspector.serving import address, listen, serve

    if annotator and adjudicator:
        raise UsageError("one person, one part: --annotator or --adjudicator")
    with Project.open(folder) as project:
        project.require("leakage")
        if annotator or adjudicator:
            desk = Desk(project, str(annotator or adjudicator), adjudicates=bool(adjudicator))
            listening, door = listen(host, port), door_of(host)
            click.echo(f"open {address(host, listening, door.token)}   (Ctrl-C ends it)")
            serve(make_app(desk, door), listening)
            click.echo(f"{desk.name}: {desk.done} of {desk.total} marked")
        say_told(settle(project))
        _say_agreement(audit_agreement(project))


def _say_agreement(found: AuditAgreement) -> None:
    for name, count in found.marked.items():
        click.echo(f"{name}: {count} marked")
    for each in found.pairs:
        kappa = f"{each.kappa:.2f}" if each.kappa is not None else f"not defined ({each.why})"
        same = f"{each.raw.count:g} of {each.n} the same"
        click.echo(f"{each.first} and {each.second}: {same}, Cohen's κ {kappa}")
    if found.alpha is not None:
        click.echo(f"Krippendorff's α {found.alpha:.2f}")
