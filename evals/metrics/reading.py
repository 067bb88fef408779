"""One trace read once, for all that is counted in it."""

from __future__ import annotations

from dataclasses import dataclass

from fieldmark.evals.metrics.acts import EpisodeActs, episode_acts
from fieldmark.evals.metrics.by_skill import skills_read
from fieldmark.evals.metrics.memory import MemoryTrace, memory_in
from fieldmark.evals.metrics.phases import Phases, phases
from fieldmark.evals.metrics.sight import sight_in
from fieldmark.records import EpisodeRecord, Sight
from fieldmark.rundir import RunDir
from fieldmark.trace import Answer


@dataclass(frozen=True)
class Read:
    """What the figures need of one trace. `answer` is the last one that was given."""

    acts: EpisodeActs
    sight: Sight
    phases: Phases
    skills: frozenset[str]
    memory: MemoryTrace
    answer: Answer | None


def read_trace(run: RunDir, record: EpisodeRecord) -> Read | None:
    """None when the trace is missing or cannot be read: unknown is not zero."""
    events = run.events(record)
    if not events:
        return None
    return Read(
        episode_acts(events), sight_in(events), phases(events, record), skills_read(events),
        memory_in(events), next((each for each in reversed(events) if isinstance(each, Answer)), None),
    )  # fmt: skip
