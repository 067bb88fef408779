"""The tables and plots of a run as they are read: what came out, why, how, at what cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fieldmark.evals.amigo.tables import tables as game_tables
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.accuracy_tables import categories_table, group_tables, splits_table
from fieldmark.evals.report.act_tables import (
    calls_table,
    errors_table,
    marginal_table,
    skills_table,
    tool_use_table,
)
from fieldmark.evals.report.calibration_table import calibration_table
from fieldmark.evals.report.chain_tables import chain_tables
from fieldmark.evals.report.cluster_table import clusters_table
from fieldmark.evals.report.configuration_table import configuration_table
from fieldmark.evals.report.failure_tables import failure_tables
from fieldmark.evals.report.heat_table import heat_table
from fieldmark.evals.report.judging_table import judging_table
from fieldmark.evals.report.levels_table import levels_table
from fieldmark.evals.report.memory_table import memory_tables
from fieldmark.evals.report.phases_table import phases_table
from fieldmark.evals.report.picture_tables import leaks_table, sight_table
from fieldmark.evals.report.pix2fact_table import pix2fact_table
from fieldmark.evals.report.plots import Plot
from fieldmark.evals.report.repeats_table import repeats_table
from fieldmark.evals.report.run_plots import acts_plots, failures_plot
from fieldmark.evals.report.runtime_plots import runtime_plots
from fieldmark.evals.report.runtime_tables import runtime_table, spread_table
from fieldmark.evals.report.status_table import statuses_table
from fieldmark.evals.report.support_tables import funnel_table, support_table
from fieldmark.evals.report.table import Table
from fieldmark.evals.report.usage_table import usage_table
from fieldmark.evals.report.variants_table import variants_table


@dataclass(frozen=True)
class Section:
    """One part of a run's report. `first` are the tables that only a page shows, before all others; the
    figures of each plot stand in a table of its section.
    """

    title: str
    tables: list[Table]
    first: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)


def sections(summary: Summary) -> list[Section]:
    """Those that have anything to say. A model without sight is marked in the title of each table."""
    made = [
        Section("Where it fails", [], first=[clusters_table(summary)]),
        Section("Accuracy", _accuracy(summary), first=[heat_table(summary)]),
        Section("The games", game_tables(summary.games) if summary.games else []),
        Section(
            "Why answers were wrong",
            [*failure_tables(summary), *chain_tables(summary)],
            plots=failures_plot(summary),
        ),
        Section("How episodes ended", [statuses_table(summary)]),
        Section("What the agent did", _acts(summary), plots=acts_plots(summary)),
        Section(
            "Time",
            [runtime_table(summary), phases_table(summary)],
            first=[spread_table(summary)],
            plots=runtime_plots(summary),
        ),
        Section("Cost", [usage_table(summary)]),
        Section("How far to believe it", _validity(summary)),
        Section("Configuration", [], first=[configuration_table(summary)]),
    ]
    blind = "" if summary.run.sees else " · no vision"
    marked = [
        replace(each, tables=_shown(each.tables, blind), first=_shown(each.first, blind)) for each in made
    ]
    return [each for each in marked if each.tables or each.first]


def tables(summary: Summary) -> list[Table]:
    """Every table of a run but those for a page alone, in the same order."""
    return [table for section in sections(summary) for table in section.tables]


def _accuracy(summary: Summary) -> list[Table]:
    return [
        categories_table(summary),
        splits_table(summary),
        *group_tables(summary),
        variants_table(summary),
        pix2fact_table(summary),
        levels_table(summary),
        repeats_table(summary),
    ]


def _acts(summary: Summary) -> list[Table]:
    return [
        tool_use_table(summary),
        calls_table("Calls by tool", summary.by_tool),
        calls_table("Calls by action", summary.by_action),
        errors_table(summary),
        skills_table(summary),
        marginal_table(summary),
        *memory_tables(summary.memory),
    ]


def _validity(summary: Summary) -> list[Table]:
    return [
        support_table(summary),
        funnel_table(summary),
        leaks_table(summary),
        judging_table(summary),
        calibration_table(summary),
        sight_table(summary),
    ]


def _shown(found: list[Table], mark: str) -> list[Table]:
    return [replace(table, title=table.title + mark) for table in found if table.rows]
