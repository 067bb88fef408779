"""What stands beside each other of several runs, as plain tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.metrics.persons import baseline
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.comparison_tables import comparison_tables
from fieldmark.evals.report.failure_tables import pooled_table
from fieldmark.evals.report.figures import count, interval, marks, number, percent
from fieldmark.evals.report.persons_table import persons_table
from fieldmark.evals.report.plots import Plot
from fieldmark.evals.report.run_plots import runs_plots
from fieldmark.evals.report.table import Table
from fieldmark.rundir import RunDir


def beside_each_other(runs: Sequence[RunDir], summaries: Sequence[Summary]) -> tuple[list[Table], list[Plot]]:
    """What a page of several runs begins with; nothing of one run. Each run is compared with the first, task
    by task, where they have tasks in common.
    """
    if len(runs) < 2:
        return [], []
    distinct = len({run.path.resolve() for run in runs}) == len(runs)
    made = comparison(runs) if distinct else None
    if made and not any(versus.paired.table.n for versus in made.versus):
        made = None
    persons = baseline(runs)
    tables = [*comparisons(list(summaries)), *([persons_table(persons)] if persons else [])]
    tables += comparison_tables(made) if made else []
    return tables, runs_plots(summaries, made)


def comparisons(summaries: list[Summary]) -> list[Table]:
    """What stands beside each other of several runs."""
    return [table for table in (headlines(summaries), pooled_table(summaries)) if table.rows]


def headlines(summaries: list[Summary]) -> Table:
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
