"""All figures of one run in one JSON-able value; terminal, HTML and `--json` only format it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from fieldmark.evals.amigo.of_run import games_of
from fieldmark.evals.amigo.summary import Figures, figures
from fieldmark.evals.comparison.differences import made_with
from fieldmark.evals.facts.stored import stored_facts
from fieldmark.evals.metrics.accuracy import Accuracy, accuracy
from fieldmark.evals.metrics.by_skill import SkillRow, by_skill
from fieldmark.evals.metrics.calibration import Calibration, calibration
from fieldmark.evals.metrics.caveats import caveats_of, sight_caveats
from fieldmark.evals.metrics.chain import Chain, chain
from fieldmark.evals.metrics.clusters import Cluster, clusters
from fieldmark.evals.metrics.episode_rows import EpisodeRow, episode_rows
from fieldmark.evals.metrics.failures import Failures, failures
from fieldmark.evals.metrics.groups import Grouped, grouped
from fieldmark.evals.metrics.judging import JudgingFacts, judging
from fieldmark.evals.metrics.kept_reading import read_traces
from fieldmark.evals.metrics.leaks import LeakFacts, leak_facts
from fieldmark.evals.metrics.levels import LevelRow, levels
from fieldmark.evals.metrics.marginal import MarginalRow, marginal
from fieldmark.evals.metrics.memory import MemoryFacts, memory_facts
from fieldmark.evals.metrics.outcomes import Cell, cells
from fieldmark.evals.metrics.pix2fact import PaperScores, paper_scores
from fieldmark.evals.metrics.repeats import Repeats, repeats
from fieldmark.evals.metrics.runtime import PhaseRow, RuntimeRow, phase_rows, runtime
from fieldmark.evals.metrics.sight import SightFacts, sight
from fieldmark.evals.metrics.spread import Spread, spread
from fieldmark.evals.metrics.statuses import StatusRow, statuses
from fieldmark.evals.metrics.support import Facts, Support, support
from fieldmark.evals.metrics.tool_use import CallsRow, ErrorRow, ToolUse, by_action, by_tool, errors, tool_use
from fieldmark.evals.metrics.usage import Money, UsageRow, judges_usage, money, usage
from fieldmark.evals.metrics.variants import Variants, variants
from fieldmark.records import AGENT_STATUSES, PERSON, Leak
from fieldmark.rundir import RunDir


class RunFacts(BaseModel):
    """What run.json says of the run, "?" where it does not. `sees`: the model takes pictures.

    A replayed model is marked as one, and does not see: it says what it said then. `image` is what stood in
    for the pictures (`--image`): full, blank or a number of pixels. `view` is its name in the addresses of
    `fieldmark view`, `limit` the seconds that an episode may take, None where run.json does not say.
    """

    name: str
    view: str
    benchmark: str
    agent: str
    model: str
    sees: bool
    image: str
    tools: list[str]
    judges: list[str]
    state: str
    started: str
    limit: float | None


class Summary(BaseModel):
    """The tables of one run. `partial` is true while a task × epoch has no episode.

    `games`: of AMIGO, by τ and all.
    """

    run: RunFacts
    tasks: int
    epochs: int
    partial: bool
    accuracy: Accuracy
    groups: list[Grouped]
    paper: PaperScores | None
    levels: list[LevelRow]
    variants: Variants | None
    repeats: Repeats | None
    calibration: Calibration
    statuses: list[StatusRow]
    tool_use: ToolUse
    by_tool: list[CallsRow]
    by_action: list[CallsRow]
    errors: list[ErrorRow]
    by_skill: list[SkillRow]
    marginal: list[MarginalRow]
    memory: MemoryFacts | None
    runtime: list[RuntimeRow]
    spread: list[Spread]
    phases: list[PhaseRow]
    usage: list[UsageRow]
    money: Money
    sight: SightFacts
    leaks: LeakFacts
    support: Support
    judging: JudgingFacts
    failures: Failures
    chain: Chain | None
    games: list[Figures]
    clusters: list[Cluster]
    episodes: list[EpisodeRow]
    made_with: list[tuple[str, str, str]]
    caveats: list[str]


def summarise(
    run: RunDir,
    leaks: Mapping[tuple[str, int], Leak] | None = None,
    facts: Facts | None = None,
    *,
    every_call: bool = False,
) -> Summary:
    """Read a run folder once; `leaks` and `facts` stand for those it has stored. UsageError: no readable
    run.json. What a person did is in no trace, so that it is in no table of acts. `every_call`: skills,
    memory, to-do lists and sub-agents enter usage and average acts too.
    """
    config, grid, uses = run.config(), cells(run), run.judge_uses()
    refused = config.get("refused")
    traced = [cell.record for cell in grid if cell.record and cell.record.agent != PERSON]
    read = read_traces(run, traced)
    told = [
        (record, found)
        for record in traced
        if record.status in AGENT_STATUSES and (found := read[record.key])
    ]
    agents = [found.acts for _, found in told]
    actions = by_action(agents)
    seen = sight((record, found.sight) for record, found in told)
    about = run_facts(run, config, grid)
    rows = episode_rows(run, grid, {key: found.acts if found else None for key, found in read.items()})
    return Summary(
        run=about,
        tasks=len({cell.id for cell in grid}),
        epochs=len({cell.epoch for cell in grid}),
        partial=any(cell.record is None for cell in grid),
        accuracy=accuracy(grid),
        groups=grouped(grid),
        paper=paper_scores(run, grid),
        levels=levels(grid, run.gold()),
        variants=variants(run, grid, {key: found.answer if found else None for key, found in read.items()}),
        repeats=repeats(grid),
        calibration=calibration(grid),
        statuses=statuses(grid, len(refused) if isinstance(refused, list) else 0),
        tool_use=tool_use(agents, every_call=every_call),
        by_tool=by_tool(agents),
        by_action=actions,
        errors=errors(actions),
        by_skill=by_skill(agents, [found.skills for _, found in told], config),
        marginal=marginal(grid, {key: found.acts if found else None for key, found in read.items()}),
        memory=memory_facts(run, grid, {key: found.memory if found else None for key, found in read.items()}),
        runtime=runtime(grid),
        spread=spread(grid),
        phases=phase_rows(grid, {record.key: found.phases for record, found in told}),
        usage=[*usage(grid), *judges_usage(uses)],
        money=money(grid, uses, config),
        sight=seen,
        leaks=leak_facts(grid, run.leaks() if leaks is None else leaks),
        support=support(grid, stored_facts(run) if facts is None else facts),
        judging=judging(grid),
        failures=failures(run, grid),
        chain=chain(run, grid),
        games=figures([*games.values()]) if (games := games_of(run)) else [],
        clusters=clusters((row.failure, row.at, row.top) for row in rows if row.failure),
        episodes=rows,
        made_with=made_with(config),
        caveats=[
            *caveats_of(run, grid, sum(found is None for found in read.values())),
            *(sight_caveats(seen, config.get("probe")) if about.sees else []),
        ],
    )


def run_facts(run: RunDir, config: dict[str, Any], grid: list[Cell]) -> RunFacts:
    """What `config`, its run.json, says of a run."""
    model, benchmark = _dict(config.get("model")), _dict(config.get("benchmark"))
    tools, limit = config.get("tools"), _dict(config.get("limits")).get("seconds")
    replayed = "replays" in model
    return RunFacts(
        name=str(config.get("name") or run.path.name),
        view=run.view_name,
        benchmark=" ".join(str(benchmark[key]) for key in ("name", "version") if benchmark.get(key)) or "?",
        agent=str(config.get("agent") or "?"),
        model=str(model.get("name") or "?") + (" (replay)" if replayed else ""),
        sees=model.get("sees") is not False and not replayed,
        image=str(config.get("picture") or "full"),
        tools=[str(tool) for tool in tools] if isinstance(tools, list) else [],
        judges=sorted({cell.verdict.judge for cell in grid if cell.verdict}),
        state=str(config.get("state") or "?"),
        started=str(config.get("started") or "?"),
        limit=limit if isinstance(limit, int | float) and not isinstance(limit, bool) else None,
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
