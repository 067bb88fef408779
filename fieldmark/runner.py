"""A run: every task in every epoch, several at a time, each committed and judged as it ends."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import resource
import signal
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from typing import Any

from fieldmark import preflight, probing
from fieldmark.counting import counted
from fieldmark.episode import RunServices, run_episode
from fieldmark.errors import InterruptedRun
from fieldmark.judging.beside import Judging
from fieldmark.outage import Outage
from fieldmark.preflight import Plan
from fieldmark.progress import RunProgress
from fieldmark.records import EpisodeRecord
from fieldmark.remembering import open_memory
from fieldmark.rundir import RunDir
from fieldmark.sandbox import reaper
from fieldmark.sandbox.container import PYTHON
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.session import HARD_STOP
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.pool import ContainerPool, undisturbed
from fieldmark.spending import Spending
from fieldmark.staging import StagedTask
from fieldmark.study.place import Place

ATTEMPTS = 3
"""An episode that broke through no fault of the agent is tried again, so often in all."""
SPARE = 4
"""Containers kept warm at most."""
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
        return self.place.go_on if self.place else f"fieldmark run --resume {self.folder.path}"

    def grid(self) -> list[tuple[StagedTask, int]]:
        """Every task and epoch, one epoch after the other: a run that stops early has whole ones."""
        return [(staged, epoch) for epoch in range(self.plan.config.epochs) for staged in self.staged]


def carry_out(run: Run) -> None:
    """Run what is left. InterruptedRun when it stops early; `--resume` then goes on."""
    for line in reaper.reap(run.plan.docker):
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
            async with _services(run, len(left) + probing.is_due(run.folder, run.plan)) as services:
                await probing.look_first(services, progress.say)
                left = await _play_all(run, services, left, progress, judging)
        await judging.finish()
    if left and (over := run.spending.over()):
        raise _stopped(run, over[0], over[1])


@contextlib.asynccontextmanager
async def _services(run: Run, expected: int) -> AsyncIterator[RunServices]:
    """The pool, the gateway's backends and the upstream of a run, torn down at its end."""
    config, plan = run.plan.config, run.plan
    backends = Backends(
        plan.benchmark.index, plan.benchmark.registry, classifier="classify_image" in plan.tools,
        room=(config.image_bytes, int(config.image_megapixels * 1e6)),
    )  # fmt: skip
    pool = ContainerPool(
        plan.docker, plan.image_id, run.folder.path.name,
        [PYTHON, "-m", "fieldmark.agents.worker", plan.worker_agent],
        needs=plan.needs, lifetime=HARD_STOP * config.limits.seconds + 60,
        spare=min(SPARE, plan.parallel), expected=expected, mounts=plan.mounts,
    )  # fmt: skip
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
        await undisturbed(_close(pool, [plan.upstream, *([plan.eyes] if plan.eyes else [])]))


async def _close(pool: ContainerPool, upstreams: list[Upstream]) -> None:
    await pool.close()
    for upstream in upstreams:
        await upstream.close()


async def _play_all(
    run: Run,
    services: RunServices,
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
    services: RunServices,
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


async def _play(run: Run, services: RunServices, staged: StagedTask, epoch: int) -> EpisodeRecord:
    """One episode with its retries, committed. InterruptedRun when the next would break alike."""
    earlier: list[str] = []
    for attempt in range(ATTEMPTS):
        full = preflight.check_disk(run.folder.path, run.plan.config.min_free_mb)
        if full:
            raise _stopped(run, full)
        try:
            record, outcome = await run_episode(
                services, staged, epoch=epoch, attempt=attempt, earlier=earlier
            )
        except (OSError, KeyError) as error:  # KeyError: a picture is no longer among the blobs
            raise _stopped(run, f"the run folder cannot be used: {error}") from None
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
