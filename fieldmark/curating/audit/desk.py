"""One annotator's way through the candidates: what is next, and what the page shows of it."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path

from fieldmark.evals.curation.audit.marks import AFTER, STEP, Mark, disagreed, mark, marked_by, marks_of
from fieldmark.evals.curation.audit.neighbours import Neighbour, Neighbours
from fieldmark.evals.curation.project import Project
from fieldmark.evals.curation.records import Candidate
from fieldmark.labelling.session import check_name


@dataclass(frozen=True)
class Shown:
    """`answers`: (model, answer) of the screens; `others`: (annotator, mark), for an adjudicator alone."""

    candidate: Candidate
    size: tuple[int, int]
    answers: list[tuple[str, str]]
    neighbours: list[Neighbour]
    mine: Mark | None
    others: list[tuple[str, Mark]]


class Desk:
    """Any thread may call it. `adjudicates`: only what others disagree on is shown, with what they said.

    UsageError: nobody can be called `name`.
    """

    def __init__(self, project: Project, name: str, *, adjudicates: bool = False) -> None:
        check_name(name, "--adjudicator" if adjudicates else "--annotator")
        self.name, self.adjudicates = name, adjudicates
        self.token = secrets.token_urlsafe(24)
        self._project = project
        self._lock = threading.RLock()
        self._neighbours = Neighbours(project)
        self._ids = (
            disagreed(project) if adjudicates else [each.id for each in project.candidates(after=AFTER)]
        )

    @property
    def total(self) -> int:
        return len(self._ids)

    @property
    def done(self) -> int:
        with self._lock:
            return len(self._marked() & set(self._ids))

    def next(self, after: str = "") -> str | None:
        """The first one, behind `after` and then from the start, that this person has not marked."""
        with self._lock:
            start = self._ids.index(after) + 1 if after in self._ids else 0
            order, marked = self._ids[start:] + self._ids[:start], self._marked()
            return next((each for each in order if each not in marked), None)

    def beside(self, candidate: str, step: int) -> str:
        """The one before (-1) or behind (1) in the order."""
        return self._ids[(self._ids.index(candidate) + step) % len(self._ids)]

    def picture(self, candidate: str) -> Path:
        """UsageError: no such candidate."""
        with self._lock:
            return self._project.picture(self._project.candidate(candidate))

    def shown(self, candidate: str) -> Shown | None:
        """None: it is not among those to audit."""
        from PIL import Image

        if candidate not in self._ids:
            return None
        with self._lock:
            one = self._project.candidate(candidate)
            sql = (
                "SELECT DISTINCT model, answer FROM answers WHERE candidate = ? AND step LIKE 'screen.%'"
                " ORDER BY model"
            )
            answers = [(str(m), str(a)) for m, a in self._project.database.execute(sql, [candidate])]
            marks = marks_of(self._project.history(candidate, STEP))
            with Image.open(self._project.picture(one)) as image:
                size = image.size
            others = [(who, each) for who, each in marks.items() if who != self.name]
            near = self._neighbours.of(one, [text for _, text in answers])
            mine = marks.get(self.name)
            return Shown(one, size, answers, near, mine, others if self.adjudicates else [])

    def mark(self, candidate: str, given: Mark) -> None:
        """On disk when this returns."""
        with self._lock:
            given = given.model_copy(update={"adjudicates": self.adjudicates})
            mark(self._project, candidate, self.name, given)

    def _marked(self) -> set[str]:
        return marked_by(self._project, self.name, adjudicates=self.adjudicates)
