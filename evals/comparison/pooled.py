"""Several runs as one side of a comparison: the orders of an arm, or the arms that share a value."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from statistics import fmean

from fieldmark.evals.comparison.paired import Side


def pooled(name: str, sides: Sequence[Side]) -> Side:
    """A task's score is the mean over the sides. Only tasks that all of them have done have one: a side
    that lacks its hard tasks must not look better.
    """
    one = copy.copy(sides[0])
    one.name = name
    one.cells = [cell for side in sides for cell in side.cells]
    one.partial = any(side.partial for side in sides)
    one.asked = {task: told for side in reversed(sides) for task, told in side.asked.items()}
    one.ids = list(dict.fromkeys(task for side in sides for task in side.ids))
    one.targets = {task: target for side in sides for task, target in side.targets.items()}
    done = [task for task in sides[0].scores if all(task in side.scores for side in sides)]
    one.scores = {task: fmean(side.scores[task] for side in sides) for task in done}
    return one
