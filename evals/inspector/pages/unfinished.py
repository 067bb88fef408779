"""An episode that has not ended: its trace so far."""

from __future__ import annotations

from fieldmark.evals.inspector.budget import so_far
from fieldmark.evals.inspector.foraging import foraging
from fieldmark.evals.inspector.index import Index
from fieldmark.evals.inspector.memory import remembered
from fieldmark.evals.inspector.overlay import marks, original
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import pictures, texts
from fieldmark.evals.inspector.timeline import WINDOW, steps, window
from fieldmark.evals.inspector.unfinished import Unfinished
from fieldmark.trace import Answer


def unfinished_page(
    name: str, index: Index, episode: Unfinished, number: int | None, seq: int | None
) -> bytes:
    """The timeline begins at step `number` or holds `seq`; else it ends with the last step there is."""
    run = index.snapshot()
    events = index.events(episode)
    task, done = run.tasks.get(episode.id, {}), steps(events)
    shown = window(done, number=number or max(1, len(done) - WINDOW + 1), seq=seq)
    picture = original(task, events)
    live = run.running
    return render(
        "unfinished.html.j2",
        name=name,
        episode=episode,
        state=_state(live),
        task=task,
        events=len(events),
        answer=next((event for event in reversed(events) if isinstance(event, Answer)), None),
        budget=so_far(events, run.config.get("limits")),
        remembered=remembered(events),
        course=foraging(events),
        picture=picture,
        marks=marks(shown.steps, picture) if picture else [],
        shown=shown,
        texts=texts,
        pictures=pictures,
        live=live,
    )


def _state(live: bool) -> str:
    return "running" if live else "not finished"
