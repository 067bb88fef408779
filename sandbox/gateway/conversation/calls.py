"""The calls of a model's reply, from the reply on until their results come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.conversation.actions import Actions, Kind
from fieldmark.sandbox.gateway.conversation.said import Asked, plain_id
from fieldmark.sandbox.gateway.conversation.textcalls import CODE, called_in_code
from fieldmark.tools.arguments import parsed
from fieldmark.tools.cutting import cut_to_bytes
from fieldmark.trace import Action, CallRequest, Side

Line = tuple[str, dict[str, Any]]
"""An event to be written: its kind and its fields."""

MAX_CALLS = 200
"""Of one reply; a model that asks for more is stuck."""
_ARGUMENTS = 4_000
"""Bytes of arguments that stand in an event."""


@dataclass
class OpenCall:
    """A call that waits for its result. `tap` names it: `m3.0` is the first call in the reply of `m3`.

    `name` and `arguments` are the innermost: what a tool that calls others was told to call; ours without a
    client's prefix. `via` is what the model called, where that is another name. `offered`: whether that stood
    in the request's list, None without a list. `readable`: whether the arguments can be read. `claimed`: an
    event from inside tells of it; `written`: the gateway's own does. `ended` is when the reply was complete,
    in seconds of the episode. `caused` are the tools of claims that came out of it, `inner` those that its
    code calls.
    """

    tap: str
    id: str
    name: str
    arguments: str
    action: Action
    side: Side | None
    ended: float
    offered: bool | None = None
    readable: bool = True
    via: str | None = None
    claimed: bool = False
    written: bool = False
    caused: list[str] = field(default_factory=list)
    inner: list[tuple[str, Kind]] = field(default_factory=list)
    adopted: bool = False
    values: Any = field(default=None, repr=False)

    @property
    def plain_id(self) -> str:
        return plain_id(self.id)

    def event(self) -> dict[str, Any]:
        """Its `tool_call`, as the gateway writes it."""
        text = cut_to_bytes(self.arguments, _ARGUMENTS)
        whole = self.values is not None and len(text) == len(self.arguments)
        return {
            "call": self.tap,
            "name": cut_to_bytes(self.name, 200),
            "arguments": self.values if whole else text,
            "door": "native",
            "action": self.action,
            "model_call": cut_to_bytes(self.id, 200),
            "tap": self.tap,
            "side": self.side,
            "via": self.via,
        }

    def inside(self) -> Iterator[Line]:
        """The `tool_call` of each tool that its code calls and no claim tells of; no result is seen."""
        told = Counter(self.caused)
        for index, (name, kind) in enumerate(self.inner):
            told[name] -= 1
            if told[name] < 0 and kind.side != "answer":
                yield (
                    "tool_call",
                    {
                        "call": f"{self.tap}.{index}",
                        "name": name,
                        "door": "native",
                        "action": kind.action,
                        "side": kind.side,
                        "parent": self.tap,
                    },
                )


def opened(
    model_call: str, calls: Iterable[CallRequest], asked: Asked, known: list[str] | None, actions: Actions,
    now: float,
) -> list[OpenCall]:  # fmt: skip
    """The calls of one reply. `known` are the tools that the request offered, None: not known."""
    found = []
    for index, call in zip(range(MAX_CALLS), calls, strict=False):
        values = _object(call.arguments)
        via = call.name
        name, inner = actions.unwrapped(call.name, values)
        name = actions.ours(name)
        kind = actions.kind(name, inner)
        found.append(
            OpenCall(
                tap=f"{model_call}.{index}",
                id=call.id,
                name=name,
                arguments=call.arguments if inner is values else json.dumps(inner, ensure_ascii=False),
                action=kind.action,
                side=kind.side,
                ended=now,
                offered=None if known is None or call.name == CODE else via in known,
                readable=values is not None,
                via=via if name != via else None,
                values=inner,
                inner=[(tool, actions.kind(tool)) for tool in _in_code(call.name, inner, known)],
            )
        )
    return found


def _in_code(name: str, values: Any, known: list[str] | None) -> list[str]:
    is_code = name == CODE and isinstance(values, dict)
    return called_in_code(str(values.get("code")), known or []) if is_code else []


def _object(arguments: str) -> dict[str, Any] | None:
    """The arguments; broken ones are mended only where they are short, as this holds up other episodes."""
    try:
        if len(arguments) > _ARGUMENTS:
            whole = json.loads(arguments)
            return whole if isinstance(whole, dict) else None
        return parsed(arguments)
    except (ToolError, ValueError, RecursionError):
        return None


# --- which call a claim from inside came out of ----------------------------------------------------


def asked_for(calls: list[OpenCall], tool: str, arguments: Any, actions: Actions) -> OpenCall | None:
    """The model's call of this tool, with whatever prefix, that no claim has told of yet."""
    same = [call for call in calls if not call.claimed and actions.bare(call.name) == tool]
    return next((call for call in same if call.values == arguments), next(iter(same), None))


def caused_by(calls: list[OpenCall], tool: str, arguments: Any) -> OpenCall | None:
    """The shell or code call that runs this tool: by its command, else the only one that is running."""
    shells = [call for call in calls if call.action == "code_or_shell" and not call.claimed]
    named = [call for call in shells if runs(call.arguments, tool)]
    said = [call for call in named if _is_said(arguments, call.arguments)]
    best = sorted(said or named, key=lambda call: len(call.caused))
    return best[0] if best else (shells[0] if len(shells) == 1 else None)


def runs(command: str, tool: str) -> bool:
    """Whether a shell's command names `fieldmark tool NAME`."""
    return re.search(rf"fieldmark\s+tool\s+[\"'\\]*{re.escape(tool)}\b", command) is not None


def _is_said(arguments: Any, text: str) -> bool:
    """Whether each plain value of the arguments stands in the text."""
    values = arguments.values() if isinstance(arguments, dict) else ()
    plain = [str(value) for value in values if isinstance(value, str | int | float)]
    return bool(plain) and all(value in text for value in plain)
