"""What came of a fork, beside what came of its recording."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from fieldmark.evals.metrics.reading import read_trace
from fieldmark.evals.metrics.shares import Interval, Share, wilson
from fieldmark.forking.difference import Difference, first_difference
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.replay.fork import Fork

NOT_SHOWN = (
    "one continuation is one draw of the model: with --repeat K it is asked K times",
    "the recorded answer is one draw too: to tell a change from chance, fork with the same value beside it",
    "what was changed after the fork has not been chosen by the agent: that it can be right is no proof "
    "that it would have been",
)


class Side(BaseModel):
    """One episode. `verdict` is None where there is none, `acts` where the trace cannot be read, `drift`
    counts requests before it that differ, `parts` is where it parts from the recording beside what was
    changed.
    """

    answer: str | None
    status: str
    verdict: str | None
    model_calls: int
    acts: int | None
    drift: int = 0
    parts: Difference | None = None


class Outcome(BaseModel):
    """`replayed` model calls came from the recording. `right`: of the forks that were judged, with its 95 %
    interval (Wilson), where the model was asked more than once.
    """

    run: str
    task: str
    epoch: int
    event: int
    changed: str
    forked: dict[str, Any]
    folder: str
    replayed: int
    recorded: Side
    forks: list[Side]
    right: Share | None
    interval: Interval | None
    not_shown: list[str]


def outcome(run: RunDir, folder: RunDir, fork: Fork, changed: str) -> Outcome:
    """Read from the two run folders."""
    described = folder.config()["forked"]
    was = next(record for record in run.episodes() if record.key == (fork.task, fork.epoch))
    forks = [_fork_side(run, was, folder, record) for record in folder.episodes()]
    judged = [side for side in forks if side.verdict]
    right = Share.of(sum(side.verdict == "correct" for side in judged), len(judged))
    several = len(forks) > 1
    return Outcome(
        run=fork.recording.name, task=fork.task, epoch=fork.epoch, event=described["event"],
        changed=changed, forked=described, folder=str(folder.path),
        replayed=fork.before("agent").total(),
        recorded=_side(run, was), forks=forks,
        right=right if several else None, interval=wilson(right) if several else None,
        not_shown=[*NOT_SHOWN[several:]],
    )  # fmt: skip


def _side(run: RunDir, record: EpisodeRecord) -> Side:
    verdict = run.verdicts().get(record.key)
    counts, read = record.counts, read_trace(run, record)
    return Side(
        answer=record.answer, status=record.status, verdict=verdict.label if verdict else None,
        model_calls=counts.get("model_calls", 0), drift=counts.get("drift", 0),
        acts=len(read.acts.acts) if read else None,
    )  # fmt: skip


def _fork_side(run: RunDir, was: EpisodeRecord, folder: RunDir, record: EpisodeRecord) -> Side:
    parts = first_difference(run.trace(was), folder.trace(record))
    return _side(folder, record).model_copy(update={"parts": parts})
