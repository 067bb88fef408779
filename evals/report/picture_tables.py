"""What of the task picture reached the model; accuracy without the episodes that came upon a copy of it."""

from __future__ import annotations

from fieldmark.counting import counted
from fieldmark.evals.metrics.leaks import LeakFacts
from fieldmark.evals.metrics.shares import Share, wilson
from fieldmark.evals.metrics.summary import Summary
from fieldmark.evals.report.figures import count, interval, percent
from fieldmark.evals.report.table import Table


def sight_table(summary: Summary) -> Table:
    """How the picture was delivered; no rows for a model that is said to take no pictures."""
    seen = summary.sight
    size = f", at most {seen.largest[0]}x{seen.largest[1]} px" if seen.largest else ""
    rows: list[tuple[str, int]] = [
        ("its very bytes", seen.exact),
        (f"written anew or made smaller{size}", seen.resampled),
        ("not at all", seen.none),
        ("lost later", len(seen.lost)),
    ]
    of = seen.episodes
    shown = [[name, str(n), str(of), percent(n / of)] for name, n in rows if of]
    note = (
        "Of episodes in which the model was asked. lost later: reached it, and was missing from some "
        "request of the main conversation to the end."
    )
    columns = ["how it arrived", "episodes", "of", "%"]
    return Table("The picture reached the model", note, columns, shown if summary.run.sees else [])


def leaks_table(summary: Summary) -> Table:
    """Accuracy over all tasks, and without episodes that a copy gave the answer to, or that found one."""
    facts = summary.leaks
    rows = [
        _accuracy("all", 0, facts.all),
        _accuracy("without leaked", facts.leaked + facts.undecided, facts.without_leaked),
        _accuracy("without copied", facts.copied, facts.without_copied),
    ]
    columns = "episodes|left out|correct /done|strict %|CI 95%".split("|")
    return Table(
        "Accuracy without copies of the picture", _note(facts), columns, rows if facts.copied else []
    )


def _accuracy(name: str, left_out: int, share: Share) -> list[str]:
    return [name, str(left_out), count(share), percent(share.fraction), interval(wilson(share))]


def _note(facts: LeakFacts) -> str:
    note = (
        f"copied: {facts.copied} of {counted(facts.looked_at, 'episode')} came upon the task picture "
        f"itself. leaked: a correct answer stood with it, or it was a record of a source dataset "
        f"({facts.leaked})."
    )
    undecided = f" {facts.undecided} without gold to tell are taken for leaked." if facts.undecided else ""
    return note + undecided
