"""How the answers were judged, where there is more to say than the judge's name."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, percent
from fieldmark.evals.report.table import Table


def judging_table(summary: Summary) -> Table:
    """Agreement of a panel, replies that were mended, finer answers; no rows where there is nothing of it."""
    facts = summary.judging
    rows = [
        ["votes agree, mean", counted(facts.voted, "answer"), percent(facts.agreement)],
        ["unanimous", count(facts.unanimous), percent(facts.unanimous.fraction)],
        ["tied, so uncertain", f"{facts.tied}/{facts.voted}", _share(facts.tied, facts.voted)],
    ]
    mended = [
        ["reply mended", f"{facts.repaired}/{facts.judged}", _share(facts.repaired, facts.judged)],
        [
            "reply cut in its reason",
            f"{facts.truncated}/{facts.judged}",
            _share(facts.truncated, facts.judged),
        ],
    ]
    finer = [["correct, and finer than the reference", count(facts.finer), percent(facts.finer.fraction)]]
    shown = [
        *(rows if facts.voted else []),
        *(mended if facts.repaired or facts.truncated else []),
        *(finer if facts.finer.count else []),
    ]
    note = (
        "votes agree: the share of an answer's votes that its most frequent label has; finer: more specific."
    )
    return Table("Judging", note, ["what", "of", "%"], shown)


def _share(some: int, of: int) -> str:
    return percent(some / of if of else None)
