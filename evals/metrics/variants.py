"""Every way of scoring the Fine-R1 evaluation over one and the same run, and what the first option is worth.

A share is a mean over tasks (an answer of several epochs: their mean) of one dataset and split. `macro` is
the unweighted mean over the datasets that are there, "both" the mean of the macros of seen and unseen.
Episodes that ended by the agent's doing count; one without an answer scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.benchmarks.fine_r1.files import DATASETS, SPLITS
from fieldmark.evals.benchmarks.fine_r1.items import passes_by_accident
from fieldmark.evals.benchmarks.fine_r1.scoring import SCORES, VARIANTS, Variant
from fieldmark.evals.judges.base import Given
from fieldmark.evals.judges.fine_r1 import SEMANTIC
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.shares import Share
from fieldmark.judging.episodes import given, given_by
from fieldmark.records import AGENT_STATUSES
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from fieldmark.trace import Answer

BENCHMARK = "fine-r1"
BOTH = "both"
FIRST = "always the first option"
Answers = Mapping[tuple[str, int], Answer | None]
Score = Callable[[Cell, Gold], float | None]
"""0–1; None: there is no word of that kind on this episode."""


class VariantRow(BaseModel):
    """Fractions 0–1 by dataset, with the tasks of each in `n`; `macro` over those that have one."""

    name: str
    split: str
    fractions: dict[str, float]
    n: dict[str, int]
    macro: float | None


class Variants(BaseModel):
    """`options`: the order of the options; None in the open world. `absent`: split → the datasets without a
    task done. `by_accident`: tasks whose reference is part of another option, over all with options.
    """

    world: str
    options: str | None
    rows: list[VariantRow]
    absent: dict[str, list[str]]
    by_accident: Share


def variants(run: RunDir, grid: list[Cell], answers: Answers | None = None) -> Variants | None:
    """None for another benchmark, or without gold. `answers`: the last answer of each trace, where the traces
    were read already.
    """
    told, gold = run.config().get("benchmark"), run.gold()
    if not isinstance(told, dict) or told.get("name") != BENCHMARK or not gold:
        return None
    about = told.get("data") or {}
    done = [cell for cell in grid if cell.record and cell.record.status in AGENT_STATUSES and cell.id in gold]
    closed = any(gold[cell.id].options for cell in done)
    offered = {cell.id: gold[cell.id] for cell in done if gold[cell.id].options}
    rows = [
        row
        for name, score in _scores(run, done, answers, closed=closed).items()
        for row in _rows(name, score, done, gold)
    ]
    return Variants(
        world="closed" if closed else "open",
        options=str(about.get("options") or "?") if closed else None,
        rows=rows,
        absent={
            split: [name for name in DATASETS if not any((c.split, c.top) == (split, name) for c in done)]
            for split in SPLITS
        },
        by_accident=Share.of(
            sum(passes_by_accident(each.answer, each.options) for each in offered.values()), len(offered)
        ),
    )


def _scores(run: RunDir, done: list[Cell], answers: Answers | None, *, closed: bool) -> dict[str, Score]:
    """The variants that are defined for the run's world, and what else is known of it."""
    said = {
        record.key: given(run, record, record.answer)
        if answers is None
        else given_by(record, record.answer, answers.get(record.key))
        for cell in done
        if (record := cell.record)
    }
    named = [name for name in VARIANTS if closed or name != "closed-strict"]
    scores: dict[str, Score] = {name: _by_rule(name, said) for name in named}
    return {**scores, **_semantic(run), **({FIRST: _first} if closed else {})}


def _by_rule(name: Variant, said: Mapping[tuple[str, int], Given]) -> Score:
    def score(cell: Cell, gold: Gold) -> float:
        assert cell.record
        if cell.record.status != "answered":
            return 0.0
        return float(SCORES[name](said[cell.record.key], gold))

    return score


def _first(cell: Cell, gold: Gold) -> float:
    """What an agent would have that chose the first option of each, whatever is seen."""
    return float(SCORES["closed-strict"](Given(gold.options[0]), gold)) if gold.options else 0.0


def _semantic(run: RunDir) -> dict[str, Score]:
    """Of each text tower and rule that has judged the run, its scores: "semantic (RULE)"."""
    told, found = run.config().get("judges"), {}
    for judge in sorted(
        {verdict.judge for verdict in run.all_verdicts() if verdict.judge.startswith(SEMANTIC)}
    ):
        scored = {verdict.key: verdict.score for verdict in run.all_verdicts() if verdict.judge == judge}
        about = told.get(judge, {}) if isinstance(told, dict) else {}
        name = f"semantic ({about.get('super_category', '?')})"
        found[name if name not in found else f"{name} {judge.rpartition('/')[2]}"] = _stored(scored)
    return found


def _stored(scored: Mapping[tuple[str, int], float]) -> Score:
    return lambda cell, gold: scored.get((cell.id, cell.epoch))


def _rows(name: str, score: Score, done: list[Cell], gold: Mapping[str, Gold]) -> list[VariantRow]:
    rows = [_row(name, split, score, done, gold) for split in SPLITS]
    macros = [row.macro for row in rows if row.macro is not None]
    both = fmean(macros) if len(macros) == len(SPLITS) else None
    return [*rows, VariantRow(name=name, split=BOTH, fractions={}, n={}, macro=both)]


def _row(name: str, split: str, score: Score, done: list[Cell], gold: Mapping[str, Gold]) -> VariantRow:
    means: dict[str, list[float]] = {}
    for dataset in DATASETS:
        tasks: dict[str, list[float]] = {}
        for cell in done:
            if (cell.split, cell.top) == (split, dataset):
                value = score(cell, gold[cell.id])
                if value is not None:
                    tasks.setdefault(cell.id, []).append(value)
        if tasks:
            means[dataset] = [fmean(values) for values in tasks.values()]
    fractions = {dataset: fmean(values) for dataset, values in means.items()}
    return VariantRow(
        name=name,
        split=split,
        fractions=fractions,
        n={dataset: len(values) for dataset, values in means.items()},
        macro=fmean(fractions.values()) if fractions else None,
    )
