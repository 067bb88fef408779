"""A builder of traces that are read for facts.

trace = Trace().call("web_search", {"query": "twin turboprop"}, "1. Saab 340").answer("Saab 340")
facts = facts_of(trace.record, trace.events)
"""

from __future__ import annotations

from typing import Any

from fieldmark.records import EpisodeRecord
from fieldmark.trace import Event, parse_event

ACTIONS = {
    "web_search": "web_search", "open_page": "open_page", "browser": "browser", "ocr": "ocr",
    "reverse_image_search": "reverse_image_search", "crop_zoom": "crop_zoom", "bash": "code_or_shell",
    "inspect_image": "image_inspection", "read": "file",
}  # fmt: skip
PICTURE = {"blob": "original", "media_type": "image/jpeg", "width": 4000, "height": 3000}


class Trace:
    """Every method adds events and returns the builder."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.given: str | None = None
        self._replies = 0
        self.add(
            "runner", "episode_start", version="1", run="r", id="t", epoch=0, attempt=0, agent="a", model="m",
            image=PICTURE, view=PICTURE, prompt_sha256="p", limits={},
        )  # fmt: skip

    def add(self, by: str, kind: str, **fields: Any) -> Trace:
        seq = len(self.rows)
        self.rows.append({"seq": seq, "t": seq / 10, "by": by, "kind": kind, **fields})
        return self

    def reply(
        self, text: str = "", calls: list[dict[str, str]] | None = None, *, picture: bool = True
    ) -> Trace:
        """A request of the agent and what the model said; `picture`: the request held the task picture."""
        self._replies += 1
        call = f"m{self._replies}"
        receipt = {"delivered": "exact", "blob": "v", "width": 8, "height": 6} if picture else None
        self.add(
            "gateway", "model_request", call=call, wire="chat_completions", model="m", asked={}, sent={},
            tools=[*ACTIONS, "answer", "recall"], messages=[call], pictures=[], task_picture=receipt,
        )  # fmt: skip
        return self.add(
            "gateway", "model_response", call=call, http=200, text=text, tool_calls=calls or [], seconds=0.1
        )

    def call(
        self, name: str, arguments: Any = None, text: str = "", data: Any = None, *, ok: bool = True,
        native: bool = False, **fields: Any,
    ) -> Trace:  # fmt: skip
        """A reply with one call, the call and its result; `native`: both were read by the gateway."""
        tap = f"m{self._replies + 1}.0"
        self.reply(calls=[{"id": f"id-{tap}", "name": name, "arguments": "{}"}])
        by, door, call = ("gateway", "native", tap) if native else ("sandbox", "graph", f"c-{tap}")
        self.add(
            by, "tool_call", call=call, name=name, arguments=arguments, door=door, tap=tap,
            action=ACTIONS.get(name, "other"), side="memory" if name == "recall" else None,
        )  # fmt: skip
        return self.add(
            by, "tool_result", call=call, ok=ok, seconds=0.1, text=text, data=data,
            error_kind=None if ok else "runtime", **fields,
        )  # fmt: skip

    def opened(self, url: str, http: int = 200) -> Trace:
        return self.add("gateway", "egress", method="GET", url=url, http=http, decision="allowed")

    def answer(self, text: str, reply: str = "") -> Trace:
        """The last reply, and the answer that was read from it."""
        self.given = text
        return self.reply(reply or text).add("sandbox", "answer", text=text)

    @property
    def events(self) -> list[Event]:
        return [parse_event(row) for row in self.rows]

    @property
    def record(self) -> EpisodeRecord:
        return EpisodeRecord(
            id="t", status="answered" if self.given else "timeout", agent="a", model="m", answer=self.given,
            seconds=1, charged_seconds=1, started="2026-11-30T10:15:00Z", trace="t.jsonl",
        )  # fmt: skip
