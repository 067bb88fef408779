"""The human baseline as a table: each person, their mean, each exam's best, and the mean of these."""

from __future__ import annotations

from fieldmark.evals.metrics.persons import Baseline, Exam, Sat
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.table import Table

NOTE = (
    "strict accuracy on the tasks of each exam. The mean of each exam's best person is what Pix2Fact prints "
    "as “human”: chosen after the fact, so above what any one person reaches on all exams. Means give every "
    "exam the same weight; that of all persons, every person. CI: Wilson's, 95 %; of means, none."
)


def persons_table(found: Baseline) -> Table:
    """First each exam with its persons and the other runs on its tasks, then the means over exams."""
    rows: list[list[str]] = []
    totals: set[int] = set()
    for exam in found.exams:
        rows += _rows(exam)
    first = len(rows)
    rows.append(["all exams", "mean of all persons", *_alone(found.persons_mean)])
    rows.append(["all exams", "mean of each exam's best person", *_alone(found.best_mean)])
    rows += [["all exams", f"mean of {run}", *_alone(mean)] for run, mean in found.others_mean.items()]
    totals |= set(range(first, len(rows)))
    title = "Human baseline" + (" · PARTIAL" if found.incomplete else "")
    columns = ["exam", "who", "correct /done", "strict %", "CI 95%", "not done"]
    return Table(title, NOTE, columns, rows, 2, frozenset(totals))


def _rows(exam: Exam) -> list[list[str]]:
    best = exam.best
    return [
        *([exam.name, person.who, *_figures(person)] for person in exam.persons),
        [exam.name, "mean of its persons", *_alone(exam.mean)],
        [exam.name, f"best of its persons: {best.who if best else '–'}",
         *_alone(best.strict.fraction if best else None)],
        *([exam.name, f"{other.run} ({other.who})", *_figures(other)] for other in exam.others),
    ]  # fmt: skip


def _figures(sat: Sat) -> list[str]:
    return [count(sat.strict), percent(sat.strict.fraction), interval(sat.interval), str(sat.open)]


def _alone(fraction: float | None) -> list[str]:
    return ["", percent(fraction), "", ""]
