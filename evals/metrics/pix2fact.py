"""Accuracy as Pix2Fact scores it (arXiv 2602.00593, section 4.1), a table of its own, never a default one.

There an answer whose model calls failed three times is False, and so is one that its judge gave no word on.
Beside it stands accuracy without those, which is the default scoring's, and how many they are.
Counts are of episodes. Left out are tasks that were not run and episodes that another fault of ours broke.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.last_brace import last_brace
from fieldmark.evals.metrics.outcomes import DONE, NONE, Cell
from fieldmark.evals.metrics.shares import Share
from fieldmark.rundir import RunDir
from fieldmark.trace import Answer

PROTOCOL = "pix2fact"
_REFUSED = frozenset({"model_refused", "model_unavailable"})
"""How an agent ends whose model's server gave no reply."""


class PaperRow(BaseModel):
    """One category of one way of sorting (`by`: overall, scene, or a facet).

    `paper` counts `failed` calls and `unjudged` answers as False; `without` leaves both out.
    """

    by: str
    category: str
    paper: Share
    without: Share
    failed: int
    unjudged: int


class PaperScores(BaseModel):
    """`rows` begin with the overall one. `lost`: of the answers that were read from a text, those that the
    parser of the last brace finds nothing or something else for.
    """

    rows: list[PaperRow]
    lost: Share


def paper_scores(run: RunDir, cells: Sequence[Cell]) -> PaperScores | None:
    """None where the run was not made under that protocol."""
    protocol = run.config().get("protocol")
    if not isinstance(protocol, dict) or protocol.get("name") != PROTOCOL:
        return None
    return PaperScores(rows=paper_rows(cells), lost=_lost(run, cells))


def paper_rows(cells: Sequence[Cell]) -> list[PaperRow]:
    """Overall, then each scene and each value of each facet, where there are several."""
    facets = list(dict.fromkeys(name for cell in cells for name in cell.facets))
    sorted_by = {"scene": [cell.top for cell in cells]}
    sorted_by |= {name: [cell.facets.get(name, NONE) for cell in cells] for name in facets}
    rows = [_row("overall", ALL, cells)]
    for by, names in sorted_by.items():
        groups: dict[str, list[Cell]] = {name: [] for name in sorted(set(names))}
        for cell, name in zip(cells, names, strict=True):
            groups[name].append(cell)
        rows += [_row(by, name, group) for name, group in groups.items() if len(groups) > 1]
    return rows


def _row(by: str, category: str, cells: Sequence[Cell]) -> PaperRow:
    correct = sum(cell.outcome == "correct" for cell in cells)
    failed = sum(map(_failed, cells))
    unjudged = sum(cell.outcome == "unjudged" for cell in cells)
    judged = sum(cell.outcome in DONE and not _failed(cell) for cell in cells)
    return PaperRow(
        by=by,
        category=category,
        paper=Share.of(correct, judged + failed + unjudged),
        without=Share.of(correct, judged),
        failed=failed,
        unjudged=unjudged,
    )


def _failed(cell: Cell) -> bool:
    """Whether the episode has no answer because calls of its model failed."""
    error = cell.record.error if cell.record else None
    if cell.record is None or error is None or cell.record.status == "answered":
        return False
    return error.boundary == "model" or error.kind in _REFUSED


def _lost(run: RunDir, cells: Sequence[Cell]) -> Share:
    read = [
        (cell.record.answer or "", said.raw)
        for cell in cells
        if cell.record and cell.record.status == "answered"
        for said in [event for event in run.events(cell.record) if isinstance(event, Answer)][-1:]
        if said.parsed_by != "tool" and said.raw
    ]
    return Share.of(sum(last_brace(raw) != answer for answer, raw in read), len(read))
