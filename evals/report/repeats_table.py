"""Several epochs of a run: pass@k beside all-k, and how far the epochs differ."""

from __future__ import annotations

from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.table import Table


def repeats_table(summary: Summary) -> Table:
    """No rows for a run of one epoch."""
    told = summary.repeats
    columns = "k|tasks|pass@k %|CI 95%|all-k %|CI 95%".split("|")
    if told is None:
        return Table("Epochs", "", columns, [])
    rows = [
        [
            str(row.k),
            str(row.once.n),
            percent(row.once.fraction),
            interval(row.once_interval),
            percent(row.every.fraction),
            interval(row.every_interval),
        ]
        for row in told.rows
    ]
    each = ", ".join(f"{percent(share.fraction)} ({count(share)})" for share in told.by_epoch)
    spread = f"; standard deviation {percent(told.spread)} points" if told.spread is not None else ""
    note = (
        "pass@k: right at least once in k epochs; all-k: right in all k; both unbiased, over tasks with k "
        f"epochs done; CI: bootstrap over tasks. Strict %, epoch by epoch: {each}{spread}."
    )
    return Table("Epochs", note, columns, rows)
