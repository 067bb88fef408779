"""From an event of a recorded episode to a fork: which call is changed, which request comes first after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from fieldmark.counting import counted
from fieldmark.errors import UsageError
from fieldmark.forking.asked import Asked
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.conversation.said import plain_id
from fieldmark.sandbox.gateway.replay import reply
from fieldmark.sandbox.gateway.replay.change import Change, PictureChange, ReplyChange, ResultChange
from fieldmark.sandbox.gateway.replay.fork import Fork
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.sandbox.gateway.wire.common import compact
from fieldmark.sandbox.gateway.wire.editing import holds_result
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import stored_text
from fieldmark.trace import (
    CallRequest,
    EpisodeStart,
    Event,
    ModelRequest,
    ModelResponse,
    ToolCall,
    ToolResult,
)

FITS: dict[str, tuple[str, ...]] = {
    "arguments": ("tool_call", "model_response"),
    "reply": ("model_response",),
    "result": ("tool_result",),
}
"""Change → the kinds of events that it is for; a picture is put in from any event on."""


def read_events(run: RunDir, task: str, epoch: int) -> list[Event]:
    """The trace of an episode. UsageError: there is none, or it cannot be read."""
    ids = [str(row["id"]) for row in run.tasks()]
    if task not in ids:
        some = f"its ids are {', '.join(ids[:5])}{', …' if len(ids) > 5 else ''}"
        raise UsageError(f"no task {task!r} in {run.path}: {some}")
    records = {record.key: record for record in run.episodes()}
    if (task, epoch) not in records:
        others = sorted(done for name, done in records if name == task)
        instead = f"name --epoch {others[0]}" if others else f"finish it: fieldmark run --resume {run.path}"
        raise UsageError(f"{run.path} has no finished episode of task {task!r} in epoch {epoch}: {instead}")
    events = run.events(records[task, epoch])
    if not events:
        raise UsageError(f"the trace of {task!r} in {run.path} cannot be read: take another episode")
    return events


def find(run: RunDir, task: str, epoch: int, seq: int, asked: Asked) -> tuple[Fork, str]:
    """The fork, and one line that says what it changes. UsageError: there is nothing of the kind there."""
    events = read_events(run, task, epoch)
    event = _event(events, seq, asked)
    recording = Recording.open(run.path)
    try:
        change, first, told = _change(events, event, asked, recording)
    except KeyError:
        raise UsageError(f"{run.path}/blobs lacks what event {seq} needs: restore the folder") from None
    return Fork(recording, task, epoch, first, change), told


def _change(events: list[Event], event: Event, asked: Asked, recording: Recording) -> tuple[Change, int, str]:
    """The change, the number of the first event that is no longer the recording's, and what is told."""
    if asked.what == "picture":
        return _picture(events, event, asked, recording)
    if isinstance(event, ToolResult):
        return _result(events, event, asked, recording)
    if asked.what == "reply" and isinstance(event, ModelResponse):
        response = _whole(event).model_copy(
            update={"text": asked.text, "forked": {"change": "reply", "was": event.text}}
        )
        return ReplyChange(response), event.seq, f"the text of the reply to {event.call}"
    response, index = _asked_call(events, event)
    call = _named(response.tool_calls[index], response)
    return _arguments(response, index, asked.text), response.seq, f"the arguments of {call}"


def _event(events: Sequence[Event], seq: int, asked: Asked) -> Event:
    found = next((event for event in events if event.seq == seq), None)
    if found is None:
        raise UsageError(f"no event {seq}: those of this episode are 0 to {events[-1].seq}")
    kinds = FITS.get(asked.what)
    if kinds and found.kind not in kinds:
        raise UsageError(f"event {seq} is a {found.kind}: --{asked.what} is for a {' or a '.join(kinds)}")
    return found


def _whole(response: ModelResponse) -> ModelResponse:
    if response.http != 200 or response.error or not reply.is_whole(response):
        raise UsageError(f"event {response.seq} is no whole reply (HTTP {response.http}): take another one")
    return response


def _asked_call(events: Sequence[Event], event: Event) -> tuple[ModelResponse, int]:
    """The reply in which the model asked for a call, and the call's place in it."""
    if isinstance(event, ModelResponse):
        if len(event.tool_calls) != 1:
            many = f"{counted(len(event.tool_calls), 'call')}: name the tool_call event of one"
            raise UsageError(f"event {event.seq} holds {many if event.tool_calls else 'no call'}")
        return _whole(event), 0
    assert isinstance(event, ToolCall)
    call, _, index = (event.tap or "").rpartition(".")
    found = [each for each in events if isinstance(each, ModelResponse) and each.call == call]
    if not found or int(index) >= len(found[0].tool_calls):
        raise UsageError(f"event {event.seq} is no call of the model's own: name the call that it is made in")
    return _whole(found[0]), int(index)


def _arguments(response: ModelResponse, index: int, text: str) -> Change:
    if response.in_text:
        raise UsageError(f"the calls of {response.call} stand in its text: change that, with --reply")
    call = response.tool_calls[index]
    calls = list(response.tool_calls)
    calls[index] = call.model_copy(update={"arguments": _spelt(call.arguments, text)})
    forked = {"change": "arguments", "call": call.id, "was": call.arguments}
    return ReplyChange(response.model_copy(update={"tool_calls": calls, "forked": forked}))


def _spelt(was: str, text: str) -> str:
    """The new arguments; where they say the same as the old ones, in the spelling of those."""
    try:
        return was if json.loads(was) == json.loads(text) else compact(json.loads(text))
    except ValueError:
        return compact(json.loads(text))


def _result(
    events: list[Event], event: ToolResult, asked: Asked, recording: Recording
) -> tuple[Change, int, str]:
    claim = next((e for e in events if isinstance(e, ToolCall) and e.call == event.call), None)
    if claim is None:
        raise UsageError(f"the call of event {event.seq} is not in the trace: take another result")
    response, index = _asked_call(events, claim)
    call = response.tool_calls[index]
    same = [
        each for e in events if isinstance(e, ModelResponse) for each in e.tool_calls
        if plain_id(each.id) == plain_id(call.id)
    ]  # fmt: skip
    if not call.id or len(same) > 1:
        raise UsageError(
            f"the model gave several calls the id {call.id!r}: their results cannot be told apart"
        )
    for request in _requests(events, response.seq):
        wire = format_named(request.wire)
        body = json.loads(stored_text(request, recording.blobs))
        if holds_result(wire, body, lambda name: plain_id(name) == plain_id(call.id)):
            return ResultChange(call.id, asked.text), request.seq, f"what {_named(call, response)} brought"
    raise UsageError(f"no request after event {event.seq} tells the model of it: nothing can be changed")


def _picture(
    events: list[Event], event: Event, asked: Asked, recording: Recording
) -> tuple[Change, int, str]:
    request = next((each for each in _requests(events, event.seq - 1) if each.purpose != "side"), None)
    if request is None:
        raise UsageError(f"the model is asked nothing from event {event.seq} on: name an earlier one")
    tools = tuple(request.tools)
    data, media_type = asked.data, asked.media_type
    if not data:
        start = next(each for each in events if isinstance(each, EpisodeStart))
        picture = start.view if asked.text == "restore" else start.image
        data, media_type = recording.blobs.get(picture.blob), picture.media_type
    change = PictureChange(data, media_type, hashlib.sha256(data).hexdigest(), tools)
    return change, request.seq, f"the pictures of requests from {request.call} on"


def _requests(events: Sequence[Event], after: int) -> Iterator[ModelRequest]:
    """What the agent asked its model after an event."""
    for event in events:
        if isinstance(event, ModelRequest) and event.role == "agent" and event.seq > after:
            yield event


def _named(call: CallRequest, response: ModelResponse) -> str:
    return f"{call.name} ({response.call})"
