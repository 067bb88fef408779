"""A Summary as plain tables of text, for every way of showing them."""

from __future__ import annotations

from dataclasses import replace

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.accuracy_tables import categories_table, group_tables, splits_table
from fieldmark.evals.report.act_tables import calls_table, marginal_table, skills_table, tool_use_table
from fieldmark.evals.report.calibration_table import calibration_table
from fieldmark.evals.report.failure_tables import failure_tables, pooled_table
from fieldmark.evals.report.figures import count, interval, marks, number, percent
from fieldmark.evals.report.judging_table import judging_table
from fieldmark.evals.report.levels_table import levels_table
from fieldmark.evals.report.memory_table import memory_tables
from fieldmark.evals.report.phases_table import phases_table
from fieldmark.evals.report.picture_tables import leaks_table, sight_table
from fieldmark.evals.report.pix2fact_table import pix2fact_table
from fieldmark.evals.report.repeats_table import repeats_table
from fieldmark.evals.report.support_tables import funnel_table, support_table
from fieldmark.evals.report.table import Table
from fieldmark.evals.report.usage_table import usage_table


def tables(summary: Summary) -> list[Table]:
    """Every table of a run, accuracy first. A model without sight is marked in each title."""
    made = [
        categories_table(summary),
        splits_table(summary),
        *group_tables(summary),
        pix2fact_table(summary),
        levels_table(summary),
        repeats_table(summary),
        leaks_table(summary),
        support_table(summary),
        funnel_table(summary),
        judging_table(summary),
        _statuses(summary),
        *failure_tables(summary),
        tool_use_table(summary),
        calls_table("Calls by tool", summary.by_tool),
        calls_table("Calls by action", summary.by_action),
        skills_table(summary),
        marginal_table(summary),
        *memory_tables(summary.memory),
        _runtime(summary),
        phases_table(summary),
        usage_table(summary),
        calibration_table(summary),
        sight_table(summary),
    ]
    blind = "" if summary.run.sees else " · no vision"
    return [replace(table, title=table.title + blind) for table in made if table.rows]


def comparisons(summaries: list[Summary]) -> list[Table]:
    """What stands beside each other of several runs."""
    return [table for table in (comparison(summaries), pooled_table(summaries)) if table.rows]


def comparison(summaries: list[Summary]) -> Table:
    """The headlines of several runs, one a row."""
    columns = "run|agent|model|correct /done|strict %|CI 95%|soft %|usage %|avg. acts".split("|")
    rows = [_headline_row(summary) for summary in summaries]
    note = "strict = correct/done, all splits and categories."
    benchmarks = sorted({summary.run.benchmark for summary in summaries})
    if len(benchmarks) > 1:
        note += f" Not comparable: the benchmarks differ ({', '.join(benchmarks)})."
    return Table("Runs compared", note, columns, rows, 3)


def _headline_row(summary: Summary) -> list[str]:
    row, use = summary.accuracy.headline, summary.tool_use
    return [
        summary.run.name + marks(summary),
        summary.run.agent,
        summary.run.model,
        count(row.strict),
        percent(row.strict.fraction),
        interval(row.interval),
        percent(row.soft.fraction),
        percent(use.usage.fraction),
        number(use.mean_acts),
    ]


def _statuses(summary: Summary) -> Table:
    note = "The agent's statuses count in every denominator; ours is apart, and --resume tries it again."
    rows = [
        [row.status, row.whose, str(row.count), str(row.of), percent(row.count / row.of if row.of else None)]
        for row in summary.statuses
    ]
    return Table("How episodes ended", note, ["status", "whose", "episodes", "of", "%"], rows, 2)


def _runtime(summary: Summary) -> Table:
    note = (
        "Of episodes that ended by the agent's doing. wall: since the lease, FIKA-Bench's reading; charged: "
        "without the gateway's own waiting, the limit's clock. Quantiles: linear interpolation (type 7)."
    )
    rows = [
        [
            row.top,
            row.clock,
            str(row.n),
            number(row.median, 1),
            number(row.p90, 1),
            count(row.near_limit),
            percent(row.near_limit.fraction),
        ]
        for row in summary.runtime
    ]
    columns = ["category", "clock", "episodes", "median s", "p90 s", "≥ 239 s", "≥ 239 s %"]
    totals = frozenset(index for index, row in enumerate(summary.runtime) if row.top == ALL)
    return Table("Runtime", note, columns, rows, 2, totals)
