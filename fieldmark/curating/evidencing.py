"""`curate evidence`: every URL fetched under the web's rules, kept, and asked whether it names the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fieldmark.curating.camera import Camera
from fieldmark.curating.fetching import PageKeeper, Web, checked
from fieldmark.evals.curation.deciding import Said, Told, decide_all, decide_one
from fieldmark.evals.curation.evidence.attaching import AFTER, STEP, attached
from fieldmark.evals.curation.evidence.pages import EvidencePage
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.questions import answer_of
from fieldmark.evals.curation.records import Candidate
from fieldmark.sandbox.gateway.web.archive import Archive

FOLDER = "evidence"
"""In the project's folder."""
Say = Callable[[str], None]


@contextmanager
def keeping(folder: Path, web: Web, say: Say, *, screenshots: bool) -> Iterator[PageKeeper]:
    """What fetches pages into `folder`; its browser, if any was started, is gone afterwards. UsageError."""
    archive = Archive.open(folder, write=True)
    door = web.door(archive)
    with Camera(door, say) as camera:
        yield PageKeeper(archive, door, camera if screenshots else None)


def check_all(project: Project, keeper: PageKeeper, say: Say, *, again: bool = False) -> Told:
    """Fetch what was not fetched yet (`again`: all), each candidate on disk as it is done, and decide."""
    told = Told(STEP)
    for candidate in project.candidates(after=AFTER):
        pages, names = known_pages(project, candidate), names_of(project, candidate)
        for url in attached(project, candidate.id):
            if again or url not in pages:
                pages[url] = keeper.fetch(url, names)
                say(f"{candidate.id} {url}: {pages[url].told}")
        with project.writing():  # nobody attaches another one in between
            decide_one(project, told, _said(project, candidate, pages))
    left = project.candidates(after=AFTER)
    rest = (_said(project, each, known_pages(project, each)) for each in left)
    return decide_all(project, STEP, rest, told)


def _said(project: Project, candidate: Candidate, pages: dict[str, EvidencePage]) -> Said:
    """Kept with a page that supports the answer of now."""
    urls, names = attached(project, candidate.id), names_of(project, candidate)
    kept = [checked(project.folder / FOLDER, pages[url], names) for url in urls if url in pages]
    good = [page.url for page in kept if not page.problem]
    evidence = {"urls": good, "attached": urls, "pages": [page.model_dump() for page in kept]}
    if good:
        return Said(candidate.id, "keep", f"{len(good)} of {len(urls)} pages support the answer", evidence)
    why = "; ".join(f"{page.url}: {page.problem}" for page in kept) or "no evidence is attached"
    return Said(candidate.id, "drop", why, evidence)


def names_of(project: Project, candidate: Candidate) -> list[str]:
    """The answer and its aliases."""
    answer, aliases = answer_of(project, candidate)
    return [answer, *aliases]


def known_pages(project: Project, candidate: Candidate) -> dict[str, EvidencePage]:
    """URL → the page as it was last fetched."""
    decision = project.decision(STEP, candidate.id)
    rows = decision.evidence.get("pages", []) if decision else []
    return {page.url: page for page in map(EvidencePage.model_validate, rows)}
