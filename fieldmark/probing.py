"""Before a run spends anything: does this agent, with this model, really see the picture it is given?

One episode of the run's own agent, model and container on a generated picture. It has no tools, so that what
is named was seen; it lies in `probe/` of the run folder and is in no statistics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from fieldmark.blobs import BlobStore
from fieldmark.doctor.picture import ProbePicture, draw
from fieldmark.episode import Stage
from fieldmark.errors import EpisodeFault, InterruptedRun
from fieldmark.preflight import Plan
from fieldmark.records import EpisodeRecord, Sight
from fieldmark.rundir import RunDir
from fieldmark.staging import stage
from fieldmark.task import Gold, Task
from fieldmark.trace import Tokens

QUESTION = "Which colour fills this picture, and which number stands in it? Name both and nothing else."
ATTEMPTS = 2
"""A probe that broke through no fault of the agent is tried again."""

Say = Callable[[str], None]


class Probe(BaseModel):
    """What run.json keeps of it. `blind`: which of the two does not see; `why` is one line for a person.

    `allowed`: the run went on with a blind pair, because it was told to. `seconds`, `tokens` and `cost` are
    the probe's own, and in no figure of the run.
    """

    verdict: Literal["sees", "blind", "unclear", "not probed"]
    blind: Literal["agent", "model"] | None = None
    why: str
    allowed: bool = False
    picture: Sight | None = None
    answer: str | None = None
    status: str | None = None
    seconds: float | None = None
    tokens: Tokens | None = None
    cost: float | None = None

    @classmethod
    def recorded(cls, config: dict[str, Any]) -> Probe | None:
        """The probe of a run.json; None while there was none."""
        return cls.model_validate(config["probe"]) if config.get("probe") else None


def is_due(folder: RunDir, plan: Plan) -> bool:
    """Whether a probe episode is to be played: once, and before the first episode of the run."""
    begun = folder.config().get("probe") is not None or bool(folder.episodes())
    return plan.upstream.sees and plan.config.probe and not begun and not plan.recording and not plan.games


async def look_first(services: Stage, say: Say) -> None:
    """Play the probe where it is due, and record it. InterruptedRun: one of the two is blind."""
    folder, plan = services.run, services.plan
    if Probe.recorded(folder.config()) is None:
        probe = await _play(services) if is_due(folder, plan) else _not_probed(plan)
        _record(folder, probe)
        if probe.verdict != "not probed":
            say(f"probe: {probe.verdict}: {probe.why}")
    refuse_blind(folder, plan)


def refuse_blind(folder: RunDir, plan: Plan) -> None:
    """InterruptedRun where a pair was found blind and nobody allows that; that it is allowed is recorded."""
    probe = Probe.recorded(folder.config())
    if probe is None or probe.verdict != "blind" or probe.allowed:
        return
    if not plan.config.allow_blind:
        raise InterruptedRun(
            f"{probe.why}; mend that, start again with --blind, or go on all the same with: "
            f"fieldmark run --resume {folder.path} --allow-blind"
        )
    _record(folder, probe.model_copy(update={"allowed": True}))


def judge_probe(drawn: ProbePicture, record: EpisodeRecord) -> Probe:
    """What a probe episode shows. Only both right is sight, only both wrong is blindness."""
    sight = record.picture or Sight(delivered="none")
    verdict, blind, why = _verdict(drawn, record, sight)
    return Probe(
        verdict=verdict, blind=blind, why=why, picture=sight, answer=record.answer, status=record.status,
        seconds=record.seconds, tokens=record.tokens, cost=record.cost,
    )  # fmt: skip


def _verdict(
    drawn: ProbePicture, record: EpisodeRecord, sight: Sight
) -> tuple[Literal["sees", "blind", "unclear"], Literal["agent", "model"] | None, str]:
    agent, model = f"agent {record.agent!r}", f"model {record.model!r}"
    said = (record.answer or "").strip()[:80]
    right = drawn.sees(said)
    if record.status == "sandbox_error":
        return "unclear", None, f"the probe broke: {record.error.message if record.error else 'a fault'}"
    if sight.delivered == "none":
        if all(right):
            return "unclear", None, f"{agent} named the probe, though no request held its picture"
        if sight.refused:
            return "blind", "model", f"{model} is blind: its server refuses requests with a picture"
        if not sight.calls:
            return "unclear", None, f"{agent} made no model call (it ended as {record.status})"
        return "blind", "agent", f"{agent} is blind: it sent no picture in {_calls(sight)}"
    reached = f"the picture reached it ({sight.delivered}, {sight.width}x{sight.height})"
    if all(right):
        return "sees", None, f"{model} named colour and number; {reached}"
    if record.status != "answered" or not said:
        return "unclear", None, f"{model} gave no answer ({record.status}); {reached}"
    if any(right):
        half = "colour" if right[0] else "number"
        return "unclear", None, f"{model} named only the {half} right ({said!r}); {reached}"
    return "blind", "model", f"{model} is blind: {reached}, and it answered {said!r}"


def _calls(sight: Sight) -> str:
    return f"{sight.calls} model call{'s' if sight.calls > 1 else ''}"


def _not_probed(plan: Plan) -> Probe:
    if not plan.upstream.sees:
        return Probe(verdict="not probed", why="the model is said to take no pictures")
    if plan.recording:
        return Probe(verdict="not probed", why="a recorded model answers only what it was asked then")
    why = "the run had begun without one" if plan.config.probe else "--no-probe"
    return Probe(verdict="not probed", why=why)


async def _play(services: Stage) -> Probe:
    """The probe episode, in a run folder of its own."""
    plan, folder = services.plan, RunDir(services.run.path / "probe")
    drawn = draw(plan.config.seed)
    inside = services.aside(folder, replace(plan, tools=[], skills=[]))
    try:
        for place in (folder.traces, folder.blobs):
            place.mkdir(parents=True, exist_ok=True)
        staged = stage(_task(drawn, folder.path), plan.config.image_side, BlobStore(folder.blobs))
        for attempt in range(ATTEMPTS):
            record, outcome = await inside.play(staged, attempt=attempt)
            if outcome.stops_run:
                raise InterruptedRun(_stopped(services.run, record))
            if record.status != "sandbox_error":
                break
        folder.commit(record, folder.pending_trace(record.id, record.epoch, record.attempt))
    except OSError as error:
        raise InterruptedRun(f"the run folder cannot be written: {error.strerror}") from None
    except EpisodeFault as fault:  # nothing is left to play it on
        raise InterruptedRun(f"{fault}; go on with: fieldmark run --resume {services.run.path}") from None
    return judge_probe(drawn, record)


def _task(drawn: ProbePicture, folder: Path) -> Task:
    image = folder / "picture.png"
    image.write_bytes(drawn.png)
    return Task(
        id="probe", question=QUESTION, image=image, gold=Gold(answer=f"{drawn.colour} {drawn.number}")
    )


def _stopped(folder: RunDir, record: EpisodeRecord) -> str:
    why = record.error.message if record.error else "a fault"
    return f"{why}; go on with: fieldmark run --resume {folder.path}"


def _record(folder: RunDir, probe: Probe) -> None:
    told = probe.model_dump(mode="json", exclude_none=True)
    folder.write_config({**folder.config(), "probe": told})
