"""Reply: what a model answered in the Chat Completions wire format, read once and typed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fieldmark.agents.messages import Message, assistant
from fieldmark.trace import CallRequest


@dataclass(frozen=True)
class Reply:
    """`finish` is the wire's finish_reason (`stop`, `length`, `tool_calls`, …), None where it said none.

    Only calls in the wire's own field are calls: tool syntax inside `text` or `reasoning` is prose.
    """

    text: str
    reasoning: str
    tool_calls: list[CallRequest]
    finish: str | None
    raw: dict[str, Any]

    @property
    def truncated(self) -> bool:
        """Cut at the token limit."""
        return self.finish == "length"

    @property
    def message(self) -> Message:
        """What the model said, as the conversation goes on with it."""
        return assistant(self.text, self.tool_calls)


def read_reply(raw: dict[str, Any], fallback_id: str) -> Reply:
    """Read a whole (not streamed) reply. Some servers leave call ids out or repeat one: those calls get
    `<fallback_id>_<n>`, the same in the assistant message and in the tool messages that answer it.
    """
    choice = (raw.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    return Reply(
        text=_text(message.get("content")),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        tool_calls=_calls(message.get("tool_calls") or [], fallback_id),
        finish=choice.get("finish_reason"),
        raw=raw,
    )


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are a JSON object; an absent one counts as `{}`."""
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def _calls(rows: list[Any], fallback_id: str) -> list[CallRequest]:
    calls: list[CallRequest] = []
    taken: set[str] = set()
    for index, row in enumerate(rows):
        function = row.get("function") or {}
        given = str(row.get("id") or "")
        call_id = given if given and given not in taken else f"{fallback_id}_{index}"
        taken.add(call_id)
        name = str(function.get("name") or "")
        calls.append(CallRequest(id=call_id, name=name, arguments=_arguments(function.get("arguments"))))
    return calls


def _arguments(value: Any) -> str:
    """The raw JSON text; some servers send the object itself."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
