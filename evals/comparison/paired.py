"""Two runs over the same tasks, task by task: which both have right, which flipped, how far they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from pydantic import BaseModel

from fieldmark.evals.comparison.significance import PairedTable, exact_p, mid_p
from fieldmark.evals.judges.normalise import fold_case
from fieldmark.evals.metrics.accuracy import CORRECT
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.outcomes import DONE, Cell, cells
from fieldmark.evals.metrics.shares import Interval
from fieldmark.rundir import RunDir


class Unpaired(BaseModel):
    """Tasks left out of a comparison, and why."""

    why: str
    ids: list[str]


class Paired(BaseModel):
    """b against a, over the tasks that both have done; fractions 0–1, None where no task is paired.

    `difference` is the strict accuracy of b less that of a, `interval` its 95 % interval, resampled by
    `clusters`. `lost` are the tasks that only a has right, `gained` those that only b has.
    `p_holm`: `p_exact` corrected for all comparisons made together.
    """

    a: str
    b: str
    table: PairedTable
    accuracy_a: float | None
    accuracy_b: float | None
    difference: float | None
    interval: Interval | None
    clusters: int
    p_exact: float
    p_mid: float
    p_holm: float
    lost: list[str]
    gained: list[str]
    unpaired: list[Unpaired]


class Side:
    """One run as a side of comparisons."""

    def __init__(self, run: RunDir) -> None:
        self.run = run
        self.cells = cells(run)
        self.name = str(run.config().get("name") or run.path.name)
        self.partial = any(cell.record is None for cell in self.cells)
        self.asked = {str(row.get("id")): _asked(row) for row in run.tasks()}
        self.ids = list(dict.fromkeys([*self.asked, *(cell.id for cell in self.cells)]))
        self.scores = _scores(self.cells)
        self.tops = {cell.id: cell.top for cell in self.cells}
        self.targets = {task: fold_case(gold.answer) for task, gold in run.gold().items()}


def _asked(row: Mapping[str, Any]) -> tuple[str, Any]:
    """Question and picture of a task; the same lines in another order (options, shuffled) ask the same."""
    lines = sorted(str(row.get("question") or "").splitlines())
    return "\n".join(lines), row.get("source_sha256")


def compare(a: Side, b: Side, *, seed: int = 0) -> Paired:
    """`p_holm` is for one comparison alone; the caller corrects several."""
    unpaired = _unpaired(a, b)
    right = rights(a, b)
    tasks = list(right)
    differences = {task: b.scores[task] - a.scores[task] for task in tasks}
    groups = clusters(tasks, {**b.targets, **a.targets})
    lost, gained = ([task for task in tasks if right[task] == way] for way in ((True, False), (False, True)))
    both = sum(right[task] == (True, True) for task in tasks)
    table = PairedTable(
        both=both, only_a=len(lost), only_b=len(gained), neither=len(tasks) - both - len(lost) - len(gained)
    )
    p = exact_p(table)
    return Paired(
        a=a.name, b=b.name, table=table,
        accuracy_a=_mean(a.scores[task] for task in tasks),
        accuracy_b=_mean(b.scores[task] for task in tasks),
        difference=_mean(differences.values()),
        interval=resampled(
            [sum(differences[task] for task in group) for group in groups], [len(group) for group in groups],
            seed=seed,
        ),
        clusters=len(groups), p_exact=p, p_mid=mid_p(table), p_holm=p,
        lost=lost, gained=gained, unpaired=unpaired,
    )  # fmt: skip


def rights(a: Side, b: Side) -> dict[str, tuple[bool, bool]]:
    """Each task that is paired, in run order → whether a and b have it right."""
    left_out = {task for group in _unpaired(a, b) for task in group.ids}
    tasks = [task for task in a.ids if task in b.scores and task in a.scores and task not in left_out]
    return {task: (is_right(a.scores[task]), is_right(b.scores[task])) for task in tasks}


def is_right(score: float) -> bool:
    """Whether a task counts as right in the paired table: in more than half of its epochs."""
    return score > 0.5


def _scores(grid: list[Cell]) -> dict[str, float]:
    """Task → its share of correct epochs, of those done; a task with none done is not there."""
    done: defaultdict[str, list[bool]] = defaultdict(list)
    for cell in grid:
        if cell.outcome in DONE:
            done[cell.id].append(cell.outcome in CORRECT)
    return {task: fmean(hits) for task, hits in done.items()}


def clusters(tasks: list[str], targets: dict[str, str]) -> list[list[str]]:
    """Tasks with the same target, which stand or fall together; a task without gold stands alone."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for task in tasks:
        target = targets.get(task)
        groups[("target", target) if target else ("task", task)].append(task)
    return list(groups.values())


def _unpaired(a: Side, b: Side) -> list[Unpaired]:
    shared = [task for task in a.ids if task in set(b.ids)]
    known = [task for task in shared if task in a.asked and task in b.asked]
    other = [task for task in known if a.asked[task] != b.asked[task]]
    found = {
        f"only in {a.name}": [task for task in a.ids if task not in set(b.ids)],
        f"only in {b.name}": [task for task in b.ids if task not in set(a.ids)],
        "another question or picture under the same id": other,
    }
    for side in (a, b):
        lacking = [task for task in shared if task not in side.scores and task not in set(other)]
        found[f"not run, broken or unjudged in {side.name}"] = lacking
    return [Unpaired(why=why, ids=ids) for why, ids in found.items() if ids]


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
