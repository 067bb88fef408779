"""The evidence of a release looked at again: is each page still there, does it still name the answer?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fieldmark.curating.evidencing import FOLDER, known_pages, names_of
from fieldmark.curating.fetching import TEXTS, PageKeeper
from fieldmark.evals.curation.evidence.pages import EvidencePage
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.release import items

Change = Literal["same", "markup", "text", "unsupported", "gone"]
"""The very bytes; their text in other bytes; another text that names the answer; one that does not; none."""


@dataclass(frozen=True)
class PageDrift:
    """A page of evidence then (`was`, a sha256) and now (`is_now`, "" where nothing came)."""

    candidate: str
    url: str
    change: Change
    was: str
    is_now: str
    why: str = ""
    screenshot: str = ""


@dataclass
class EvidenceDrift:
    """`lost`: the items, of `of`, that no page supports any more."""

    of: int = 0
    lost: list[str] = field(default_factory=list)
    pages: list[PageDrift] = field(default_factory=list)


def recheck(project: Project, keeper: PageKeeper, say: Callable[[str], None]) -> EvidenceDrift:
    """Fetch every page that a released item rests on, into the keeper's own folder. It decides nothing."""
    drift = EvidenceDrift()
    for candidate, item in items(project):
        names, before = names_of(project, candidate), known_pages(project, candidate)
        found = []
        for url in item["evidence"]:
            now = keeper.fetch(url, names)
            was = before.get(url, EvidencePage(url=url))
            change = _change(was, now, project.folder / FOLDER, keeper.folder)
            found.append(
                PageDrift(candidate.id, url, change, was.sha256, now.sha256, now.problem, now.screenshot)
            )
            say(f"{candidate.id} {url}: {change}{f': {now.problem}' if now.problem else ''}")
        drift.of += 1
        drift.pages += found
        if all(each.change in ("unsupported", "gone") for each in found):
            drift.lost.append(candidate.id)
    return drift


def _change(was: EvidencePage, now: EvidencePage, before: Path, after: Path) -> Change:
    if now.problem:
        return "unsupported" if now.http == 200 else "gone"
    if was.sha256 == now.sha256:
        return "same"
    return "markup" if _text(before, was) == _text(after, now) else "text"


def _text(folder: Path, page: EvidencePage) -> str | None:
    file = folder / TEXTS / page.text
    return file.read_text("utf-8") if page.text and file.is_file() else None
