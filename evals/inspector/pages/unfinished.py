"""An episode that has not ended: its trace so far."""

from __future__ import annotations

from fieldmark.evals.inspector.budget import so_far
from fieldmark.evals.inspector.foraging import foraging_in
from fieldmark.evals.inspector.index import Index
from fieldmark.evals.inspector.memory import remembered_in
from fieldmark.evals.inspector.overlay import marks, original
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import pictures, texts
from fieldmark.evals.inspector.timeline import WINDOW
from fieldmark.evals.inspector.trace_file import window_of
from fieldmark.evals.inspector.unfinished import Unfinished


def unfinished_page(
    name: str, index: Index, episode: Unfinished, number: int | None, seq: int | None
) -> bytes:
    """The timeline begins at step `number` or holds `seq`; else it ends with the last step there is."""
    run = index.snapshot()
    trace = index.trace(episode)
    task = run.tasks.get(episode.id, {})
    shown = window_of(trace, number or max(1, len(trace.steps) - WINDOW + 1), seq)
    picture = original(task, trace.of("episode_start"))
    live = run.running
    return render(
        "unfinished.html.j2",
        name=name,
        episode=episode,
        state=_state(live),
        task=task,
        events=len(trace),
        answer=next(trace.back_from(len(trace), "answer"), None),
        budget=so_far(trace, run.config.get("limits")),
        remembered=remembered_in(trace),
        course=foraging_in(trace),
        picture=picture,
        marks=marks(shown.steps, picture) if picture else [],
        shown=shown,
        texts=texts,
        pictures=pictures,
        live=live,
    )


def _state(live: bool) -> str:
    return "running" if live else "not finished"
