"""Reply: what a model answered, with ids that the calls can be answered by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fieldmark.agents.messages import Message, assistant
from fieldmark.chat import read_chat

if TYPE_CHECKING:
    from fieldmark.trace import CallRequest


class Reply(NamedTuple):
    """`finish` is the wire's finish_reason (`stop`, `length`, `tool_calls`, …), None where it said none."""

    text: str
    reasoning: str
    tool_calls: list[CallRequest]
    finish: str | None
    raw: dict[str, Any]
    refusal: str = ""

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
    said = read_chat(raw)
    return Reply(
        said.text, said.reasoning, _with_ids(said.calls, fallback_id), said.finish, raw, said.refusal
    )


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are a JSON object; an absent one counts as `{}`."""
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _with_ids(calls: list[CallRequest], fallback_id: str) -> list[CallRequest]:
    taken: set[str] = set()
    named = []
    for index, call in enumerate(calls):
        call_id = call.id if call.id and call.id not in taken else f"{fallback_id}_{index}"
        taken.add(call_id)
        named.append(call.model_copy(update={"id": call_id}))
    return named
