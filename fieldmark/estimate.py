"""What a run would take, told before it begins: upper bounds, and what an earlier run like it took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fieldmark import preflight
from fieldmark.config import RunConfig
from fieldmark.counting import counted
from fieldmark.doctor.machine import cores, memory
from fieldmark.errors import UsageError
from fieldmark.prices import Costs
from fieldmark.records import AGENT_STATUSES, EpisodeRecord
from fieldmark.run_models import make_costs
from fieldmark.rundir import RunDir


class Amount(BaseModel):
    """Model calls, tokens (input and output), USD, and hours of the whole run; None: not known, no bound."""

    calls: int | None
    tokens: int | None
    usd: float | None
    hours: float | None


class Estimate(BaseModel):
    """A run that has not begun. `like` is the earlier run that `estimated` goes by, of so many episodes."""

    benchmark: str
    arms: int
    tasks: int
    epochs: int
    episodes: int
    at_most: Amount
    estimated: Amount | None
    like: str | None
    like_episodes: int


def estimate(config: RunConfig) -> Estimate:
    """Needs no engine, asks no server, writes nothing. UsageError for names and files that are not there."""
    benchmark, tasks, agent, _ = preflight.load(config)
    costs = make_costs(config)
    arms, epochs = 1, config.epochs
    episodes = arms * len(tasks) * epochs
    fitting = preflight.needs_of(agent, []).fit(cores(), memory()[0])
    parallel = preflight.settled_parallel(config, fitting)
    like = next(earlier_runs(config), None)
    return Estimate(
        benchmark=benchmark.name, arms=arms, tasks=len(tasks), epochs=epochs, episodes=episodes,
        at_most=at_most(config, costs, episodes, parallel),
        estimated=scaled(like[1], episodes, parallel) if like else None,
        like=str(like[0]) if like else None,
        like_episodes=len(like[1]) if like else 0,
    )  # fmt: skip


def at_most(config: RunConfig, costs: Costs, episodes: int, parallel: int) -> Amount:
    """What the limits allow, all going well; an episode's last call may go over those of tokens and USD."""
    limits, free = config.limits, all(price and price.free for price in costs.prices.values())
    hours = -(-episodes // parallel) * limits.seconds / 3600
    money = [0.0] if free else []
    money += [limits.cost * episodes] if limits.cost else []
    money += [config.max_cost] if config.max_cost is not None else []
    return Amount(
        calls=limits.model_calls * episodes if limits.model_calls else None,
        tokens=limits.tokens * episodes if limits.tokens else None,
        usd=min(money) if money else None,
        hours=hours if config.max_hours is None else min(hours, config.max_hours),
    )


def scaled(records: list[EpisodeRecord], episodes: int, parallel: int) -> Amount:
    """The mean of finished episodes, times so many. Unknown tokens and costs are left out of their mean."""
    tokens = [
        each.tokens.input + each.tokens.output
        for each in records
        if each.tokens and each.tokens.input is not None and each.tokens.output is not None
    ]
    costs = [each.cost for each in records if each.cost is not None]
    calls = [each.counts["model_calls"] for each in records if "model_calls" in each.counts]
    seconds = _mean([each.seconds for each in records]) or 0.0
    return Amount(
        calls=_whole(_times(_mean(calls), episodes)),
        tokens=_whole(_times(_mean(tokens), episodes)),
        usd=_times(_mean(costs), episodes),
        hours=seconds * episodes / min(parallel, episodes or 1) / 3600,
    )


def earlier_runs(config: RunConfig) -> Iterator[tuple[Path, list[EpisodeRecord]]]:
    """Finished runs of the same agent and model beside the one to come, newest first, with their episodes."""
    beside = config.out.parent if config.out else Path("runs")
    files = sorted(beside.glob("*/run.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for path in (file.parent for file in files):
        try:
            run = RunDir.open(path)
            told = run.config()
        except UsageError:
            continue
        model = told.get("model")
        name = model.get("name") if isinstance(model, dict) else None
        if (told.get("state"), told.get("agent"), name) != ("finished", config.agent, config.model.name):
            continue
        if done := [record for record in run.episodes() if record.status in AGENT_STATUSES]:
            yield path, done


def lines(told: Estimate) -> list[str]:
    """The estimate for a person."""
    epochs = f"{told.epochs} epoch{'s' if told.epochs > 1 else ''}"
    grid = f"{told.arms} arm × {counted(told.tasks, 'task')} × {epochs} = {counted(told.episodes, 'episode')}"
    found = [f"{told.benchmark}: {grid}", f"at most (limits): {amount_line(told.at_most)}"]
    if told.estimated is None:
        return [*found, "estimated: nothing to go by: no finished run of this agent and model beside it"]
    by = f"as {told.like}, {counted(told.like_episodes, 'episode')}"
    return [*found, f"estimated ({by}): {amount_line(told.estimated)}"]


def amount_line(amount: Amount) -> str:
    """Its four figures in one line."""
    return ", ".join(
        [
            f"{_number(amount.calls)} model calls",
            f"{_number(amount.tokens)} tokens",
            "? USD" if amount.usd is None else f"{amount.usd:.2f} USD",
            "? hours" if amount.hours is None else f"{amount.hours:.2f} hours",
        ]
    )


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _mean(values: list[Any]) -> float | None:
    return sum(values) / len(values) if values else None


def _times(value: float | None, episodes: int) -> float | None:
    return None if value is None else value * episodes


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
