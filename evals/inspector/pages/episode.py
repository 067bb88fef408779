"""One episode: the picture with what was looked at, the timeline, the answer, and why it was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.evals.inspector.facts import FACTS, holding
from fieldmark.evals.inspector.filters import Filter, failure_of
from fieldmark.evals.inspector.index import EpisodeRow, Index, Snapshot
from fieldmark.evals.inspector.overlay import marks, original
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import pictures, texts, tokens
from fieldmark.evals.inspector.timeline import steps, window
from fieldmark.trace import Event, parse_event


def episode_page(
    name: str, index: Index, row: EpisodeRow, asked: Filter, number: int | None, seq: int | None
) -> bytes:
    """`asked` is the table that the reader came from. The timeline begins at step `number` or holds `seq`."""
    run = index.snapshot()
    events = trace_of(index, row)
    task = run.tasks.get(row.record.id, {})
    shown = window(steps(events), number=number, seq=seq)
    picture = original(task, events)
    return render(
        "episode.html.j2",
        name=name,
        run=run,
        row=row,
        task=task,
        asked=asked,
        neighbours=_neighbours(index, run, row, asked),
        failure=failure_of(row),
        private=_private(index, run, row),
        facts=[FACTS[fact].title for fact in holding(row)],
        cited=cited(index, row),
        budget=_budget(run, row),
        picture=picture,
        marks=marks(shown.steps, picture) if picture else [],
        shown=shown,
        texts=texts,
        pictures=pictures,
        tokens=tokens,
        live=False,
    )


def trace_of(index: Index, row: EpisodeRow) -> list[Event]:
    """The events that can be read; a line of another make is left out. (Figures leave out such a trace.)"""
    found = []
    for line in jsonl.read(index.folder.trace_file(row.record)).rows:
        try:
            found.append(parse_event(line))
        except ValidationError:
            continue
    return found


@dataclass(frozen=True)
class Neighbours:
    """Keys of the wrong answers before and after an episode in the table; None at its ends."""

    before: str | None
    after: str | None


def _neighbours(index: Index, run: Snapshot, row: EpisodeRow, asked: Filter) -> Neighbours:
    rows = asked.apply(run.rows, index.tools.of)
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
    }


def cited(index: Index, row: EpisodeRow) -> set[int]:
    """The `seq`s that show why the answer was wrong, those that only gold finds among them."""
    if row.failure is None:
        return set()
    private = index.folder.failure_reasons().get(row.record.key)
    return {*row.failure.events, *(private.events if private else [])}


def _budget(run: Snapshot, row: EpisodeRow) -> list[tuple[str, float, float]]:
    """(what, used, limit) of each limit of the run; a limit of 0 is none."""
    told = run.config.get("limits")
    limits = told if isinstance(told, dict) else {}
    record = row.record
    used = {"seconds": record.charged_seconds, "model_calls": record.counts.get("model_calls")}
    if record.tokens and record.tokens.input is not None:
        used["tokens"] = record.tokens.input + (record.tokens.output or 0)
    used["cost"] = record.cost
    pairs = (
        (what, used.get(what), limits.get(what)) for what in ("seconds", "model_calls", "tokens", "cost")
    )
    return [
        (what.replace("_", " "), float(spent), float(limit))
        for what, spent, limit in pairs
        if spent is not None and isinstance(limit, int | float) and limit > 0
    ]
