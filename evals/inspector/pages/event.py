"""One event: everything in it, and of a model's request the request as it was received."""

from __future__ import annotations

import contextlib
import json
from typing import Protocol

from fieldmark.blobs import BlobStore
from fieldmark.evals.inspector.changes import changes, request_before
from fieldmark.evals.inspector.index import Index, Opened
from fieldmark.evals.inspector.messages import messages, tool_list
from fieldmark.evals.inspector.pages.rendering import render
from fieldmark.evals.inspector.telling import MOST, as_json, texts, tokens
from fieldmark.trace import Event, ModelRequest, ModelResponse, Picture


class Requests(Protocol):
    """Puts the requests of a trace together again (`fieldmark/sandbox/gateway/wire/requests.py`)."""

    def text(self, event: ModelRequest, blobs: BlobStore) -> str:
        """Without its pictures, in its own spelling. KeyError when a blob is gone."""

    def whole(self, event: ModelRequest, blobs: BlobStore) -> bytes:
        """To the byte. KeyError when a blob is gone."""


def event_page(name: str, index: Index, episode: Opened, seq: int, requests: Requests) -> bytes | None:
    """None without such an event."""
    events = index.events(episode)
    at = next((place for place, event in enumerate(events) if event.seq == seq), None)
    if at is None:
        return None
    event, blobs = events[at], index.folder.blob_store()
    request = event if isinstance(event, ModelRequest) else None
    earlier = request_before(events, request) if request else None
    return render(
        "event.html.j2",
        name=name,
        episode=episode,
        event=event,
        is_request=request is not None,
        response=_response(events, request) if request else None,
        earlier=earlier,
        changes=changes(earlier, request, blobs) if request and earlier else [],
        messages=messages(request, blobs) if request else [],
        sizes=_sizes(events),
        tools=tool_list(request, blobs) if request else [],
        raw=_raw(request, blobs, requests) if request else "",
        sampling=as_json({"asked": request.asked, "sent": request.sent}) if request else "",
        texts=texts(event),
        line=as_json(event.model_dump(mode="json", exclude_unset=True)),
        before=events[at - 1].seq if at else None,
        after=events[at + 1].seq if at + 1 < len(events) else None,
        tokens=tokens,
        live=False,
    )


def request_body(index: Index, episode: Opened, seq: int, requests: Requests) -> bytes | None:
    """The request of an event to the byte; None when it is no request, or a blob of it is gone."""
    event = next((event for event in index.events(episode) if event.seq == seq), None)
    if not isinstance(event, ModelRequest):
        return None
    try:
        return requests.whole(event, index.folder.blob_store())
    except (KeyError, OSError):
        return None


def _response(events: list[Event], request: ModelRequest) -> ModelResponse | None:
    found = (each for each in events if isinstance(each, ModelResponse) and each.call == request.call)
    return next(found, None)


def _sizes(events: list[Event]) -> dict[str, Picture]:
    """Every picture that a request of the episode held, by its blob."""
    requests = (event for event in events if isinstance(event, ModelRequest))
    return {picture.blob: picture for event in requests for picture in event.pictures}


def _raw(event: ModelRequest, blobs: BlobStore, requests: Requests) -> str:
    """Indented for reading; "" when a blob is gone."""
    try:
        text = requests.text(event, blobs)
    except (KeyError, OSError, ValueError):
        return ""
    with contextlib.suppress(ValueError, RecursionError):  # then it is shown as it came
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    return text if len(text) <= MOST else f"{text[:MOST]}…"
