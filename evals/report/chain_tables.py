"""Where the chain broke first, as tables: shares of the wrong answers, pass rates, agreement."""

from __future__ import annotations

from fieldmark.evals.metrics.chain import Chain
from fieldmark.evals.metrics.failures import FailureShare
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.failure_tables import kappa
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.table import Table

NAMES = {
    "grounding": "visual grounding",
    "retrieval": "knowledge retrieval",
    "reasoning": "reasoning & synthesis",
}
"""The stages as the paper names them."""


def chain_tables(summary: Summary) -> list[Table]:
    """None where nothing was placed."""
    found = summary.chain
    return [_shares(found), _passed(found), _agreement(found)] if found else []


def _shares(found: Chain) -> Table:
    rows = [["stage", *_row(row)] for row in found.stages]
    rows += [[kind, *_row(row)] for kind, part in (("kind", found.kinds), ("said by", found.by))
             for row in part if row.share.count]  # fmt: skip
    note = (
        f"Of {found.wrong} wrong answers, by the scheme {found.scheme}: what broke first is the cause. "
        "presumed: by facts that leave another stage possible. Kinds without any are left out. CI: 95 %. "
        f"Placed by {', '.join(found.classifiers) or 'nobody yet'}. docs/taxonomy.md says how."
    )
    columns = ["what", "which", "count /wrong", "%", "CI 95%"]
    return Table(f"First broken link, {found.scheme}", note, columns, rows, 2)


def _passed(found: Chain) -> Table:
    note = (
        "Of the answers that reached a stage, those that passed it: the correct ones, and those that broke "
        f"later. {found.unplaced} wrong answers are in no stage, and not counted here."
    )
    rows = [_row(row) for row in found.passed]
    return Table(f"Stages passed, {found.scheme}", note, ["stage", "passed /reached", "%", "CI 95%"], rows)


def _agreement(found: Chain) -> Table:
    rows = [
        [pair.first, pair.second, count(pair.raw), percent(pair.raw.fraction), kappa(pair)]
        for pair in found.agreement
    ]
    note = "On the stage, of wrong answers that both have placed (`fieldmark label --scheme pix2fact`)."
    columns = ["one", "other", "same", "same %", "Cohen's κ [95 %]"]
    return Table(f"Agreement on the first broken link, {found.scheme}", note, columns, rows, 2)


def _row(row: FailureShare) -> list[str]:
    return [
        NAMES.get(row.name, row.name),
        count(row.share),
        percent(row.share.fraction),
        interval(row.interval),
    ]
