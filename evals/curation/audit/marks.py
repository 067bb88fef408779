"""What annotators say of a candidate, each for themselves, and what follows from it.

A mark is a decision row of its annotator; after it stands the row that holds, by the program: `keep` or
`drop` where enough annotators agree, else `open` until it is adjudicated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.evals.curation.deciding import Said, Told, decide_all
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import PROGRAM, Decision, Step, Verdict

STEP: Step = "audit"
AFTER: Step = "leakage"
Choice = Literal["keep", "correct", "drop"]


class Mark(BaseModel):
    """`label` is the answer as it shall be: with `correct` another, more specific one. `drop`: ambiguous.
    `urls`: pages that support it.
    """

    choice: Choice
    label: str
    aliases: list[str] = []
    urls: list[str] = []
    note: str = ""
    adjudicates: bool = False

    @property
    def answer(self) -> tuple[bool, str]:
        """What must be equal for two marks to agree."""
        return (self.choice == "drop", "" if self.choice == "drop" else " ".join(self.label.lower().split()))


def mark(project: Project, candidate: str, annotator: str, given: Mark) -> None:
    """Keep a mark, and what follows from it, at once; the same mark a second time changes nothing."""
    if annotator == PROGRAM:
        raise UsageError(f"nobody can be called {PROGRAM!r}: give another name")
    with project.writing():
        history = project.history(candidate, STEP)
        if marks_of(history).get(annotator) == given:
            return
        verdict: Verdict = "drop" if given.choice == "drop" else "keep"
        evidence = given.model_dump(mode="json")
        project.decide(STEP, candidate, verdict, _told(given), who=annotator, evidence=evidence)
        held = held_by(candidate, project.history(candidate, STEP), project.settings.audit.annotators)
        project.decide(STEP, held.candidate, held.verdict, held.why, evidence=held.evidence)


def marks_of(history: Iterable[Decision]) -> dict[str, Mark]:
    """Annotator → their last mark, in the order in which these came."""
    found: dict[str, Mark] = {}
    for row in history:
        if row.who != PROGRAM:
            found.pop(row.who, None)
            found[row.who] = Mark.model_validate(row.evidence)
    return found


def marked_by(project: Project, who: str, *, adjudicates: bool) -> set[str]:
    """The candidates whose last mark of this person is an adjudication, or none."""
    sql = (
        "SELECT candidate, json_extract(evidence, '$.adjudicates') FROM decisions"
        " WHERE step = ? AND who = ? ORDER BY id"
    )
    last = dict(project.database.execute(sql, [STEP, who]))
    return {name for name, is_final in last.items() if bool(is_final) == adjudicates}


def held_by(candidate: str, history: list[Decision], annotators: int) -> Said:
    """What holds: an adjudication, else what `annotators` of them agree on, else `open`."""
    marks = marks_of(history)
    final = [(who, each) for who, each in marks.items() if each.adjudicates]
    if final:
        return _said(candidate, final[-1][1], list(marks.values()), f"adjudicated by {final[-1][0]}")
    if len(marks) < annotators:
        return Said(candidate, "open", f"{len(marks)} of {annotators} annotators have marked it", {})
    names = " and ".join(marks)
    if len({each.answer for each in marks.values()}) > 1:
        return Said(candidate, "open", f"{names} disagree: it waits for adjudication", {})
    said = list(marks.values())
    return _said(candidate, said[0], said, f"{names} agree" if len(marks) > 1 else f"by {names}")


def _said(candidate: str, given: Mark, marks: list[Mark], how: str) -> Said:
    """`given` with the spellings and pages of all who have the same answer."""
    same = [each for each in marks if each.answer == given.answer]
    aliases = list(dict.fromkeys(alias for each in same for alias in each.aliases))
    urls = list(dict.fromkeys(url for each in same for url in each.urls))
    evidence: dict[str, Any] = {
        "label": given.label, "aliases": aliases, "urls": urls, "choice": given.choice,
    }  # fmt: skip
    if given.choice == "drop":
        return Said(candidate, "drop", f"ambiguous, {how}", evidence)
    return Said(candidate, "keep", f"{_told(given)}, {how}", evidence)


def _told(given: Mark) -> str:
    return {"keep": "label kept", "correct": f"label corrected to {given.label!r}", "drop": "ambiguous"}[
        given.choice
    ]


def settle(project: Project) -> Told:
    """What holds of every marked candidate, by the number of annotators that the settings want now. The marks
    are read as it is written: nobody marks in between.
    """
    histories = ((each.id, project.history(each.id, STEP)) for each in project.candidates(after=AFTER))
    wanted = project.settings.audit.annotators
    return decide_all(project, STEP, (held_by(one, rows, wanted) for one, rows in histories if rows))


def disagreed(project: Project) -> list[str]:
    """Candidates that wait for adjudication."""
    return [
        each.id
        for each in project.candidates(after=AFTER)
        if (held := project.decision(STEP, each.id)) and held.verdict == "open" and "disagree" in held.why
    ]
