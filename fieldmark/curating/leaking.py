"""`curate leakage`: every candidate searched for, its hits measured, and a rule over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from fieldmark.errors import DataFault
from fieldmark.evals.curation.deciding import Said, Told, decide_all, decide_one
from fieldmark.evals.curation.leakage.deciding import Hit, decide
from fieldmark.evals.curation.leakage.finding import Found, Search
from fieldmark.evals.curation.leakage.overlay import draw
from fieldmark.evals.curation.leakage.verifying import Picture, likeness
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate, Step
from fieldmark.evals.leaks.copies import Copy
from fieldmark.evals.leaks.deciding import giveaway
from fieldmark.sandbox.gateway.web.policy import Denied, Policy
from fieldmark.task import Gold

STEP: Step = "leakage"
AFTER: Step = "screen.hard"
FOLDER = "leakage"
"""In the project's folder: the overlays."""
MOST_OVERLAYS = 3


def inspect_all(
    project: Project, search: Search | None, say: Callable[[str], None], *, again: bool = False
) -> Told:
    """Search for the candidates that were not yet, each on disk as it is done; then decide all that were, by
    the settings of now. `again`: search for all of them. SearchFault, UsageError: what is done is kept.
    """
    told = Told(STEP)
    for candidate in project.candidates(after=AFTER):
        if search and (again or not project.decision(STEP, candidate.id)):
            said = decide(candidate.id, _hits(project, candidate, search), project.settings.leakage)
            decide_one(project, told, said)
            say(f"{candidate.id} {candidate.label}: {said.why}")
    return decide_all(project, STEP, _decided(project), told)


def _decided(project: Project) -> Iterator[Said]:
    """Each candidate by its kept hits: no search is needed for another threshold or another source."""
    for candidate in project.candidates(after=AFTER):
        decision = project.decision(STEP, candidate.id)
        if decision:
            hits = [Hit.model_validate(row) for row in decision.evidence.get("hits", [])]
            yield decide(candidate.id, [_sourced(project, hit) for hit in hits], project.settings.leakage)


def _hits(project: Project, candidate: Candidate, search: Search) -> list[Hit]:
    data = project.picture(candidate).read_bytes()
    ours = Picture(data)
    measured = [_measured(project, candidate, ours, found) for found in search(data)]
    for number, (hit, draws) in enumerate(sorted(measured, key=lambda pair: -(pair[0].score or 0))):
        if number < MOST_OVERLAYS and (hit.score or 0) >= project.settings.leakage.doubt_from:
            file = Path(FOLDER, f"{candidate.id}-{number + 1}.jpg")
            draws(project.folder / file)
            hit.overlay = file.as_posix()
    return [hit for hit, _ in measured]


def _measured(
    project: Project, candidate: Candidate, ours: Picture, found: Found
) -> tuple[Hit, Callable[[Path], None]]:
    """The hit, and what draws its overlay."""
    hit = Hit(query=found.query, page=found.page, title=found.title, score=None, read=found.text is not None)
    copy = Copy("search", found.page, found.title, found.text or "")
    gold = Gold(answer=candidate.label, aliases=[candidate.class_name])
    given = giveaway([copy], gold, lambda url: False)
    hit.gives = given.reason if given else None
    try:
        theirs = Picture(found.picture) if found.picture else None
    except DataFault:
        theirs = None
    if theirs is None:
        return hit, lambda file: None
    alike = likeness(ours, theirs)
    measures = {name: getattr(alike, name) for name in ("score", "hash_distance", "look", "inliers")}
    hit = hit.model_copy(update={**measures, "own": alike.own, "region": alike.region})
    return _sourced(project, hit), lambda file: draw(ours, theirs, alike, file)


def _sourced(project: Project, hit: Hit) -> Hit:
    """The hit with what the sources of the settings say of its page; what its words say stays."""
    own = "is a record of a source dataset"
    words = hit.gives if hit.gives and own not in hit.gives else None
    is_source = bool(hit.page) and _guarded(project, hit.page)
    return hit.model_copy(update={"gives": f"{hit.page} {own}" if is_source and not words else words})


def _guarded(project: Project, page: str) -> bool:
    try:
        Policy(guard=project.settings.leakage.sources).check(page)
    except Denied as denied:
        return denied.guarded
    return False
