"""What a request says of its conversation, in one form for all wire formats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fieldmark.chat import text_of
from fieldmark.sandbox.gateway.wire.common import Body, Format, as_dict, as_list, as_text

SESSION = ("thread-id", "x-session-id", "session-id", "session_id")
"""Headers that name the conversation, the finest first (Codex, OpenCode)."""
PARENT = "x-parent-session-id"
_OUTSIDE = frozenset({"system", "developer"})
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9]")


def plain_id(call_id: str) -> str:
    """A call's id as it is compared: some frameworks send it back without its `_` and `-`."""
    return _NOT_IN_IDS.sub("", call_id)


@dataclass(frozen=True)
class Said:
    """One message. `result_of`: the plain id of the call that it answers ("" when it names none), None when
    it is no tool result; `failed`: the format's own flag says that the call went wrong.
    """

    role: str
    text: str
    result_of: str | None = None
    failed: bool = False

    @property
    def key(self) -> int:
        """Equal for the same message. What the model said is compared by its place only, as frameworks
        rewrite it; pictures are left out, as they are sent again smaller.
        """
        return hash((self.role, "" if self.role == "assistant" else self.text, self.result_of))


@dataclass(frozen=True)
class Asked:
    """A request. `system` is all that is said by system and developer, `said` the rest in order; `session`
    and `parent_session` are what its headers call the conversation. `partial`: the server keeps
    what came before.
    """

    system: str
    said: tuple[Said, ...]
    tools: tuple[str, ...] = ()
    session: str | None = None
    parent_session: str | None = None
    partial: bool = False

    @cached_property
    def role(self) -> int:
        """Equal for requests with the same system prompt."""
        return hash(self.system)

    @cached_property
    def keys(self) -> tuple[int, ...]:
        return tuple(message.key for message in self.said)

    @cached_property
    def results(self) -> Counter[str]:
        """How many results it holds for each plain id."""
        return Counter(message.result_of for message in self.said if message.result_of is not None)

    @cached_property
    def latest(self) -> tuple[Said, ...]:
        """What was said since the model last spoke."""
        spoke = [index for index, message in enumerate(self.said) if message.role == "assistant"]
        return self.said[spoke[-1] + 1 :] if spoke else self.said


def read(wire: Format, body: Body, headers: Mapping[str, str]) -> Asked:
    """From the parsed body of a request and the headers that came with it (lower case)."""
    messages = [as_dict(message) for message in as_list(wire.as_chat(body).get("messages"))]
    said = [_said(message) for message in messages]
    asked = Asked(
        system="\n".join(message.text for message in said if message.role in _OUTSIDE),
        said=tuple(message for message in said if message.role not in _OUTSIDE),
        tools=tuple(wire.tool_names(body)),
        session=next((headers[name] for name in SESSION if name in headers), None),
        parent_session=headers.get(PARENT),
        partial=wire.is_partial(body),
    )
    _ = asked.keys, asked.role  # worked out here: this is called in a thread, what follows is not
    return asked


def _said(message: Body) -> Said:
    role, text = as_text(message.get("role")) or "", text_of(message.get("content"))
    if role not in ("tool", "function"):
        return Said(role, text)
    # some clients put the id of the call under `id`
    call_id = as_text(message.get("tool_call_id")) or as_text(message.get("id")) or ""
    return Said("tool", text, plain_id(call_id), message.get("is_error") is True)
