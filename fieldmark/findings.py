"""What is found in the trace of an episode after it ended: facts, and why an answer was wrong.

Rows of `facts.jsonl` rest on the trace alone, those of `failures.jsonl` are classes, as a verdict is one:
both may be published. What quotes or points at gold stands in `private/gold_facts.jsonl` and
`private/failure_reasons.jsonl`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fieldmark.records import Row
from fieldmark.trace import Action

AnsweredFrom = Literal["no_act", "other", "looking", "retrieval"]
"""What came before the answer: nothing, acts that neither looked nor looked up with success, looks at the
picture alone, or at least one successful look-up.
"""

FailureLabel = Literal[
    "wrong_entity_retrieval",
    "visual_grounding",
    "neighbour_confusion",
    "too_broad",
    "no_acquisition",
    "generation_or_empty",
    "tool_failure",
    "timeout_or_budget",
    "format_or_instruction",
    "judge_or_label_doubt",
]
"""The classes of the failure taxonomy; `evals/failures/` defines them."""
RetrievalFailure = Literal["not_retrieved", "misjudged"]
Link = Literal["grounding", "retrieval", "reasoning"]
"""The first broken link of a wrong answer."""
ChainKind = Literal[
    "missed_target",
    "incorrect_target",
    "attribute_misreading",
    "faulty_query",
    "extraction_error",
    "inconsistency",
    "calculation",
    "instruction_following",
    "retrieval_planning",
]
"""How a link broke, by Pix2Fact's scheme; `evals/failures/chain/scheme.py` defines them."""
BrokenBy = Literal["facts", "presumed", "model", "open"]
"""What said which link broke: facts, facts that leave another one possible, a model, or nothing yet."""
Stage = Literal["facts", "model", "open"]
"""What decided a label: the facts of the trace, a model, or nothing yet (then there is no label)."""


class TraceFacts(Row):
    """What the trace alone says of an episode. A `*_event` is the `seq` of the event that shows it.

    `acts` are those of `evals/metrics/acts.py`, `failed_acts` those that did not do their job. `looked` and
    `searched` ask for one successful act that looks at the picture, or looks something up. `first_act` is in
    seconds since the lease. `answer_event` is the result in which the agent's own answer stood first.
    `picture` is what of the task picture reached the model; `picture_lost` that it was there and went.
    """

    acts: int = 0
    failed_acts: int = 0
    looked: bool = False
    searched: bool = False
    first_act: float | None = None
    answered_from: AnsweredFrom = "no_act"
    answer_event: int | None = None
    picture: Literal["exact", "resampled", "none"] | None = None
    picture_lost: bool = False


class GoldFacts(Row):
    """What only gold can say of an episode: private. None where it cannot be known.

    `reached`: a gold evidence URL was returned or opened; `reached_domain`: a page of its domain was.
    `seen`: a result before the answer holds gold or an alias that its call had not named; `seen_action` is of
    that call. None where the question names gold. `confirmed_event`: a look-up that named gold brought it
    back.
    `region`: the agent looked at the right place of the picture (only where gold has a region); of its looks,
    `region_held` is the most of a region that one held, `region_iou` the best intersection over union, 0–1.
    `dropped`: a reply or hypothesis named gold, and the answer does not; right → wrong.
    `supported`: of a correct answer, gold or that answer was seen before it was given; else it was luck. It
    is not stored, for the verdict can change: `judged` of `evals/facts/found.py` adds it.
    """

    reached: bool | None = None
    reached_event: int | None = None
    reached_domain: bool | None = None
    seen: bool | None = None
    seen_event: int | None = None
    seen_action: Action | None = None
    confirmed_event: int | None = None
    region: bool | None = None
    region_event: int | None = None
    region_held: float | None = None
    region_iou: float | None = None
    dropped: bool = False
    dropped_event: int | None = None
    supported: bool | None = None


class Failure(Row):
    """Why the answer of a completed episode was not correct. `events` are the `seq`s that show it and need no
    gold to be found. `label` is None while `stage` is "open": facts did not decide, and no model was asked.
    `classifier` names what decided, `taxonomy` the version of the classes.

    `outcome` is what the answer was when it was classified: the judge's label, or `no_answer`. `hierarchy` is
    the source of names behind `neighbour_confusion` and `too_broad`. `why_open`: why facts did not decide.
    """

    taxonomy: str
    outcome: str = ""
    label: FailureLabel | None
    sub: RetrievalFailure | None = None
    link: Link | None = None
    stage: Stage
    classifier: str
    hierarchy: str | None = None
    why_open: str | None = None
    events: list[int] = Field(default_factory=list)


class FailureReason(Row):
    """The private part of a Failure: its `reason` and the events that gold found."""

    classifier: str
    reason: str
    events: list[int] = Field(default_factory=list)


class ChainBreak(Row):
    """The first broken link of a wrong answer by a `scheme` of others (name/version), beside the taxonomy.

    `link` None with `by` not "open": nothing of the chain broke (no answer, a verdict in doubt). `outcome`
    and `classifier` are as in Failure. Reason and events are private (FailureReason).
    """

    scheme: str
    outcome: str
    link: Link | None
    kind: ChainKind | None = None
    by: BrokenBy
    classifier: str


class FailureMark(Row):
    """A person's word on a wrong answer: a label, or a doubt about the verdict (`judge_or_label_doubt`).

    `scheme`: `link` and `kind` are said by a scheme of others; None: `link` by the taxonomy's definition.
    `sighted`: what the classifier or another person had said was shown beside it.
    """

    annotator: str
    label: FailureLabel
    sub: RetrievalFailure | None = None
    link: Link | None = None
    kind: ChainKind | None = None
    scheme: str | None = None
    note: str = ""
    sighted: bool = False
    when: str = ""
