"""All figures of one run in one JSON-able value; terminal, HTML and `--json` only format it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from fieldmark.evals.metrics.accuracy import Accuracy, accuracy
from fieldmark.evals.metrics.acts import EpisodeActs, episode_acts
from fieldmark.evals.metrics.calibration import Calibration, calibration
from fieldmark.evals.metrics.caveats import caveats_of, sight_caveats
from fieldmark.evals.metrics.judging import JudgingFacts, judging
from fieldmark.evals.metrics.leaks import LeakFacts, leak_facts
from fieldmark.evals.metrics.marginal import MarginalRow, marginal
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.metrics.repeats import Repeats, repeats
from fieldmark.evals.metrics.runtime import RuntimeRow, runtime
from fieldmark.evals.metrics.sight import SightFacts, sight, sight_in
from fieldmark.evals.metrics.statuses import StatusRow, statuses
from fieldmark.evals.metrics.tool_use import CallsRow, ToolUse, by_action, by_tool, tool_use
from fieldmark.evals.metrics.usage import Money, UsageRow, money, usage
from fieldmark.records import AGENT_STATUSES, EpisodeRecord, Leak, Sight
from fieldmark.rundir import RunDir


class RunFacts(BaseModel):
    """What run.json says of the run, "?" where it does not. `sees`: the model takes pictures.

    A replayed model is marked as one, and does not see: it says what it said then. `image` is what stood in
    for the pictures (`--image`): full, blank or a number of pixels.
    """

    name: str
    benchmark: str
    agent: str
    model: str
    sees: bool
    image: str
    tools: list[str]
    judges: list[str]
    state: str
    started: str


class EpisodeRow(BaseModel):
    """One episode for the reader of a report. `seconds` is wall time; `acts` is None without a trace."""

    id: str
    epoch: int
    status: str
    answer: str | None
    verdict: str
    finer: bool
    seconds: float
    acts: int | None


class Summary(BaseModel):
    """The tables of one run. `partial` is true while a task × epoch has no episode."""

    run: RunFacts
    tasks: int
    epochs: int
    partial: bool
    accuracy: Accuracy
    repeats: Repeats | None
    calibration: Calibration
    statuses: list[StatusRow]
    tool_use: ToolUse
    by_tool: list[CallsRow]
    by_action: list[CallsRow]
    marginal: list[MarginalRow]
    runtime: list[RuntimeRow]
    usage: list[UsageRow]
    money: Money
    sight: SightFacts
    leaks: LeakFacts
    judging: JudgingFacts
    episodes: list[EpisodeRow]
    caveats: list[str]


def summarise(run: RunDir, leaks: Mapping[tuple[str, int], Leak] | None = None) -> Summary:
    """Read a run folder once; `leaks` stand for those it has stored. UsageError: no readable run.json."""
    config, grid = run.config(), cells(run)
    refused = config.get("refused")
    read = {cell.record.key: _read(run, cell.record) for cell in grid if cell.record}
    acts = {key: found and found[0] for key, found in read.items()}
    told = [
        (cell.record, found)
        for cell in grid
        if cell.record and cell.record.status in AGENT_STATUSES and (found := read[cell.record.key])
    ]
    agents = [found[0] for _, found in told]
    seen = sight((record, found[1]) for record, found in told)
    facts = _facts(run, config, grid)
    return Summary(
        run=facts,
        tasks=len({cell.id for cell in grid}),
        epochs=len({cell.epoch for cell in grid}),
        partial=any(cell.record is None for cell in grid),
        accuracy=accuracy(grid),
        repeats=repeats(grid),
        calibration=calibration(grid),
        statuses=statuses(grid, len(refused) if isinstance(refused, list) else 0),
        tool_use=tool_use(agents),
        by_tool=by_tool(agents),
        by_action=by_action(agents),
        marginal=marginal(grid, acts),
        runtime=runtime(grid),
        usage=usage(grid),
        money=money(grid),
        sight=seen,
        leaks=leak_facts(grid, run.leaks() if leaks is None else leaks),
        judging=judging(grid),
        episodes=[_episode(cell, cell.record, acts[cell.record.key]) for cell in grid if cell.record],
        caveats=[
            *caveats_of(run, grid, sum(found is None for found in acts.values())),
            *(sight_caveats(seen, config.get("probe")) if facts.sees else []),
        ],
    )


def _read(run: RunDir, record: EpisodeRecord) -> tuple[EpisodeActs, Sight] | None:
    """None when the trace is missing or cannot be read: unknown is not zero."""
    try:
        events = list(run.trace(record))
    except (ValidationError, OSError):
        return None
    return (episode_acts(events), sight_in(events)) if events else None


def _facts(run: RunDir, config: dict[str, Any], grid: list[Cell]) -> RunFacts:
    model, benchmark = _dict(config.get("model")), _dict(config.get("benchmark"))
    tools = config.get("tools")
    replayed = "replays" in model
    return RunFacts(
        name=str(config.get("name") or run.path.name),
        benchmark=" ".join(str(benchmark[key]) for key in ("name", "version") if benchmark.get(key)) or "?",
        agent=str(config.get("agent") or "?"),
        model=str(model.get("name") or "?") + (" (replay)" if replayed else ""),
        sees=model.get("sees") is not False and not replayed,
        image=str(config.get("picture") or "full"),
        tools=[str(tool) for tool in tools] if isinstance(tools, list) else [],
        judges=sorted({cell.verdict.judge for cell in grid if cell.verdict}),
        state=str(config.get("state") or "?"),
        started=str(config.get("started") or "?"),
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _episode(cell: Cell, record: EpisodeRecord, acts: EpisodeActs | None) -> EpisodeRow:
    return EpisodeRow(
        id=cell.id,
        epoch=cell.epoch,
        status=record.status,
        answer=record.answer,
        verdict=cell.outcome,
        finer=cell.outcome == "correct" and cell.verdict is not None and cell.verdict.finer,
        seconds=record.seconds,
        acts=None if acts is None else len(acts.acts),
    )
