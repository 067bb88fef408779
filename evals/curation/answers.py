"""What models answered in the screens, as far as it was judged by the judge that judges now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fieldmark.evals.curation.project import Project

Answered = tuple[str, str, str]
"""Candidate, the judge's label or `none`, the answer."""


def verdicts(
    project: Project, step: str, model: str, judge: str, wanted: Mapping[str, str]
) -> dict[str, str]:
    """Candidate → label, of one model; of each candidate of `wanted`, the answer to the question of that
    hash.
    """
    sql = "SELECT candidate, verdict, asked FROM answers WHERE step = ? AND model = ? AND judge = ?"
    rows = project.database.execute(sql, [step, model, judge])
    return {name: label for name, label, asked in rows if wanted.get(name) == asked}


def runs(project: Project, step: str, model: str) -> set[str]:
    """Run folders of which something was taken."""
    sql = "SELECT DISTINCT run FROM answers WHERE step = ? AND model = ?"
    return {run for (run,) in project.database.execute(sql, [step, model])}


def add(
    project: Project, step: str, model: str, judge: str, run: str,
    answered: Iterable[Answered], asked: Mapping[str, str],
) -> None:  # fmt: skip
    """Those of a run folder, to the questions of these hashes; what is asked again replaces what was."""
    with project.writing():
        project.database.executemany(
            "INSERT OR REPLACE INTO answers (candidate, step, model, judge, verdict, answer, run, asked)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((name, step, model, judge, label, text, run, asked[name]) for name, label, text in answered),
        )
