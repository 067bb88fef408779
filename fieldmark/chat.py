"""A model's reply in the Chat Completions format, read in one place: by our agents and by the gateway's tap.

Servers leave fields out, send null, or lists and objects where texts belong: what cannot be read is empty,
nothing is raised. Only calls in the format's own field are calls: tool syntax in the text is prose.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from fieldmark.trace import CallRequest


class ChatReply(NamedTuple):
    """The first choice. `refusal`: why the model will not answer, where the server says that apart. `finish`
    is the `finish_reason` (`stop`, `length`, `tool_calls`, …), None without one.
    """

    text: str
    reasoning: str
    refusal: str
    calls: list[CallRequest]
    finish: str | None


def read_chat(body: Any) -> ChatReply:
    """The reply in a whole (not streamed) body."""
    choice = first_choice(body)
    message = _object(choice.get("message"))
    finish, rows = choice.get("finish_reason"), message.get("tool_calls")
    return ChatReply(
        text=text_of(message.get("content")),
        reasoning=reasoning_of(message),
        refusal=text_of(message.get("refusal")),
        calls=[read_call(row) for row in (rows if isinstance(rows, list) else [])],
        finish=finish if isinstance(finish, str) else None,
    )


def first_choice(body: Any) -> dict[str, Any]:
    choices = _object(body).get("choices")
    return _object(choices[0]) if isinstance(choices, list) and choices else {}


def read_call(row: Any, absent: str = "{}") -> CallRequest:
    """One call, or a part of one in a stream; `absent` stands for arguments that are not there."""
    from fieldmark.trace import CallRequest  # and with it Pydantic: a reply without calls needs neither

    row = _object(row)
    function = _object(row.get("function") or row.get("custom"))  # a custom tool names itself under `custom`
    given = function.get("arguments", function.get("input"))
    return CallRequest(
        id=str(row.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=absent if given is None else raw_arguments(given),
    )


def reasoning_of(message: dict[str, Any]) -> str:
    """The thinking that a server keeps apart from the text, under either name."""
    return text_of(message.get("reasoning_content") or message.get("reasoning"))


def text_of(content: Any, *kinds: str) -> str:
    """The text of a content that is a string or a list of parts; `kinds`: only parts of these types."""
    if isinstance(content, str):
        return content
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if not kinds or part.get("type") in kinds]
    return "".join(text for text in texts if isinstance(text, str))


def raw_arguments(value: Any) -> str:
    """The arguments of a call as text; a server may give them as an object."""
    if isinstance(value, str):
        return value
    return json.dumps({} if value is None else value, ensure_ascii=False, separators=(",", ":"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
