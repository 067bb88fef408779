"""One tool call, the same for every door: recorded before the work, checked, run, recorded after it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from fieldmark.client import GatewayGone
from fieldmark.errors import ToolError
from fieldmark.tools.arguments import parsed, repaired
from fieldmark.tools.base import Args, Tool, ToolResult, capped, compact
from fieldmark.tools.boxes import BoxArgs, OptionalBoxArgs
from fieldmark.tools.context import Context
from fieldmark.tools.cutting import cut_to_bytes
from fieldmark.tools.offer import Offer, unknown
from fieldmark.tools.pages.injection import plea
from fieldmark.tools.remember import NO_EVIDENCE
from fieldmark.trace import Action, Door

_EVENT = 60_000
_EVENT_TEXT = 16_000
_EVENT_ARGUMENTS = 4_000
_EVENT_NAME = 200
"""Bytes of an event, below the 64 kB that the gateway takes, and of its fields: a model may write anything
for a name or an argument, and one character can take six bytes."""


def call_by_name(
    name: str,
    arguments: str | dict[str, Any],
    offer: Offer,
    context: Context,
    *,
    door: Door,
    model_call: str | None = None,
    call: str | None = None,
) -> ToolResult:
    """`call_tool` of the tool that `offer` has by that name; a name it has not is recorded all the same."""
    tool = offer.tools.get(name)
    if tool is not None:
        return call_tool(tool, arguments, context, door=door, model_call=model_call, call=call)
    claim = _claim(name, "other", arguments, door, model_call, call)
    return _recorded(claim, context, lambda: unknown(name, offer, context))


def call_tool(
    tool: Tool,
    arguments: str | dict[str, Any],
    context: Context,
    *,
    door: Door,
    model_call: str | None = None,
    call: str | None = None,
) -> ToolResult:
    """Run a tool on arguments as the model wrote them (raw JSON or an object). Faults become a result.

    `model_call` is the id of the call in the model's response, None when no model asked. `call` names the
    call in the trace, as no other of the episode; None: by a random name. Only GatewayGone
    (the episode is over) and a gateway that refuses events (GatewayRefused) are raised.
    """
    claim = _claim(tool.name, tool.action, arguments, door, model_call, call)
    return _recorded(claim, context, lambda: tool.run(_checked(tool, arguments, context), context))


def _claim(
    name: str,
    action: Action,
    arguments: str | dict[str, Any],
    door: Door,
    model_call: str | None,
    call: str | None,
) -> dict[str, Any]:
    """The fields of the event that says what is going to be done."""
    return {
        "call": call or uuid4().hex[:12],
        "name": cut_to_bytes(name, _EVENT_NAME),
        "arguments": _recordable(arguments),
        "repaired": repaired(arguments),
        "door": door,
        "action": action,
        "model_call": model_call and cut_to_bytes(model_call, _EVENT_NAME),
    }


def _recorded(claim: dict[str, Any], context: Context, work: Callable[[], ToolResult]) -> ToolResult:
    context.emit("tool_call", **claim)
    started = time.monotonic()
    result = _attempt(work)
    number = _record(claim["call"], result, time.monotonic() - started, context)
    citable = result.ok and claim["name"] not in NO_EVIDENCE
    return replace(result, number=number) if citable else result


def _attempt(work: Callable[[], ToolResult]) -> ToolResult:
    try:
        return work()
    except GatewayGone:
        raise
    except ToolError as error:
        return ToolResult.failed(error.kind, str(error))
    except Exception as error:  # whatever breaks inside a tool is told to the model, not raised past it
        return ToolResult.failed("runtime", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _checked(tool: Tool, arguments: str | dict[str, Any], context: Context) -> Args:
    """The validated arguments; ToolError `invalid_args` names the field and the expected form."""
    try:
        return tool.args.model_validate(parsed(arguments))
    except ValidationError as error:
        wrong_first = sorted(error.errors(), key=lambda item: item["type"] == "missing")
        problems = "; ".join(_problem(item) for item in wrong_first[:3])
        raise ToolError(f"{problems}. {_expected(tool, context)}", "invalid_args") from None


def _problem(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{field}: unknown argument"
    if item["type"] == "missing":
        return f"{field}: missing"
    message = item["msg"].removeprefix("Value error, ")
    return f"{field}: {message}, got {_shown(item['input'])}" if field else message


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:60]


def _expected(tool: Tool, context: Context) -> str:
    fields = tool.args.model_fields
    names = ", ".join(name if spec.is_required() else f"{name}?" for name, spec in fields.items())
    size = ""
    if issubclass(tool.args, BoxArgs | OptionalBoxArgs):
        size = f"; the image is {context.image.width}x{context.image.height} px"
    return f"Expected arguments: {names}{size}"


def _recordable(arguments: str | dict[str, Any]) -> Any:
    """The arguments as an object where they are sound JSON of a sane size, else as (capped) text."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        text = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return capped(str(arguments), _EVENT_ARGUMENTS)
    return value if len(text) <= _EVENT_ARGUMENTS else capped(text, _EVENT_ARGUMENTS)


def _record(call: str, result: ToolResult, seconds: float, context: Context) -> int | None:
    """The number of the event, where notes may cite it."""
    fields = {
        "ok": result.ok,
        "seconds": round(seconds, 4),
        "error_kind": result.error_kind,
        "error": result.error and cut_to_bytes(result.error, _EVENT_ARGUMENTS),
        "text": _cut_and_said(result.text),
        "injection": plea(result.text),
        "data": None if result.data is None else json.loads(compact(result.data)),
        "pictures": [picture.model_dump(exclude_none=True) for picture in result.pictures],
        "regions": [region.model_dump(exclude_none=True) for region in result.regions],
    }
    for name, less in (("data", {"truncated": True}), ("regions", [])):
        if len(json.dumps(fields)) > _EVENT:
            fields[name] = less
    return context.emit("tool_result", call=call, **fields)


def _cut_and_said(text: str) -> str:
    kept = cut_to_bytes(text, _EVENT_TEXT)
    return text if kept == text else f"{kept}\n[truncated: {len(kept)} of {len(text)} characters]"
