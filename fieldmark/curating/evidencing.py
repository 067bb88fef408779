"""`curate evidence`: every URL fetched under the web's rules, kept, and asked whether it names the answer."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
from collections.abc import Callable
from pathlib import Path

from fieldmark.errors import ToolError
from fieldmark.evals.curation.deciding import Said, Told, decide_all
from fieldmark.evals.curation.evidence.attaching import AFTER, STEP, attached
from fieldmark.evals.curation.evidence.pages import EvidencePage, problem_of
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.sandbox.gateway.web.alone import Nobody
from fieldmark.sandbox.gateway.web.archive import Archive
from fieldmark.sandbox.gateway.web.door import Missed, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied, Policy
from fieldmark.sandbox.gateway.web.routes import described
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.tools.context import Page
from fieldmark.tools.pages.page_text import read_page

FOLDER = "evidence"
"""In the project's folder: a web archive of the pages, and `texts/`."""


def door_of(project: Project, site: Path | None) -> WebDoor:
    """The web, everything that comes kept; with `site` its pages and nothing else. UsageError."""
    archive = Archive.open(project.folder / FOLDER, write=True)
    if site:
        return WebDoor("offline", Policy(), site=Site(site))
    return WebDoor("record", Policy(), archive=archive)


def check_all(project: Project, door: WebDoor, say: Callable[[str], None], *, again: bool = False) -> Told:
    """Fetch what was not fetched yet (`again`: all), each candidate on disk as it is done, and decide."""
    new = 0
    for candidate in project.candidates(after=AFTER):
        pages = _known(project, candidate)
        for url in attached(project, candidate.id):
            if again or url not in pages:
                pages[url] = _fetched(project, candidate, door, url)
                say(f"{candidate.id} {url}: {pages[url].problem or 'supports the answer'}")
        said = _said(project, candidate, pages)
        outcome = project.decide(STEP, candidate.id, said.verdict, said.why, evidence=said.evidence)
        new += outcome == "new"
    left = project.candidates(after=AFTER)
    told = decide_all(project, STEP, [_said(project, each, _known(project, each)) for each in left])
    told.new = new
    return told


def _said(project: Project, candidate: Candidate, pages: dict[str, EvidencePage]) -> Said:
    """Kept with a page that supports the answer of now; texts are kept, so a new alias needs no web."""
    urls = attached(project, candidate.id)
    checked = [_checked(project, candidate, pages[url]) for url in urls if url in pages]
    good = [page.url for page in checked if not page.problem]
    evidence = {"urls": good, "attached": urls, "pages": [page.model_dump() for page in checked]}
    if good:
        return Said(candidate.id, "keep", f"{len(good)} of {len(urls)} pages support the answer", evidence)
    why = "; ".join(f"{page.url}: {page.problem}" for page in checked) or "no evidence is attached"
    return Said(candidate.id, "drop", why, evidence)


def _names(project: Project, candidate: Candidate) -> list[str]:
    audit = project.decision(AFTER, candidate.id)
    told = audit.evidence if audit else {}
    return [str(told.get("label") or candidate.label), *map(str, told.get("aliases", []))]


def _known(project: Project, candidate: Candidate) -> dict[str, EvidencePage]:
    decision = project.decision(STEP, candidate.id)
    rows = decision.evidence.get("pages", []) if decision else []
    return {page.url: page for page in map(EvidencePage.model_validate, rows)}


def _checked(project: Project, candidate: Candidate, page: EvidencePage) -> EvidencePage:
    if not page.http:
        return page  # it was never reached
    file = project.folder / FOLDER / "texts" / page.text
    text = file.read_text("utf-8") if page.text and file.is_file() else None
    problem = problem_of(page.url, page.final_url, page.http, text, _names(project, candidate))
    return page.model_copy(update={"problem": problem})


def _fetched(project: Project, candidate: Candidate, door: WebDoor, url: str) -> EvidencePage:
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        exchange = asyncio.run(door.fetch(Nobody(), url))
    except (Denied, Missed, Unreachable) as error:
        return EvidencePage(url=url, when=when, problem=str(error) or "cannot be reached")
    if door.archive is None:
        Archive.open(project.folder / FOLDER, write=True).put("GET", exchange)
    digest = hashlib.sha256(exchange.body).hexdigest()
    page = EvidencePage(url=url, final_url=exchange.url, http=exchange.http, sha256=digest, when=when)
    try:
        read = read_page(exchange.body, Page(**described(url, exchange)))
        text = f"{read.title}\n{read.whole or read.text}" if read.readable else None
    except ToolError:
        text = None
    if text is not None:
        page.text = f"{digest}.txt"
        file = project.folder / FOLDER / "texts" / page.text
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8", errors="replace")
    return _checked(project, candidate, page)
