"""The tables of tasks and episodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fieldmark.evals.frames.rows import EpisodeRow, TaskRow
from fieldmark.evals.frames.source import Source
from fieldmark.evals.metrics.levels import level
from fieldmark.evals.metrics.outcomes import DONE, Cell, facets_of, labels_of
from fieldmark.evals.metrics.reading import Read
from fieldmark.records import EpisodeRecord, Leak
from fieldmark.run_reader import part
from fieldmark.trace import Tokens


def tasks(source: Source) -> Iterator[TaskRow]:
    """In run order."""
    there = Counter(cell.id for cell, _ in source.episodes)
    for row in source.folder.tasks():
        size = part(row, "image")
        yield TaskRow(
            run=source.name,
            arm=source.arm,
            task_order=source.task_order,
            id=str(row.get("id")),
            question=str(row.get("question") or ""),
            episodes=there[str(row.get("id"))],
            width=_pixels(size.get("width")),
            height=_pixels(size.get("height")),
            **labels_of(row.get("labels")),
            facets=_facets(facets_of(row.get("labels"))),
        )


def _pixels(told: Any) -> int | None:
    """None for what is no size of a picture: a row can have been made by hand."""
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told < 2**31 else None


def episodes(source: Source) -> Iterator[EpisodeRow]:
    """In run order: all of epoch 0, then of epoch 1."""
    leaks = source.folder.leaks()
    for cell, record in source.episodes:
        yield EpisodeRow(
            run=source.name,
            arm=source.arm,
            task_order=source.task_order,
            id=cell.id,
            epoch=cell.epoch,
            **_judged(cell),
            **_recorded(record),
            **_traced(source.traces[record.key]),
            **_leak(leaks.get(record.key)),
        )


def _judged(cell: Cell) -> dict[str, Any]:
    done, right = cell.outcome in DONE, cell.outcome == "correct"
    return {
        "split": cell.split,
        "top": cell.top,
        "mid": cell.mid,
        "source": cell.source,
        "language": cell.language,
        "facets": _facets(cell.facets),
        "outcome": cell.outcome,
        "done": done,
        "correct": right if done else None,
        "finer": (right and bool(cell.verdict and cell.verdict.finer)) if done else None,
        "score": cell.verdict.score if cell.verdict else None,
        "level": level(cell),
    }


def _facets(facets: Mapping[str, str]) -> str | None:
    return json.dumps(facets, ensure_ascii=False) if facets else None


def _recorded(record: EpisodeRecord) -> dict[str, Any]:
    tokens = record.tokens or Tokens()
    told = ("agent", "model", "status", "answer", "confidence", "seconds", "charged_seconds", "cost")
    return {
        **{name: getattr(record, name) for name in (*told, "attempt", "started")},
        "error_boundary": record.error.boundary if record.error else None,
        "error_kind": record.error.kind if record.error else None,
        "model_calls": record.counts.get("model_calls"),
        "input_tokens": tokens.input,
        "cached_tokens": tokens.cached,
        "output_tokens": tokens.output,
    }


_OF_TRACES = (
    "model_seconds", "tool_seconds", "waiting_seconds", "own_seconds", "acts", "failed_acts", "skill_calls",
    "memory_calls", "todo_calls", "subagent_calls", "picture", "picture_lost",
)  # fmt: skip


def _traced(read: Read | None) -> dict[str, Any]:
    if read is None:
        return dict.fromkeys(_OF_TRACES)
    sides, phases = read.acts.sides, read.phases
    return {
        "model_seconds": phases.model,
        "tool_seconds": phases.tools,
        "waiting_seconds": phases.waiting,
        "own_seconds": phases.own,
        "acts": len(read.acts.acts),
        "failed_acts": sum(act.ok is False for act in read.acts.acts),
        **{f"{side}_calls": sides[side] for side in ("skill", "memory", "todo", "subagent")},
        "picture": read.sight.delivered,
        "picture_lost": read.sight.lost_at is not None,
    }


def _leak(leak: Leak | None) -> dict[str, Any]:
    return {"copied": leak.copied if leak else None, "leaked": leak.leaked if leak else None}
