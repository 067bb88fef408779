"""What an agent believed and on which evidence, out of the stages that `forager` logs (docs/forager.md).

The logs are claims from inside a sandbox: what is not of their form is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from fieldmark.evals.inspector.trace_file import TraceFile
from fieldmark.trace import Answer, Event, Log


class Hypothesis(BaseModel):
    """A name for what is in the picture, with what speaks `pro` and `con`; `cites` are ids of evidence."""

    name: str
    level: str = ""
    confidence: float | None = None
    pro: list[str] = Field(default=[], alias="for")
    con: list[str] = Field(default=[], alias="against")
    cites: list[str] = []


class Evidence(BaseModel):
    """A result of a tool; `seq` is the number of its event, None where it is not known."""

    id: str
    tool: str = ""
    arguments: str = ""
    seq: int | None = None


class RuledOut(BaseModel):
    name: str
    why: str = ""
    cites: list[str] = []


class Ruling(BaseModel):
    """One verification: does the evidence tell `candidate` from its nearest neighbour?"""

    candidate: str
    ruling: str
    why: str = ""
    cites: list[str] = []
    mark: str = ""
    missing: str = ""
    broader: str = ""


class Stage(BaseModel):
    """The `data` of one log: all that stands then, and the evidence that is new."""

    stage: str
    hypotheses: list[Hypothesis]
    neighbour: str = ""
    tell_apart: str = ""
    ruled_out: list[RuledOut] = []
    evidence: list[Evidence] = []
    verdict: Ruling | None = None
    supported: bool | None = None


@dataclass(frozen=True)
class Belief:
    """A hypothesis as it was last held, by the log `seq`. `fate`: how it ended; `out`: why it fell."""

    last: Hypothesis
    seq: int
    out: RuledOut | None
    fate: str


@dataclass
class Foraging:
    """The whole course. `rulings` and `evidence` are in order; `evidence` by its id."""

    beliefs: list[Belief] = field(default_factory=list)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    rulings: list[tuple[int, Ruling]] = field(default_factory=list)
    neighbour: str = ""
    tell_apart: str = ""
    answer: Answer | None = None
    supported: bool | None = None

    def cited(self, ids: Iterable[str]) -> list[Evidence]:
        """The evidence of these ids that there is."""
        return [self.evidence[each] for each in ids if each in self.evidence]

    def speaks(self, each: Evidence) -> list[tuple[str, str]]:
        """("for" or "against", a name) for what cites a piece of evidence; nothing cites some."""
        held = [("for", belief.last.name) for belief in self.beliefs if each.id in belief.last.cites]
        out = [belief.out for belief in self.beliefs if belief.out]
        fell = [("against", ruled_out.name) for ruled_out in out if each.id in ruled_out.cites]
        return [*held, *fell]


def foraging(events: Iterable[Event]) -> Foraging | None:
    """None where no stage was logged."""
    found, stages = Foraging(), list[tuple[int, Stage]]()
    for event in events:
        if isinstance(event, Answer):
            found.answer = event
        elif isinstance(event, Log) and (stage := _stage((event.model_extra or {}).get("data"))):
            stages.append((event.seq, stage))
    for seq, stage in stages:
        found.evidence |= {each.id: each for each in stage.evidence}
        found.rulings += [(seq, stage.verdict)] if stage.verdict else []
        found.supported = stage.supported if stage.supported is not None else found.supported
    if not stages:
        return None
    last = stages[-1][1]
    found.neighbour, found.tell_apart = last.neighbour, last.tell_apart
    found.beliefs = list(_beliefs(stages, found))
    return found


def foraging_in(trace: TraceFile) -> Foraging | None:
    """The same; of the logs only those that name a stage are parsed."""
    return foraging(chain(trace.of("answer"), trace.of("log", b'"stage"')))


def _stage(data: Any) -> Stage | None:
    try:
        return Stage.model_validate(data)
    except ValidationError:
        return None


def _beliefs(stages: list[tuple[int, Stage]], found: Foraging) -> Iterator[Belief]:
    """Each name once, those that stand at the end first; then those only ever ruled out."""
    held: dict[str, tuple[int, Hypothesis]] = {}
    out: dict[str, tuple[int, RuledOut]] = {}
    for seq, stage in stages:
        held |= {each.name: (seq, each) for each in stage.hypotheses}
        out |= {each.name: (seq, each) for each in stage.ruled_out if each.name not in out}
    standing = {each.name for each in stages[-1][1].hypotheses}
    fallen = {each.name for each in stages[-1][1].ruled_out}
    for name in sorted({**held, **out}, key=lambda name: name not in standing):
        seq, last = held.get(name) or (out[name][0], Hypothesis(name=name))
        why = out[name][1] if name in fallen else None
        yield Belief(last, seq, why, _fate(name, why, name in standing, found))


def _fate(name: str, out: RuledOut | None, stands: bool, found: Foraging) -> str:
    rulings = [ruling.ruling for _, ruling in found.rulings if ruling.candidate == name]
    told = [f"verified: {rulings[-1]}"] if rulings else []
    if out:
        told.append("ruled out")
    elif not stands:
        told.append("given up")
    if found.answer and found.answer.text.strip().casefold() == name.strip().casefold():
        told.append("answered")
    return ", ".join(told) or "not verified"
