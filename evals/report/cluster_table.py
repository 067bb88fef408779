"""Where a run fails most: wrong answers that are alike, the largest clusters first."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.clusters import Cluster
from fieldmark.evals.metrics.failures import NOT_CLASSIFIED
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.selection import Selection
from fieldmark.evals.report.table import Table

SHOWN = 15
"""Clusters in the table; the rest is told in its note."""


def selection_of(cluster: Cluster) -> Selection:
    """The episodes of a cluster."""
    return Selection.of(failure=cluster.failure, at=cluster.at, top=cluster.top)


def clusters_table(summary: Summary) -> Table:
    """No rows where no answer is wrong."""
    shown, rest = summary.clusters[:SHOWN], summary.clusters[SHOWN:]
    rows = [
        [each.failure, each.at, each.top, count(each.share), percent(each.share.fraction)] for each in shown
    ]
    note = (
        f"Of {summary.failures.wrong} wrong answers. ended at: the action of the last act before the answer, "
        "or the boundary of the error that ended the episode."
    )
    if rest:
        left = sum(round(each.share.count) for each in rest)
        note += (
            f" {counted(len(rest), 'smaller cluster')} with {counted(left, 'answer')} left out of the table."
        )
    if any(each.failure == NOT_CLASSIFIED for each in shown):
        note += f" {NOT_CLASSIFIED}: `fieldmark classify` names the classes."
    return Table(
        "Largest clusters of failures",
        note,
        ["failure", "ended at", "category", "answers /wrong", "%"],
        rows,
        3,
        behind={(line, 3): selection_of(each) for line, each in enumerate(shown)},
    )
