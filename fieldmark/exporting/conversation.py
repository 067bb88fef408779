"""An episode as a conversation: what was said to the model, what it said, what its calls brought.

Read from the model calls that the gateway saw, so that it is the same for every framework. Side calls
(titles, summaries) and replies that the framework had no use for are left out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.chat import text_of
from fieldmark.evals.metrics.turns import Turn, turns
from fieldmark.sandbox.gateway.wire.common import Format, as_dict, as_list
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.trace import CallRequest, Event, ModelRequest, ModelResponse, Picture, ToolCall, ToolResult

GONE = "(not in this copy of the run)"
_BLOB = re.compile(r"blob:([0-9a-f]{64})")
_OUTSIDE = frozenset({"system", "developer"})


@dataclass(frozen=True)
class Said:
    """What the model was told: by the system, or as a user."""

    system: bool
    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Done:
    """A call of the model. `id` is the only one of its name in the episode; `result` None: none was seen."""

    id: str
    tap: str
    name: str
    arguments: dict[str, Any]
    readable: bool
    result: ToolResult | None


@dataclass(frozen=True)
class Step:
    """One reply of the model: what was new in its request, the reply, its calls."""

    before: tuple[Said, ...]
    request: ModelRequest
    response: ModelResponse
    calls: tuple[Done, ...]


@dataclass
class Conversation:
    """`thread` is None for the agent itself; a sub-agent has the call that began it, where it is known."""

    thread: str | None
    began: str | None = None
    steps: list[Step] = field(default_factory=list)


def conversations(events: Sequence[Event], blobs: BlobStore) -> list[Conversation]:
    """The agent's own first (perhaps without a step), then those of its sub-agents."""
    joined = _Calls(events)
    seen = _Seen(blobs, joined.pictures)
    found: dict[str | None, Conversation] = {None: Conversation(None)}
    for turn in turns(events):
        if turn.side or turn.replaced or turn.response is None:
            continue
        thread = turn.request.thread if turn.request.parent_thread else None
        here = found.setdefault(thread, Conversation(thread, turn.request.parent_call))
        before = tuple(seen.new(turn.request, thread))
        here.steps.append(Step(before, turn.request, turn.response, tuple(joined.of(turn, turn.response))))
    return list(found.values())


class _Seen:
    """The messages that a conversation has had already. `told`: the pictures that results tell of."""

    def __init__(self, blobs: BlobStore, told: set[str]) -> None:
        self._blobs = blobs
        self._told = told
        self._had: set[tuple[str | None, str]] = set()

    def new(self, request: ModelRequest, thread: str | None) -> Iterator[Said]:
        wire = format_named(request.wire)
        pictures = {picture.blob: picture for picture in request.pictures}
        for digest in [*([request.system] if request.system else []), *request.messages]:
            if (thread, digest) not in self._had:
                self._had.add((thread, digest))
                yield from self._said(wire, digest, pictures, system=digest == request.system)

    def _said(
        self, wire: Format, digest: str, pictures: dict[str, Picture], *, system: bool
    ) -> Iterator[Said]:
        try:
            text = self._blobs.get_text(digest)
        except (KeyError, OSError):
            yield Said(system, GONE)
            return
        told = json.loads(text)
        items = told if isinstance(told, str) else [told]
        body = {wire.SYSTEM or "": told, wire.ITEMS: []} if system else {wire.ITEMS: items}
        shown = tuple(pictures[blob] for blob in _BLOB.findall(text) if blob in pictures)
        for message in map(as_dict, as_list(wire.as_chat(body).get("messages"))):
            role, words = message.get("role"), text_of(message.get("content"))
            if role in _OUTSIDE or (role == "user" and (words or shown)):
                yield Said(role in _OUTSIDE, words, shown)
                shown = ()
        untold = tuple(picture for picture in shown if picture.blob not in self._told)
        if untold:  # beside the result of a tool that only the gateway saw
            yield Said(False, "", untold)


class _Calls:
    """The events of calls and their results, indexed for joining with what the model wrote."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_tap: dict[str, ToolCall] = {}
        self._by_model_call: defaultdict[str, list[ToolCall]] = defaultdict(list)
        self._results: dict[tuple[bool, str], ToolResult] = {}
        self._ids: set[str] = set()
        self.pictures: set[str] = set()
        for event in events:
            if isinstance(event, ToolResult):
                self._results[event.by == "gateway", event.call] = event
                self.pictures |= {picture.blob for picture in event.pictures}
            elif isinstance(event, ToolCall) and event.tap:
                if event.by != "gateway" or event.tap not in self._by_tap:
                    self._by_tap[event.tap] = event
            elif isinstance(event, ToolCall) and event.model_call:
                self._by_model_call[event.model_call].append(event)

    def of(self, turn: Turn, response: ModelResponse) -> Iterator[Done]:
        for place, call in enumerate(response.tool_calls):
            tap = f"{turn.request.call}.{place}"
            waiting = [each for each in self._by_model_call[call.id] if each.seq > turn.request.seq]
            event = self._by_tap.get(tap) or next(iter(waiting), None)
            result = self._results.get((event.by == "gateway", event.call)) if event else None
            arguments, readable = _arguments(call, event)
            yield Done(self._unique(call.id or tap, tap), tap, call.name, arguments, readable, result)

    def _unique(self, wanted: str, tap: str) -> str:
        """Some servers use an id again."""
        chosen = wanted if wanted not in self._ids else f"{wanted}-{tap}"
        self._ids.add(chosen)
        return chosen


def _arguments(call: CallRequest, event: ToolCall | None) -> tuple[dict[str, Any], bool]:
    """As an object; `raw` holds what is none."""
    try:
        read = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        read = event.arguments if event else None
    return (read, True) if isinstance(read, dict) else ({"raw": call.arguments}, False)
