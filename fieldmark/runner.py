"""A run: every task in every epoch, several at a time, each committed and judged as it ends."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import resource
import signal
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from fieldmark import preflight, probing
from fieldmark.counting import counted
from fieldmark.episode import RunServices, Stage
from fieldmark.errors import EpisodeFault, InterruptedRun
from fieldmark.judging.beside import Judging
from fieldmark.outage import Outage
from fieldmark.preflight import Plan
from fieldmark.progress import RunProgress
from fieldmark.records import EpisodeRecord
from fieldmark.remembering import open_memory
from fieldmark.rundir import RunDir
from fieldmark.sandbox import reaper
from fieldmark.sandbox.pool import undisturbed
from fieldmark.serving import new_backends, new_pool, shut
from fieldmark.spending import Spending
from fieldmark.staging import StagedTask
from fieldmark.study.place import Place

ATTEMPTS = 3
"""An episode that broke through no fault of the agent is tried again, so often in all."""
MODEL_PAUSE = 10.0
"""Seconds before an episode that the model's server broke is tried again: it may be starting anew."""
FINAL = frozenset({"replay_missing"})
"""Kinds of faults that no further attempt mends."""
FILES = 65_536
"""Open files this process may want: a container has up to 128 connections."""


@dataclass
class Run:
    """A run in progress. `staged` are all its tasks; `done` the (id, epoch) that need no more work.

    `place` is its place in the study that it is of.
    """

    plan: Plan
    folder: RunDir
    staged: list[StagedTask]
    done: set[tuple[str, int]] = field(default_factory=set)
    place: Place | None = None
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self.spending = Spending(self.plan.config, self.plan.costs, self.folder, self.place)

    @property
    def go_on(self) -> str:
        """The command that goes on with it."""
        config = self.plan.config
        there = f" --executor ray --address {config.address}" if self.plan.cluster else ""
        return self.place.go_on if self.place else f"fieldmark run --resume {self.folder.path}{there}"

    def grid(self) -> list[tuple[StagedTask, int]]:
        """Every task and epoch, one epoch after the other: a run that stops early has whole ones."""
        return [(staged, epoch) for epoch in range(self.plan.config.epochs) for staged in self.staged]


def carry_out(run: Run) -> None:
    """Run what is left. InterruptedRun when it stops early; `--resume` then goes on."""
    for line in reaper.reap(run.plan.docker) if run.plan.docker else []:
        _say(line)
    _allow_many_files()
    try:
        asyncio.run(_until_interrupted(run))
    except asyncio.CancelledError:
        raise InterruptedRun(f"stopped; go on with: {run.go_on}") from None


async def _until_interrupted(run: Run) -> None:
    work = asyncio.ensure_future(_carry_out(run))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):  # once: a second one would leave containers behind
            loop.add_signal_handler(number, _say, "still stopping: the containers are being removed")
        work.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await work


async def _carry_out(run: Run) -> None:
    grid = run.grid()
    left = [(staged, epoch) for staged, epoch in grid if (staged.task.id, epoch) not in run.done]
    verdicts = run.folder.verdicts()
    correct = sum(verdict.label == "correct" for verdict in verdicts.values())
    with (
        RunProgress(len(grid), len(grid) - len(left), correct, run.place) as progress,
        contextlib.closing(Judging(run.folder, run.plan.judge, run.staged, progress)) as judging,
    ):
        judging.catch_up(verdicts)
        if left and not run.spending.over():
            probing.refuse_blind(run.folder, run.plan)  # before a container is started
            async with _stage(run, len(left) + probing.is_due(run.folder, run.plan)) as services:
                await probing.look_first(services, progress.say)
                left = await _play_all(run, services, left, progress, judging)
        await judging.finish()
    if left and (over := run.spending.over()):
        raise _stopped(run, over[0], over[1])


def _stage(run: Run, expected: int) -> AbstractAsyncContextManager[Stage]:
    """Where the run plays, torn down at its end."""
    if run.plan.cluster is None:
        return _services(run, expected)
    from fieldmark.cluster.stage import cluster_stage

    return cluster_stage(run.folder, run.plan, expected)


@contextlib.asynccontextmanager
async def _services(run: Run, expected: int) -> AsyncIterator[RunServices]:
    """The pool, the gateway's backends and the upstream of a run on this machine."""
    config, plan = run.plan.config, run.plan
    backends = new_backends(plan)
    pool = new_pool(plan, run.folder.path.name, expected)
    grid, tasks = run.grid(), plan.benchmark.tasks
    memory = open_memory(config, run.folder, grid, tasks, backends, plan.memory_places)
    try:
        pool.warm()
        await backends.warm(plan.parallel if plan.tools else 0)
        if memory:
            await _remember(run, memory.open())
        yield RunServices(run.folder, plan, pool, backends, run.folder.blob_store(), memory)
    finally:
        if memory:
            memory.close()
        backends.close()
        await undisturbed(shut(pool, plan))


async def _play_all(
    run: Run,
    services: Stage,
    left: list[tuple[StagedTask, int]],
    progress: RunProgress,
    judging: Judging,
) -> list[tuple[StagedTask, int]]:
    """Play until nothing is left, or the run has spent what it may, and those in flight end; what is left.

    With a memory, one wave after the other: the next reads what this one leaves.
    """
    memory, outage = services.memory, Outage()
    if memory is None:
        return await _play_wave(run, services, left, progress, judging, outage)
    for wave, due in itertools.groupby(left, memory.wave):
        now = list(due)
        rest = await _play_wave(run, services, now, progress, judging, outage)
        if rest:
            return left[left.index(rest[0]) :]
        await _remember(run, memory.merge(wave))
    return []


async def _remember(run: Run, work: Coroutine[Any, Any, None]) -> None:
    """Work on the memory. InterruptedRun: it cannot be read or written, and the next would break alike."""
    try:
        await work
    except (OSError, KeyError) as error:  # KeyError: a picture is no longer among the blobs
        raise _stopped(run, f"the memory of the run cannot be used: {error}") from None


async def _play_wave(
    run: Run,
    services: Stage,
    left: list[tuple[StagedTask, int]],
    progress: RunProgress,
    judging: Judging,
    outage: Outage,
) -> list[tuple[StagedTask, int]]:
    """Several episodes at a time, in any order; what is left when the run has spent what it may."""
    waiting = iter(left)

    async def player() -> None:
        while not run.spending.over() and (due := next(waiting, None)):
            record = await _play(run, services, *due)
            progress.episode_done(record)
            judging.begin(record)
            if outage.goes_on(record, time.monotonic()):
                raise _stopped(
                    run, f"{counted(outage.length, 'episode')} in a row broke alike: {outage.what}"
                )

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(run.plan.parallel, len(left))):
                group.create_task(player())
    except* InterruptedRun as errors:  # of several players that stop alike, one tells it
        raise errors.exceptions[0] from None
    return list(waiting)


async def _play(run: Run, services: Stage, staged: StagedTask, epoch: int) -> EpisodeRecord:
    """One episode with its retries, committed. InterruptedRun when the next would break alike."""
    earlier: list[str] = []
    for attempt in range(ATTEMPTS):
        full = preflight.check_disk(run.folder.path, run.plan.config.min_free_mb)
        if full:
            raise _stopped(run, full)
        try:
            record, outcome = await services.play(staged, epoch=epoch, attempt=attempt, earlier=earlier)
        except (OSError, KeyError) as error:  # KeyError: a picture is no longer among the blobs
            raise _stopped(run, f"the run folder cannot be used: {error}") from None
        except EpisodeFault as fault:  # nothing is left to play it on
            raise _stopped(run, str(fault)) from None
        run.spending.add(record)
        if outcome.stops_run:
            raise _stopped(run, record.error.message if record.error else "a fault")
        if record.status != "sandbox_error":
            break
        if record.error and record.error.kind in FINAL:
            break
        earlier.append(f"{record.error.boundary}: {record.error.message}" if record.error else "")
        if record.error and record.error.boundary == "model" and attempt + 1 < ATTEMPTS:
            await asyncio.sleep(MODEL_PAUSE)
    try:
        run.folder.commit(record, run.folder.pending_trace(record.id, record.epoch, record.attempt))
    except OSError as error:
        raise _stopped(run, f"the run folder cannot be written: {error.strerror}") from None
    return record


def _stopped(run: Run, why: str, option: str = "") -> InterruptedRun:
    if not run.folder.run_json.exists():
        return InterruptedRun(f"the run folder {run.folder.path} is gone: start the run again")
    command = f"{run.go_on} {option}".rstrip()
    return InterruptedRun(f"{why}; the finished episodes are safe, go on with: {command}")


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _say(line: str) -> None:
    import click

    click.echo(line, err=True)
