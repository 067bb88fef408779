"""An event in words: one line for the timeline, and its texts under their names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fieldmark.counting import counted
from fieldmark.trace import (
    Answer,
    Egress,
    EpisodeEnd,
    EpisodeStart,
    Event,
    MemoryRead,
    MemoryWrite,
    ModelRequest,
    ModelResponse,
    Picture,
    Tokens,
    ToolCall,
    ToolResult,
)

SHORT = 300
"""Characters of a text that stand open; a longer one is folded."""
LINE = 160
"""Characters of JSON that stand on one line."""
MOST = 100_000
"""Characters of a text on a page; the rest stands in the raw JSON."""
Text = tuple[str, str]
"""Its name, and what it says."""


def texts(event: Event) -> list[Text]:
    """What an event says, empty texts left out."""
    return [(name, text if len(text) <= MOST else f"{text[:MOST]}…") for name, text in _texts(event) if text]


def _texts(event: Event) -> Iterator[Text]:
    if isinstance(event, ModelRequest):
        yield "asked", _request(event)
    elif isinstance(event, ModelResponse):
        yield from _response(event)
    elif isinstance(event, ToolCall):
        yield "arguments", event.arguments if isinstance(event.arguments, str) else as_json(event.arguments)
        yield "door", " · ".join(filter(None, (event.door, event.via and f"via {event.via}", event.side)))
    elif isinstance(event, ToolResult):
        yield "error", " ".join(filter(None, (event.error_kind, event.error)))
        yield "result", event.text
        yield "speaks to the model", event.injection or ""
        yield "data", as_json(event.data)
    elif isinstance(event, MemoryRead):
        yield "query", event.query
        yield from (("note", f"{hit.get('note', '?')}: {hit.get('text', '')}") for hit in event.hits)
    elif isinstance(event, MemoryWrite):
        yield "note", f"{event.note}: {event.text}"
        yield "cites", ", ".join(f"event {seq}" for seq in event.cites)
    elif isinstance(event, Egress):
        yield "request", " ".join([event.method, event.url])
        yield "decision", " · ".join(filter(None, (event.decision, event.reason, _http(event.http))))
    elif isinstance(event, Answer):
        yield from _answer(event)
    elif isinstance(event, EpisodeStart | EpisodeEnd):
        yield "told", as_json(event.model_dump(mode="json", exclude=_ENVELOPE, exclude_none=True))
    else:
        fields = event.model_dump(mode="json", exclude=_ENVELOPE, exclude_none=True)
        yield from ((name, text if isinstance(text, str) else as_json(text)) for name, text in fields.items())


_ENVELOPE = {"seq", "t", "by", "kind"}


def _request(event: ModelRequest) -> str:
    seen = event.task_picture
    picture = f"task picture {seen.width} × {seen.height} px, {seen.delivered}" if seen else ""
    parts = (
        counted(len(event.messages), "message"), counted(len(event.pictures), "picture"),
        counted(len(event.tools), "tool"),
        picture, f"conversation {event.thread}" if event.thread not in (None, "t1") else "",
        f"again after {event.retry_of}" if event.retry_of else "",
    )  # fmt: skip
    return " · ".join(filter(None, parts))


def _response(event: ModelResponse) -> Iterator[Text]:
    yield "error", event.error or (_http(event.http) if event.http >= 400 else "")
    yield "thinking", event.reasoning or ""
    yield "said", event.text or ""
    yield from (("calls", f"{call.name}({call.arguments})") for call in event.tool_calls)
    tries = f"{event.tries} tries" if event.tries > 1 else ""
    waited = f"waited {event.waited:.1f} s" if event.waited >= 0.05 else ""
    cached = "from the cache" if event.cached else ""
    yield (
        "usage",
        " · ".join(filter(None, (event.finish, tokens(event.tokens), f"{event.seconds:.2f} s", waited, tries,
                                 cached))),
    )  # fmt: skip


def _answer(event: Answer) -> Iterator[Text]:
    yield "answer", event.text
    yield "confidence", "" if event.confidence is None else f"{event.confidence:g}"
    yield "rationale", event.rationale or ""
    yield "evidence", ", ".join(f"event {e}" if isinstance(e, int) else e for e in event.evidence)


def tokens(used: Tokens | None) -> str:
    """ "1200 in (300 cached), 45 out"; an unknown figure is a question mark, not 0."""
    if used is None or (used.input is None and used.output is None):
        return "tokens unknown"
    cached = f" ({used.cached} cached)" if used.cached else ""
    shown = ["?" if value is None else str(value) for value in (used.input, used.output)]
    return f"{shown[0]} tokens in{cached}, {shown[1]} out"


def pictures(event: Event) -> list[Picture]:
    """What an event shows; those of a request stand on its own page."""
    return event.pictures if isinstance(event, ToolResult) else []


def as_json(value: Any) -> str:
    """JSON on one line where that is short, else indented; "" for nothing."""
    if value is None:
        return ""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= LINE else json.dumps(value, ensure_ascii=False, indent=1)


def _http(code: int | None) -> str:
    return "" if code is None else f"HTTP {code}"
