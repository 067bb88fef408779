"""One event: everything in it, and of a model's request the request as it was received."""

from __future__ import annotations

import contextlib
import json
from typing import Protocol

from fieldmark.blobs import BlobStore
from fieldmark.evals.inspector.changes import changes, request_before
from fieldmark.evals.inspector.index import Index, Opened
from fieldmark.evals.inspector.messages import Message, messages, tool_list
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import MOST, as_json, texts, tokens
from fieldmark.evals.inspector.trace_file import TraceFile
from fieldmark.trace import ModelRequest, ModelResponse, Picture


class Requests(Protocol):
    """Puts the requests of a trace together again (`fieldmark/sandbox/gateway/wire/requests.py`)."""

    def text(self, event: ModelRequest, blobs: BlobStore) -> str:
        """Without its pictures, in its own spelling. KeyError when a blob is gone."""

    def whole(self, event: ModelRequest, blobs: BlobStore) -> bytes:
        """To the byte. KeyError when a blob is gone."""


def event_page(name: str, index: Index, episode: Opened, seq: int, requests: Requests) -> bytes | None:
    """None without such an event."""
    trace = index.trace(episode)
    at = trace.place(seq)
    if at is None:
        return None
    event, blobs = next(trace.at([at])), index.folder.blob_store()
    request = event if isinstance(event, ModelRequest) else None
    earlier = request_before(trace.back_from(at, "model_request"), request) if request else None
    said = messages(request, blobs) if request else []
    return render(
        "event.html.j2",
        name=name,
        episode=episode,
        event=event,
        is_request=request is not None,
        response=_response(trace, request) if request else None,
        earlier=earlier,
        changes=changes(earlier, request, blobs) if request and earlier else [],
        messages=said,
        sizes=_sizes(trace, at, said),
        tools=tool_list(request, blobs) if request else [],
        raw=_raw(request, blobs, requests) if request else "",
        sampling=as_json({"asked": request.asked, "sent": request.sent}) if request else "",
        texts=texts(event),
        line=as_json(event.model_dump(mode="json", exclude_unset=True)),
        before=_seq(trace, at - 1),
        after=_seq(trace, at + 1),
        tokens=tokens,
        live=False,
    )


def request_body(index: Index, episode: Opened, seq: int, requests: Requests) -> bytes | None:
    """The request of an event to the byte; None when it is no request, or a blob of it is gone."""
    trace = index.trace(episode)
    at = trace.place(seq)
    event = None if at is None else next(trace.at([at]))
    if not isinstance(event, ModelRequest):
        return None
    try:
        return requests.whole(event, index.folder.blob_store())
    except (KeyError, OSError):
        return None


def _response(trace: TraceFile, request: ModelRequest) -> ModelResponse | None:
    number = trace.step_of(request.seq)
    together = trace.steps[number - 1].events if number else []
    return next((each for each in together if isinstance(each, ModelResponse)), None)


def _sizes(trace: TraceFile, at: int, said: list[Message]) -> dict[str, Picture]:
    """The pictures of these messages by their blobs, as this request or the last before it held them."""
    wanted = {part.value for message in said for part in message.parts if part.kind == "picture"}
    found: dict[str, Picture] = {}
    for event in trace.back_from(at + 1, "model_request"):
        if wanted <= found.keys():
            break
        if isinstance(event, ModelRequest):
            found = {picture.blob: picture for picture in event.pictures} | found
    return found


def _seq(trace: TraceFile, place: int) -> int | None:
    return next(trace.at([place])).seq if 0 <= place < len(trace) else None


def _raw(event: ModelRequest, blobs: BlobStore, requests: Requests) -> str:
    """Indented for reading; "" when a blob is gone."""
    try:
        text = requests.text(event, blobs)
    except (KeyError, OSError, ValueError):
        return ""
    with contextlib.suppress(ValueError, RecursionError):  # then it is shown as it came
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    return text if len(text) <= MOST else f"{text[:MOST]}…"
