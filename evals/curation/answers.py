"""What models answered in the screens, as far as it was judged by the judge that judges now."""

from __future__ import annotations

from collections.abc import Iterable

from fieldmark.evals.curation.project import Project

Answered = tuple[str, str, str]
"""Candidate, the judge's label or `none`, the answer."""


def verdicts(project: Project, step: str, model: str, judge: str) -> dict[str, str]:
    """Candidate → label, of one model."""
    sql = "SELECT candidate, verdict FROM answers WHERE step = ? AND model = ? AND judge = ?"
    return dict(project.database.execute(sql, [step, model, judge]))


def add(project: Project, step: str, model: str, judge: str, run: str, answered: Iterable[Answered]) -> None:
    """Those of a run folder; what is asked again replaces what was."""
    with project.writing():
        project.database.executemany(
            "INSERT OR REPLACE INTO answers (candidate, step, model, judge, verdict, answer, run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((name, step, model, judge, label, text, run) for name, label, text in answered),
        )
