"""One episode, as a straight line: prompt → container → session → outcome → record."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from fieldmark import __version__, protocol
from fieldmark.blobs import BlobStore
from fieldmark.clock import utc
from fieldmark.errors import EpisodeFault, GatewayFault
from fieldmark.games.played import PlayedGame
from fieldmark.memory.state import EpisodeState
from fieldmark.native import NativeMemory
from fieldmark.preflight import Plan
from fieldmark.records import EpisodeRecord, GameRow
from fieldmark.rundir import RunDir, episode_key
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.conversation.actions import load as load_actions
from fieldmark.sandbox.gateway.game import Table
from fieldmark.sandbox.gateway.session import Outcome, Pictures, Session
from fieldmark.sandbox.gateway.tracer import Tracer
from fieldmark.sandbox.pool import Container, ContainerPool
from fieldmark.sight import sight_of
from fieldmark.staging import StagedTask
from fieldmark.task import Prompt, SkillCard

if TYPE_CHECKING:
    from fieldmark.memory.episode import EpisodeMemory
    from fieldmark.run_memory import RunMemory


class Stage(Protocol):
    """Where the episodes of a run play: here (`RunServices`), or on other machines (`fieldmark/cluster/`)."""

    @property
    def run(self) -> RunDir: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def memory(self) -> RunMemory | NativeMemory | None: ...

    async def play(
        self, staged: StagedTask, *, epoch: int = 0, attempt: int = 0, earlier: list[str] | None = None
    ) -> tuple[EpisodeRecord, Outcome]:
        """One attempt at one task, as `run_episode`. SandboxFault: nothing is left to play it on."""

    def aside(self, folder: RunDir, plan: Plan) -> Stage:
        """The same, for episodes that another folder keeps and that read no memory."""


@dataclass(frozen=True)
class RunServices:
    """The stage that this machine is: what its episodes share."""

    run: RunDir
    plan: Plan
    pool: ContainerPool
    backends: Backends
    blobs: BlobStore
    memory: RunMemory | NativeMemory | None = None

    async def play(
        self, staged: StagedTask, *, epoch: int = 0, attempt: int = 0, earlier: list[str] | None = None
    ) -> tuple[EpisodeRecord, Outcome]:
        """One attempt at one task."""
        return await run_episode(self, staged, epoch=epoch, attempt=attempt, earlier=earlier)

    def aside(self, folder: RunDir, plan: Plan) -> RunServices:
        """The same, for episodes that another folder keeps and that read no memory."""
        return replace(self, run=folder, plan=plan, blobs=BlobStore(folder.blobs), memory=None)


async def run_episode(
    services: RunServices,
    staged: StagedTask,
    *,
    epoch: int = 0,
    attempt: int = 0,
    earlier: list[str] | None = None,
) -> tuple[EpisodeRecord, Outcome]:
    """One attempt at one task. Whatever breaks becomes the record's status; nothing is raised for it.

    `earlier` are the errors of earlier attempts, kept in the trace. The trace stays at its pending name
    until the runner commits the record.
    """
    started = utc(timespec="milliseconds")
    memory = await services.memory.before(staged, epoch) if services.memory else None
    notes, read = memory.at_lease() if memory else ([], None)
    prompt = make_prompt(services.plan, staged, notes)
    game = services.plan.games.begin(staged, services.blobs) if services.plan.games else None
    session = _open_session(services, staged, prompt, epoch, attempt, memory, game)
    try:
        async with services.pool.lease() as container:
            session.begin()
            _log_start(session, services, staged, epoch, attempt, earlier or [])
            if memory and read:
                session.log("gateway", memory.read_kind, read)
            container.door.admit(session)
            await _until_end(session, container)
    except EpisodeFault as fault:
        session.fail(fault)
    except asyncio.CancelledError:
        session.abandon()
        raise
    outcome = await session.close(await session.ended)
    if game:
        row = GameRow(id=staged.task.id, epoch=epoch, game=game.end().model_dump(mode="json"))
        services.run.add_game(row)
    return _record(services, staged, session, outcome, epoch, attempt, started), outcome


def make_prompt(plan: Plan, staged: StagedTask, notes: list[str]) -> Prompt:
    """What the agent may see of a task: no id, label, split, file name or position. `notes` are from
    earlier episodes.
    """
    return Prompt(
        token=secrets.token_hex(8),
        question=staged.task.question,
        language=staged.task.labels.language,
        image=staged.image,
        view=staged.view,
        picture_notes=staged.notes,
        notes=notes,
        skills=[SkillCard(name=skill.name, description=skill.description) for skill in plan.skills],
        skill_calls=plan.config.skill_calls,
        tools=plan.tools,
        ocr=plan.config.ocr,
        model=plan.upstream.name,
        sees=plan.upstream.sees,
        space=plan.config.model.space or "pixel",
        eyes=plan.eyes.name if plan.eyes else None,
        context=plan.config.model.context,
        output=plan.config.model.output,
        reply=protocol.reply_form(plan.config.protocol),
        limits=plan.config.limits,
    )


async def _until_end(session: Session, container: Container) -> None:
    either: set[asyncio.Future[Any]] = {session.ended, container.died}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if session.ended.done():
        return
    cause = container.died.result().cause()
    if not container.door.stands():  # then the worker ends quietly, as when its episode is over
        cause = GatewayFault("somebody removed the gateway's socket", kind="socket")
    if isinstance(cause, EpisodeFault):
        session.fail(cause)
    else:
        session.finish(cause)


def _open_session(
    services: RunServices, staged: StagedTask, prompt: Prompt, epoch: int, attempt: int,
    memory: EpisodeMemory | EpisodeState | None, game: PlayedGame | None,
) -> Session:  # fmt: skip
    plan, clock = services.plan, Clock()
    tracer = Tracer(services.run.pending_trace(staged.task.id, epoch, attempt), clock)
    original = services.blobs.path(staged.image.blob)
    pictures = Pictures(str(original), services.blobs.get(staged.view.blob))
    return Session(
        prompt, pictures, tracer=tracer, clock=clock, blobs=services.blobs,
        upstream=plan.upstream.for_episode(staged.task.id, epoch), backends=services.backends,
        skills=plan.skills, web=plan.web, search=plan.search,
        eyes=plan.eyes and plan.eyes.for_episode(staged.task.id, epoch), costs=plan.costs,
        actions=load_actions(plan.config.actions),
        memory=None if isinstance(memory, EpisodeState) else memory,
        state=memory if isinstance(memory, EpisodeState) else None,
        table=Table(game) if game else None,
    )  # fmt: skip


def _log_start(
    session: Session, services: RunServices, staged: StagedTask, epoch: int, attempt: int, earlier: list[str]
) -> None:
    prompt = session.prompt
    shown = prompt.model_dump_json(exclude={"token"})
    session.log(
        "runner",
        "episode_start",
        {
            "version": __version__,
            "run": services.run.path.name,
            "id": staged.task.id,
            "epoch": epoch,
            "attempt": attempt,
            "agent": services.plan.agent_name,
            "model": services.plan.upstream.name,
            "image": prompt.image.model_dump(exclude_none=True),
            "view": prompt.view.model_dump(exclude_none=True),
            "prompt_sha256": hashlib.sha256(shown.encode()).hexdigest(),
            "limits": prompt.limits.model_dump(),
        },
    )
    for note in earlier:
        message = f"an earlier attempt failed: {note}"
        session.log("runner", "log", {"level": "warning", "message": message})


def _record(
    services: RunServices,
    staged: StagedTask,
    session: Session,
    outcome: Outcome,
    epoch: int,
    attempt: int,
    started: str,
) -> EpisodeRecord:
    answer = outcome.answer
    return EpisodeRecord(
        id=staged.task.id,
        epoch=epoch,
        attempt=attempt,
        status=outcome.status,
        agent=services.plan.agent_name,
        model=services.plan.upstream.name,
        answer=answer.text if answer else None,
        confidence=answer.confidence if answer else None,
        rationale=answer.rationale if answer else None,
        seconds=round(session.clock.wall, 3),
        charged_seconds=round(session.clock.charged, 3),
        counts=session.counts,
        tokens=session.tokens if session.tokens.input is not None else None,
        role_tokens=session.role_tokens,
        cost=session.cost,
        error=outcome.error,
        picture=sight_of(session.shown),
        started=started,
        trace=f"{episode_key(staged.task.id, epoch)}.jsonl",
    )
