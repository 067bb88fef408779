"""The human baseline out of several exams (Pix2Fact, section 4.3, table 4).

An exam is a paper: the same tasks for several persons. Three figures are kept apart, which a headline can
mix: each person's accuracy, the mean over all persons, and the mean of each exam's *best* person. The paper's
"human 56 %" is the last one. Other runs are counted on the tasks of each exam, and their mean is over exams,
as is the paper's 24 % for its model.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel

from fieldmark.counting import counted
from fieldmark.evals.metrics.outcomes import DONE, Cell, cells
from fieldmark.evals.metrics.shares import Interval, Share, wilson
from fieldmark.records import PERSON
from fieldmark.rundir import RunDir

Grid = tuple[RunDir, list[Cell]]


class Sat(BaseModel):
    """One run on one exam. `strict` is over the tasks of the exam that are done and judged, `open` are the
    others. `run` is its name, `who` its person or model.
    """

    run: str
    who: str
    strict: Share
    interval: Interval | None
    open: int


class Exam(BaseModel):
    """A paper and who sat it. `mean` is None while a person has no verdict, `best` while none has."""

    name: str
    tasks: int
    persons: list[Sat]
    others: list[Sat]
    mean: float | None
    best: Sat | None


class Baseline(BaseModel):
    """All fractions 0–1. `persons_mean`: over every person of every exam; `best_mean`: the mean, over exams,
    of each exam's best person; `others_mean`: run → the mean over exams of a run that is no exam.

    `incomplete`: an exam is not answered or judged to its end, so that the figures are not final.
    """

    exams: list[Exam]
    persons_mean: float | None
    best_mean: float | None
    others_mean: dict[str, float | None]
    incomplete: bool


def is_exam(run: RunDir) -> bool:
    """Whether a person answered it."""
    config = run.config()
    return config.get("agent") == PERSON and isinstance(config.get("exam"), dict)


def baseline(runs: Sequence[RunDir]) -> Baseline | None:
    """Of the exams among `runs`; None where there are none."""
    sat, others = [run for run in runs if is_exam(run)], [run for run in runs if not is_exam(run)]
    if not sat:
        return None
    beside = [(run, cells(run)) for run in others]
    papers: dict[str, list[RunDir]] = {}
    for run in sat:
        papers.setdefault(_paper(run), []).append(run)
    exams = [_exam(each, beside, number) for number, each in enumerate(papers.values(), 1)]
    return Baseline(
        exams=exams,
        persons_mean=_mean([person.strict.fraction for exam in exams for person in exam.persons]),
        best_mean=_mean([exam.best.strict.fraction if exam.best else None for exam in exams]),
        others_mean={
            _name(run): _mean([exam.others[place].strict.fraction for exam in exams])
            for place, run in enumerate(others)
        },
        incomplete=any(person.open for exam in exams for person in exam.persons),
    )


def _paper(run: RunDir) -> str:
    """The same for exams of the same tasks of the same benchmark, whatever order they were drawn in."""
    told = run.config().get("benchmark")
    benchmark = (told.get("name"), told.get("version")) if isinstance(told, dict) else ()
    return repr((benchmark, sorted(str(row.get("id")) for row in run.tasks())))


def _exam(runs: list[RunDir], beside: Sequence[Grid], number: int) -> Exam:
    ids = {str(row.get("id")) for row in runs[0].tasks()}
    persons = [_sat(run, cells(run), ids) for run in runs]
    known = [person for person in persons if person.strict.fraction is not None]
    return Exam(
        name=f"{number}: {counted(len(ids), 'task')}",
        tasks=len(ids),
        persons=persons,
        others=[_sat(run, grid, ids) for run, grid in beside],
        mean=_mean([person.strict.fraction for person in persons]),
        best=max(known, key=lambda person: person.strict.fraction or 0.0, default=None),
    )


def _sat(run: RunDir, grid: Sequence[Cell], ids: set[str]) -> Sat:
    """Of several epochs, the mean of each task counts."""
    done: dict[str, list[bool]] = {}
    for cell in grid:
        if cell.id in ids and cell.outcome in DONE:
            done.setdefault(cell.id, []).append(cell.outcome == "correct")
    strict = Share.of(sum(fmean(right) for right in done.values()), len(done))
    model = run.config().get("model")
    who = str(model.get("name", "?")) if isinstance(model, dict) else "?"
    once = all(len(right) == 1 for right in done.values())
    interval = wilson(strict) if once else None
    return Sat(run=_name(run), who=who, strict=strict, interval=interval, open=len(ids) - len(done))


def _name(run: RunDir) -> str:
    return str(run.config().get("name") or run.path.name)


def _mean(fractions: Sequence[float | None]) -> float | None:
    """None where one of them is unknown: the mean of the rest would be of other exams."""
    known = [fraction for fraction in fractions if fraction is not None]
    return fmean(known) if known and len(known) == len(fractions) else None
