"""One episode: the picture with what was looked at, the timeline, the answer, and why it was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlencode

from fieldmark import jsonl
from fieldmark.evals.failures.taxonomy import CLASSES, SUBS
from fieldmark.evals.inspector.budget import of_record
from fieldmark.evals.inspector.facts import FACTS, holding
from fieldmark.evals.inspector.filters import Filter, broken_at, failure_of
from fieldmark.evals.inspector.foraging import foraging_in
from fieldmark.evals.inspector.game import game_page
from fieldmark.evals.inspector.index import EpisodeRow, Index, Snapshot
from fieldmark.evals.inspector.marking import NOTE, offered
from fieldmark.evals.inspector.memory import remembered_in
from fieldmark.evals.inspector.overlay import marks, original
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import pictures, texts, tokens
from fieldmark.evals.inspector.trace_file import window_of
from fieldmark.findings import FailureMark, Link

COLUMNS = 6
"""Runs beside each other on a page: there is a colour for each."""


@dataclass(frozen=True)
class Writer:
    """Who labels, "" for nobody; `token` stands in each form, so that no page elsewhere can send one."""

    annotator: str
    token: str


def episode_page(
    name: str,
    index: Index,
    row: EpisodeRow,
    others: list[tuple[str, EpisodeRow]],
    asked: Filter,
    writer: Writer,
    number: int | None,
    seq: int | None,
) -> bytes:
    """`others` are the same task in other runs, `asked` the table that the reader came from. The timeline
    begins at step `number` or holds `seq`.
    """
    run = index.snapshot()
    trace = index.trace(row)
    task = run.tasks.get(row.record.id, {})
    shown = window_of(trace, number, seq)
    picture = original(task, trace.of("episode_start"))
    return render(
        "episode.html.j2",
        name=name,
        run=run,
        row=row,
        task=task,
        asked=asked,
        neighbours=_neighbours(index, run, row, asked),
        failure=failure_of(row),
        broken=broken_at(row),
        private=_private(index, run, row),
        facts=[FACTS[fact].title for fact in holding(row)],
        cited=cited(index, row),
        budget=of_record(row.record, run.config.get("limits")),
        remembered=remembered_in(trace),
        course=foraging_in(trace),
        game=game_page(index, row, list(trace.of("game_turn"))),
        others=others,
        compared=lambda names: _compared(row, names),
        most=COLUMNS,
        writer=writer,
        own=_own(row, writer.annotator),
        offered=offered(row) if index.folder.private.is_dir() else [],
        classes=CLASSES,
        subs=SUBS,
        links=get_args(Link),
        note=NOTE,
        picture=picture,
        marks=marks(shown.steps, picture) if picture else [],
        shown=shown,
        texts=texts,
        pictures=pictures,
        tokens=tokens,
        live=False,
    )


def _own(row: EpisodeRow, annotator: str) -> FailureMark | None:
    """What the form begins with: the person's own label, and not one by a scheme of others."""
    mine = (mark for mark in row.marks if mark.annotator == annotator and mark.scheme is None)
    return next(mine, None)


def _compared(row: EpisodeRow, names: list[str]) -> str:
    """The query of the page that shows these runs beside each other."""
    epoch = {"epoch": row.record.epoch} if row.record.epoch else {}
    fields = {"run": names[:COLUMNS], "task": row.record.id, **epoch}
    return urlencode(fields, doseq=True, errors="replace")


@dataclass(frozen=True)
class Neighbours:
    """Keys of the wrong answers before and after an episode in the table; None at its ends."""

    before: str | None
    after: str | None


def _neighbours(index: Index, run: Snapshot, row: EpisodeRow, asked: Filter) -> Neighbours:
    rows = asked.apply(run.rows, index).rows
    if all(each.key != row.key for each in rows):  # another table was left, or it has changed meanwhile
        rows = run.rows
    keys = [each.key for each in rows if each.wrong or each.key == row.key]
    at = keys.index(row.key)
    return Neighbours(keys[at - 1] if at else None, keys[at + 1] if at + 1 < len(keys) else None)


def _private(index: Index, run: Snapshot, row: EpisodeRow) -> dict[str, Any]:
    """Gold and the reasons that quote it; empty where the private part is not."""
    folder, record = index.folder, row.record
    judge = row.cell.verdict.judge if row.cell.verdict else None
    reasons = [
        str(each.get("reason"))
        for each in jsonl.read(folder.reasons_file).rows
        if (each.get("id"), each.get("epoch", 0), each.get("judge")) == (record.id, record.epoch, judge)
    ]
    why = folder.failure_reasons().get(record.key)
    return {
        "gold": run.gold.get(record.id),
        "reason": reasons[-1] if reasons else "",
        "why": why.reason if why and row.failure else "",
        "chain": folder.chain_reasons().get(record.key) if row.broken else None,
    }


def cited(index: Index, row: EpisodeRow) -> set[int]:
    """The `seq`s that show why the answer was wrong, those that only gold finds among them."""
    if row.failure is None:
        return set()
    private = index.folder.failure_reasons().get(row.record.key)
    return {*row.failure.events, *(private.events if private else [])}
