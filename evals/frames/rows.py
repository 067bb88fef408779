"""The columns of each table, with their units; `docs/sql.md` is held to them by a test.

Nothing here is gold. `FactRow` has what only gold could tell, where the private part of a run is there.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class _Run(BaseModel):
    run: str = Field(description="the run: its folder's name, or the path as given where two share a name")
    id: str = Field(description="the task")


class _Arm(BaseModel):
    arm: str | None = Field(description="the arm of a study; null outside one, as is the next")
    task_order: int | None = Field(description="its order of the tasks; null where the study has none")


class _Key(_Run):
    epoch: int = Field(description="which look at the task, from 0")


class TaskRow(_Arm, _Run):
    """A task of the run, done or not."""

    question: str = Field(description="what was asked")
    split: str = Field(description='label; "(none)" where there is none')
    top: str = Field(description="label: top category")
    mid: str = Field(description="label: mid category")
    source: str = Field(description="label: where the picture comes from")
    language: str = Field(description="label")
    facets: str | None = Field(description="labels that only this benchmark has, a JSON object; null: none")
    episodes: int = Field(description="episodes of it that are there")
    width: int | None = Field(description="pixels of the original picture")
    height: int | None = Field(description="pixels of the original picture")


class EpisodeRow(_Arm, _Key):
    """An episode that ended."""

    split: str = Field(description="label of the task, as are the next four")
    top: str = Field(description="top category")
    mid: str = Field(description="mid category")
    source: str = Field(description="where the picture comes from")
    language: str = Field(description="of the question")
    facets: str | None = Field(description="labels that only this benchmark has, a JSON object; null: none")
    agent: str = Field(description="who answered")
    model: str = Field(description="the agent's model")
    status: str = Field(description="answered, empty, timeout, agent_error, budget; sandbox_error is ours")
    error_boundary: str | None = Field(description="which boundary broke")
    error_kind: str | None = Field(description="how, in one word")
    outcome: str = Field(
        description="correct, partially_correct, incorrect, uncertain, no_answer; unjudged, sandbox_error"
    )
    done: bool = Field(description="in the denominator of strict accuracy")
    correct: bool | None = Field(description="judged correct; null where not done")
    finer: bool | None = Field(description="correct, and more specific than the reference; null: not done")
    score: float | None = Field(description="the judge's, 0–1")
    level: str | None = Field(description="exact, finer, broader, wrong, unclear, abstained, none")
    answer: str | None = Field(description="the answer")
    confidence: float | None = Field(description="as the agent told it, 0–1")
    seconds: float = Field(description="wall seconds since the lease")
    charged_seconds: float = Field(description="the limit's clock: without the gateway's own waiting")
    model_seconds: float | None = Field(description="seconds in model calls, parallel ones once")
    tool_seconds: float | None = Field(description="seconds in tools and in no model call")
    waiting_seconds: float | None = Field(description="seconds that the gateway waited")
    own_seconds: float | None = Field(description="the other seconds: the agent's framework itself")
    acts: int | None = Field(description="acts; null without a readable trace, as are all figures of traces")
    failed_acts: int | None = Field(description="acts that failed")
    skill_calls: int | None = Field(description="calls to read a skill; no acts, as are the next three")
    memory_calls: int | None = Field(description="calls to recall or remember")
    todo_calls: int | None = Field(description="calls to a to-do list")
    subagent_calls: int | None = Field(description="calls that began a sub-agent")
    model_calls: int | None = Field(description="requests of the agent to its model")
    input_tokens: int | None = Field(description="tokens of the agent's model, as its server reports them")
    cached_tokens: int | None = Field(description="part of input_tokens")
    output_tokens: int | None = Field(description="tokens of the agent's model")
    cost: float | None = Field(description="USD of all models but the judge; null where any part is unknown")
    picture: str | None = Field(description="how the picture reached the model: exact, resampled, none")
    picture_lost: bool | None = Field(description="it was there, and went")
    copied: bool | None = Field(description="came upon the task picture itself; null: nobody looked")
    leaked: bool | None = Field(description="and that gave the answer away")
    attempt: int = Field(description="the attempt that counts, from 0")
    started: str = Field(description="UTC, ISO 8601")


class CallRow(_Key):
    """A call of a tool, or one that it led to. Rows of kind act are the acts, innermost ones those of the
    tables by tool.
    """

    n: int = Field(description="which call of the model in this episode, from 0; what it led to shares it")
    kind: str = Field(description="act; inner: an act led to it; skill, memory, todo, subagent: no act")
    name: str = Field(description="the tool")
    action: str = Field(description="what it is, by one name for every framework")
    innermost: bool = Field(description="an act that led to no call, or the last of those it led to")
    ok: bool | None = Field(description="it did its job; null: no result was seen")
    error_kind: str | None = Field(
        description="not_found, invalid_args, denied, timeout, unavailable, runtime"
    )
    seconds: float | None = Field(
        description="seconds of its result; an upper bound where only the gateway saw"
    )
    seq: int = Field(description="its event in the trace; the model's response where none tells of it")
    skills: str | None = Field(description="the skills that carry the tool, with commas; null: unknown")


class VerdictRow(_Key):
    """The latest verdict of each judge on an episode."""

    judge: str = Field(description="who judged")
    current: bool = Field(description="by the run's judge: the verdict that counts")
    label: str = Field(description="correct, partially_correct, incorrect, uncertain")
    score: float = Field(description="0–1")
    finer: bool = Field(description="more specific than the reference and compatible")
    votes: int | None = Field(description="votes of a panel")
    agreeing: int | None = Field(description="votes for the label")
    repaired: bool = Field(description="read from a reply that was not quite JSON")
    truncated: bool = Field(description="read from a reply without an end")
    model_calls: int | None = Field(description="requests to the judge's model; null: it is none")
    input_tokens: int | None = Field(description="tokens of the judge's model, as its server reports them")
    output_tokens: int | None = Field(description="tokens of the judge's model")


class FactRow(_Key):
    """What is stored of the trace of an episode (docs/facts.md). From `reached` on only gold can tell: null
    without it.
    """

    acts: int = Field(description="acts")
    failed_acts: int = Field(description="acts that did not do their job")
    looked: bool = Field(description="one act or more looked at the picture")
    searched: bool = Field(description="one act or more looked something up")
    first_act: float | None = Field(description="seconds from the lease to the first act")
    answered_from: str = Field(description="no_act, other, looking, retrieval")
    answer_event: int | None = Field(description="seq of the result in which the answer stood first")
    picture: str | None = Field(description="what of the picture reached the model")
    picture_lost: bool = Field(description="it was there, and went")
    reached: bool | None = Field(description="an evidence URL of gold was returned or opened")
    reached_event: int | None = Field(description="seq of it")
    reached_domain: bool | None = Field(description="a page of its domain was")
    seen: bool | None = Field(description="a result before the answer holds gold or an alias")
    seen_event: int | None = Field(description="seq of it")
    seen_action: str | None = Field(description="the action that brought it")
    confirmed_event: int | None = Field(description="seq of a look-up that named gold and brought it back")
    region: bool | None = Field(description="the right place of the picture was looked at")
    region_event: int | None = Field(description="seq of it")
    region_held: float | None = Field(description="most of a gold region that one look held, 0–1")
    region_iou: float | None = Field(description="best intersection over union of a look and a region, 0–1")
    dropped: bool | None = Field(description="a reply named gold, and the answer does not")
    dropped_event: int | None = Field(description="seq of it")
    supported: bool | None = Field(description="of a correct answer: gold was seen before; else it was luck")


class FailureRow(_Key):
    """Why an answer was not correct."""

    taxonomy: str = Field(description="the version of the classes")
    label: str | None = Field(description="the class; null while it is open")
    sub: str | None = Field(description="of wrong_entity_retrieval: not_retrieved, misjudged")
    link: str | None = Field(description="the first broken link: grounding, retrieval, reasoning")
    stage: str = Field(description="what decided: facts, model; open: nothing yet")
    classifier: str = Field(description="who decided")
    events: str = Field(description="the seq of the events that show it, as JSON")


class ChainBreakRow(_Key):
    """Which link of an answer that was not correct broke first, by Pix2Fact's scheme."""

    scheme: str = Field(description="the scheme and its version")
    link: str | None = Field(description="grounding, retrieval, reasoning; null: none broke, or it is open")
    kind: str | None = Field(description="how it broke, by the kinds of the scheme")
    said_by: str = Field(description="what said it: facts, presumed, model; open: nothing yet")
    classifier: str = Field(description="who said it")
