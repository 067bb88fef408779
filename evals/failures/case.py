"""Case (a wrong answer with all that is known of its episode) and the two words that a stage has for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from fieldmark.evals.failures.calls import LOOK_UPS, LOOKS, Call, calls_of
from fieldmark.findings import FailureLabel, GoldFacts, Link, RetrievalFailure, TraceFacts
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.task import Gold
from fieldmark.trace import Action, Answer, Event

WrongOutcome = Literal["partially_correct", "incorrect", "uncertain", "no_answer"]
"""What became of an answer that is not correct: the judge's label, or that there was no answer."""
Word = Literal["right", "wrong", "unsure"]
"""What a person said of the answer in `fieldmark judge --audit`."""
OpenReason = Literal[
    "no_gold", "no_facts", "looked_only", "may_be_related", "seen_unknown", "picture_unknown", "no_hierarchy"
]
"""Why facts left a case open; docs/taxonomy.md lists them."""


@dataclass(frozen=True)
class Case:
    """One answer that is not correct.

    `gold` and `gold_facts` are None where the private part is not there, `facts` where the trace cannot be
    read.
    """

    question: str
    outcome: WrongOutcome
    record: EpisodeRecord
    verdict: Verdict | None
    gold: Gold | None
    events: Sequence[Event]
    facts: TraceFacts | None
    gold_facts: GoldFacts | None
    audit: Word | None = None

    @property
    def answer(self) -> str:
        """What the agent said, "" without an answer."""
        return (self.record.answer or "").strip() if self.record.status == "answered" else ""

    @cached_property
    def calls(self) -> list[Call]:
        """What it did before it answered, in order."""
        return calls_of(self.events)

    @property
    def searched(self) -> bool:
        """Whether a look-up did its job, the agent's own code's too."""
        return bool(self.facts and self.facts.searched) or self._did(LOOK_UPS)

    @property
    def had_picture(self) -> bool | None:
        """Whether the task picture came to it: in a model call, by a look or a search by picture. None where
        no model was asked: its code may have read the file.
        """
        if (self.facts and self.facts.looked) or self._did(LOOKS | {"reverse_image_search"}):
            return True
        seen = self.facts.picture if self.facts else None
        return None if seen is None else seen != "none"

    def _did(self, actions: frozenset[Action]) -> bool:
        return any(call.ok and call.action in actions for call in self.calls)

    @property
    def answered(self) -> tuple[int, ...]:
        """The `seq` of the answer that counts, the last one; () without an answer."""
        return tuple(event.seq for event in self.events if isinstance(event, Answer))[-1:]

    @property
    def end(self) -> tuple[int, ...]:
        """The `seq` of the last event."""
        return (self.events[-1].seq,) if self.events else ()


@dataclass(frozen=True)
class Decision:
    """A stage's word. `events` need no gold to be found; `gold_events` and `reason` are private.

    `source` is the hierarchy behind `neighbour_confusion` and `too_broad`.
    """

    label: FailureLabel
    reason: str
    sub: RetrievalFailure | None = None
    link: Link | None = None
    events: tuple[int, ...] = ()
    gold_events: tuple[int, ...] = ()
    source: str | None = None


@dataclass(frozen=True)
class Open:
    """Stage one did not decide, and why not."""

    why: OpenReason


class SecondStage(Protocol):
    """What decides where facts did not: a model. `name` stands in each row as its `classifier`.

    Called from several threads at once. None when it has no word either. What it raises leaves that case
    open; UsageError and InterruptedRun end the sitting.
    """

    name: str

    def __call__(self, case: Case, open_: Open) -> Decision | None: ...
