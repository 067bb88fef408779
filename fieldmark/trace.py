"""The trace of an episode: one typed Event per line, append-only, written by the gateway alone.

`by` says who vouches for an event: `runner`, `gateway` (seen by the tap, cannot be forged) or `sandbox`
(claimed from inside the container). Readers keep kinds and fields they do not know.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from fieldmark.errors import Boundary, ToolErrorKind

By = Literal["runner", "gateway", "sandbox"]
Box = tuple[float, float, float, float]
Contrast = Literal["none", "auto"]
Door = Literal["graph", "command", "mcp", "native"]
Action = Literal[
    "image_inspection",
    "crop_zoom",
    "ocr",
    "reverse_image_search",
    "web_search",
    "open_page",
    "browser",
    "registry",
    "code_or_shell",
    "file",
    "other",
]
Side = Literal["skill", "memory", "todo", "subagent", "answer"]
"""Calls that bring no new information about the picture; all but `answer` have their own columns."""
NoteKind = Literal["operator", "family", "visual_cue", "look_alike"]
"""What a note for later episodes may be about."""
Role = Literal["agent", "eyes", "memory"]
"""What a model is in a run."""
Purpose = Literal["step", "side", "retry"]
"""What a request is for: a step of the agent, something beside it, a step once more."""
SANDBOX_KINDS = frozenset({"tool_call", "tool_result", "skill_read", "log", "answer"})
"""The only kinds that are taken from inside a container."""


class _Open(BaseModel):
    """A record that keeps fields it does not know, so that newer files survive older readers."""

    model_config = ConfigDict(extra="allow")


class Picture(_Open):
    """A stored picture. `of` and `box` always refer to the ORIGINAL task picture, in its pixels.

    `blob` is the sha256 of the bytes; `scale` is output pixels per original pixel. What was done to a cut:
    `rotate`, degrees clockwise about the middle of the box; `contrast` "auto", where the brightness from
    `levels[0]` to `levels[1]` was stretched to 0-255.
    """

    blob: str
    media_type: str
    width: int
    height: int
    of: str | None = None
    box: Box | None = None
    scale: float | None = None
    rotate: float | None = None
    contrast: Contrast | None = None
    levels: tuple[int, int] | None = None


class Region(_Open):
    """A place on the original picture that a tool says something about (a text box, a match)."""

    of: str
    box: Box
    label: str | None = None
    score: float | None = None


class Receipt(_Open):
    """The task picture as it stood in a request, in pixels of what was sent.

    `exact`: the bytes of the view or of the original; `resampled`: the same picture, written or made smaller
    by someone else. `blob` is what was sent.
    """

    delivered: Literal["exact", "resampled"]
    blob: str
    width: int
    height: int


class Tokens(_Open):
    """What the upstream said it used; a field is None where it said nothing (unknown is not 0).

    `cached` is part of `input`, `reasoning` part of `output`.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class CallRequest(_Open):
    """One tool call as the model wrote it; `arguments` is its raw JSON text."""

    id: str
    name: str
    arguments: str


class ErrorInfo(_Open):
    """Which boundary broke, in one machine word and one human line."""

    boundary: Boundary
    kind: str
    message: str


class Event(_Open):
    """`seq`: order of arrival from 0. `t`: seconds of the host's monotonic clock since the lease."""

    model_config = ConfigDict(defer_build=True)  # a container imports them all and reads none

    seq: int
    t: float
    by: By
    kind: str


class EpisodeStart(Event):
    """Written by the runner at the lease: what is tried, on which picture, within which limits."""

    kind: Literal["episode_start"] = "episode_start"
    version: str
    run: str
    id: str
    epoch: int
    attempt: int
    agent: str
    model: str
    image: Picture
    view: Picture
    prompt_sha256: str
    limits: dict[str, Any]


class ModelRequest(Event):
    """A request as it came (`sandbox/gateway/wire/requests.py` rebuilds it), and what was changed: `sent`.

    `wire` is `chat_completions`, `responses` or `messages`. `system`, `messages` and `tools_blob` are blobs
    of JSON, pictures replaced by `blob:<sha256>`; `asked` is all else, `keys` the order of the whole. `raw`:
    the request's own spelling, where it is not compact JSON; `whole`: the request with its pictures, where
    these cannot be put back to the byte. `partial`: the server keeps the conversation, these messages only
    go on with it. `headers` are those that tell what a client is and which of its sessions this is.
    `task_picture`: how the picture of the task stood among `pictures`; None where it did not.

    `thread` names the conversation that the request belongs to. A sub-agent's has a `parent_thread`, and the
    call that began it as `parent_call` where it is known. `follows`: the call of the conversation that this
    one goes on from. `retry_of`: the call whose reply was of no use.
    `text_tools`: tools that the system prompt lists, for calls that are written as text.
    `provider_search`: the kinds of web search that it lets the server carry out itself.
    `forked`: what a fork changed of it (`docs/fork.md`); this is the request as it went out.
    """

    kind: Literal["model_request"] = "model_request"
    call: str
    role: Role = "agent"
    purpose: Purpose = "step"
    wire: str
    model: str
    asked: dict[str, Any]
    sent: dict[str, Any]
    tools: list[str]
    provider_search: list[str] = []
    tools_blob: str | None = None
    system: str | None = None
    messages: list[str]
    pictures: list[Picture]
    task_picture: Receipt | None = None
    keys: list[str] = []
    raw: str | None = None
    whole: str | None = None
    partial: bool = False
    headers: dict[str, str] = {}
    thread: str | None = None
    parent_thread: str | None = None
    parent_call: str | None = None
    follows: str | None = None
    retry_of: str | None = None
    text_tools: list[str] | None = None
    forked: dict[str, Any] | None = None


class ProviderCall(_Open):
    """A look-up that the model's server carried out itself: `kind` and `query` are its own words."""

    kind: str
    query: str | None = None


class ModelResponse(Event):
    """What came back, as the tap saw it. `seconds` from the try that counted, without `waited` before it.

    `cached`: from the cache of an earlier call (`--cache`), in no try. `forked`: what a fork changed of it.

    `finish` is `stop`, `tool_calls`, `length`, `content_filter` in every format, else the format's word.
    `in_text`: the calls stand in the text (`<tool_call>`, `<code>`), in a protocol of the agent's own.
    `provider_calls`: searches of the server's own, as far as its reply tells; they are no `tool_calls`.
    """

    kind: Literal["model_response"] = "model_response"
    call: str
    http: int
    finish: str | None = None
    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallRequest] = []
    in_text: bool = False
    provider_calls: list[ProviderCall] = []
    tokens: Tokens | None = None
    seconds: float
    first_token_seconds: float | None = None
    waited: float = 0.0
    tries: int = 1
    cached: bool = False
    error: str | None = None
    forked: dict[str, Any] | None = None


class ToolCall(Event):
    """Claimed before a tool's work. `model_call`: id of the model's call; `parent`: the call around it.

    `tap` is the gateway's own word for the model's call: `m3.0` is the first in the response of `m3`. By the
    gateway (door `native`): read from the model's response, for a call that nothing inside tells of. `side`:
    it is no act. `via`: what the model called, a tool that calls this one or its
    name with a client's prefix.

    `repaired`: the arguments were no JSON, but could be read (`fieldmark.tools.arguments`).
    """

    kind: Literal["tool_call"] = "tool_call"
    call: str
    name: str
    arguments: Any = None
    repaired: bool = False
    door: Door
    action: Action = "other"
    model_call: str | None = None
    parent: str | None = None
    tap: str | None = None
    side: Side | None = None
    via: str | None = None


class ToolResult(Event):
    """Claimed after a tool's work, with its own measured `seconds`. `ok` also when nothing was found.

    By the gateway: read from the next request; `seconds` since the model's response, an upper bound.

    `injection` quotes words of strangers in `text` that speak to a model instead of a reader.
    """

    kind: Literal["tool_result"] = "tool_result"
    call: str
    ok: bool
    seconds: float
    error_kind: ToolErrorKind | None = None
    error: str | None = None
    text: str = ""
    injection: str | None = None
    data: Any = None
    pictures: list[Picture] = []
    regions: list[Region] = []


class SamePicture(Event):
    """A result of a search by picture is the task picture itself: what the gateway gave out of it."""

    kind: Literal["same_picture"] = "same_picture"
    title: str = ""
    page: str = ""
    source: str = ""
    image: str = ""
    thumbnail: str = ""


class SkillRead(Event):
    """A file of a skill was read; `sha256` is of the file."""

    kind: Literal["skill_read"] = "skill_read"
    skill: str
    file: str
    sha256: str


class MemoryRead(Event):
    """Notes of earlier episodes that a query brought, `{note, score, text, look}` each: the score and its two
    halves; `same` names notes with the same text. `at`: put into the prompt at the lease, where the question
    is the query, or asked for by `recall`.

    `memory`, at the lease: what the episode could read. `notes` of them, out of the first `known` lines of
    the run's log, and their `sha256`.
    """

    kind: Literal["memory_read"] = "memory_read"
    query: str
    hits: list[dict[str, Any]]
    at: Literal["lease", "recall"] = "lease"
    memory: dict[str, Any] | None = None


class MemoryWrite(Event):
    """A note `about` something, taken for later episodes; `cites` are the `seq` of results of this one."""

    kind: Literal["memory_write"] = "memory_write"
    note: str
    text: str
    cites: list[int]
    about: NoteKind | None = None


class MemoryState(Event):
    """Files that an agent of others began with or left, `state` the blob; `known`: lines the log had then."""

    kind: Literal["memory_state"] = "memory_state"
    at: Literal["lease", "end"]
    state: str
    files: int
    bytes: int
    known: int | None = None


class GameTurn(Event):
    """What an agent said in a game of the host, `text`, and what it was told, `reply`.

    `turn` counts questions from 1, 0 while pictures are uploaded; `numbers` are the places of `pictures`
    in the gallery. `rule`: which one the text broke, and `about` what. `guess`: as it was heard.
    """

    kind: Literal["game_turn"] = "game_turn"
    turn: int
    phase: Literal["uploading", "asking", "over"]
    text: str
    reply: str
    pictures: list[Picture] = []
    numbers: list[int] = []
    rule: str | None = None
    about: str | None = None
    guess: int | None = None


class Egress(Event):
    """A web request through the gateway. `bytes` is the length of the body; `blob` its content."""

    kind: Literal["egress"] = "egress"
    method: str
    url: str
    http: int | None = None
    bytes: int = 0
    decision: Literal["allowed", "denied", "replayed", "missed"]
    reason: str | None = None
    blob: str | None = None


class Log(Event):
    """A remark: of the runner, the gateway, or claimed from inside."""

    kind: Literal["log"] = "log"
    level: Literal["info", "warning", "error"] = "info"
    message: str


class Answer(Event):
    """An answer as claimed; the last one before the end counts. `evidence`: a `seq` or a URL each.

    `parsed_by`: `tool` (it was given by the tool `answer`), else how it was found in `raw`
    (`fieldmark.agents.parsing`).
    """

    kind: Literal["answer"] = "answer"
    text: str
    confidence: float | None = None
    rationale: str | None = None
    evidence: list[int | str] = []
    raw: str = ""
    parsed_by: str | None = None


class EpisodeEnd(Event):
    """Written by the runner last. Seconds since the lease; `charged_seconds` without the gateway's waits.

    `tokens` are the agent's, `role_tokens` those of the other models. `cost`: USD, None where any is unknown.
    """

    kind: Literal["episode_end"] = "episode_end"
    status: str
    error: ErrorInfo | None = None
    seconds: float
    charged_seconds: float
    counts: dict[str, int]
    tokens: Tokens | None = None
    role_tokens: dict[Role, Tokens] = {}
    cost: float | None = None


KnownEvent = Annotated[
    EpisodeStart
    | ModelRequest
    | ModelResponse
    | ToolCall
    | ToolResult
    | SamePicture
    | SkillRead
    | MemoryRead
    | MemoryWrite
    | MemoryState
    | GameTurn
    | Egress
    | Log
    | Answer
    | EpisodeEnd,
    Field(discriminator="kind"),
]
_KNOWN: TypeAdapter[KnownEvent] = TypeAdapter(KnownEvent, config=ConfigDict(defer_build=True))
_KINDS = frozenset(kind.model_fields["kind"].default for kind in get_args(get_args(KnownEvent)[0]))


def parse_event(row: dict[str, Any]) -> Event:
    """A typed Event from one line; an unknown kind becomes a plain Event that keeps its fields.

    Raises `pydantic.ValidationError` when a known kind lacks a field.
    """
    kind = row.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return _KNOWN.validate_python(row)
    return Event.model_validate(row)
