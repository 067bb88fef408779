"""What a study would take, and what its comparison could find, told before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from fieldmark import estimate
from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.estimate import Amount, Estimate
from fieldmark.evals.comparison.power import Detectable, detectable
from fieldmark.study.carrying_out import is_done
from fieldmark.study.folder import StudyDir
from fieldmark.study.study import Study

BASELINE, SHARED, REPEAT = 0.25, 0.5, 0.7
"""What `fieldmark power` assumes when nothing is said."""


class StudyEstimate(BaseModel):
    """`runs` are arms × orders, `done` those of them that are finished; the amounts are those of the others.

    `tasks` and `epochs` are those of each run, the most where they differ. `estimated` is None unless an
    earlier run says something of every run. `detectable`: of a comparison of two arms, orders not counted.
    """

    benchmark: str
    arms: int
    orders: int
    runs: int
    done: int
    tasks: int
    epochs: int
    episodes: int
    at_most: Amount
    estimated: Amount | None
    like: list[str]
    detectable: Detectable


def estimate_study(study: Study) -> StudyEstimate:
    """Needs no engine, asks no server, writes nothing. UsageError for names and files that are not there."""
    folder = StudyDir(study.path)
    left = [run for run in study.runs if not is_done(folder.run(run.name))]
    each = {run.name: _one(study, run.name) for run in study.runs}
    told = [each[run.name] for run in left]
    tasks, epochs = (max(getattr(one, name) for one in each.values()) for name in ("tasks", "epochs"))
    likely = [one.estimated for one in told if one.estimated]
    return StudyEstimate(
        benchmark=next(iter(each.values())).benchmark,
        arms=len(study.arms), orders=len(study.runs) // len(study.arms),
        runs=len(study.runs), done=len(study.runs) - len(left), tasks=tasks, epochs=epochs,
        episodes=sum(one.episodes for one in told),
        at_most=_capped(study, _sum(one.at_most for one in told)),
        estimated=_sum(likely) if len(likely) == len(told) else None,
        like=sorted({one.like for one in told if one.like}),
        detectable=detectable(tasks, epochs=epochs, baseline=BASELINE, shared=SHARED, repeat=REPEAT),
    )  # fmt: skip


def lines(told: StudyEstimate) -> list[str]:
    """The estimate for a person."""
    orders = f" × {told.orders} orders" if told.orders > 1 else ""
    arms, tasks = counted(told.arms, "arm"), counted(told.tasks, "task")
    grid = f"{arms}{orders} × {tasks} × {counted(told.epochs, 'epoch')}"
    done = f"; {told.done} of {counted(told.runs, 'run')} done" if told.done else ""
    by = f" (as {', '.join(told.like)})" if told.like else ""
    likely = estimate.amount_line(told.estimated) if told.estimated else "nothing to go by for every arm"
    return [
        f"{told.benchmark}: {grid}{done}: {counted(told.episodes, 'episode')} to run",
        f"at most (limits): {estimate.amount_line(told.at_most)}",
        f"estimated{by}: {likely}",
        *_detectable_lines(told.detectable),
    ]


def _detectable_lines(found: Detectable) -> list[str]:
    if found.effect is None:
        return ["two arms compared: no improvement is found with probability 0.8; take more tasks"]
    return [
        f"two arms compared: an improvement of {100 * found.effect:.1f} points or more over "
        f"{100 * found.baseline:g} % is found with probability {found.power:g} at level {found.alpha:g} "
        "(`fieldmark power` has the assumptions)"
    ]


def _one(study: Study, name: str) -> Estimate:
    run = next(run for run in study.runs if run.name == name)
    try:
        return estimate.estimate(run.config.model_copy(update={"out": study.path}))  # earlier runs: beside it
    except UsageError as error:
        raise UsageError(f"arm {run.arm.name}: {error}") from None


def _capped(study: Study, amount: Amount) -> Amount:
    """`--max-cost` and `--max-hours` are those of the whole study."""
    config = study.runs[0].config
    return amount.model_copy(
        update={"usd": _least(amount.usd, config.max_cost), "hours": _least(amount.hours, config.max_hours)}
    )


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _sum(amounts: Iterable[Amount]) -> Amount:
    """Of each kind, None where one of them is not known."""
    found = list(amounts)
    kinds: dict[str, Any] = {kind: [getattr(one, kind) for one in found] for kind in Amount.model_fields}
    return Amount(**{kind: None if None in values else sum(values) for kind, values in kinds.items()})
