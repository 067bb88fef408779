"""What the GenAI semantic conventions say of an agent, a model call and a tool call; None is not told."""

from __future__ import annotations

from typing import Any

from fieldmark.exporting.conversation import Step
from fieldmark.exporting.otel_calls import Model, Tool
from fieldmark.exporting.otel_messages import as_text, asked, replied
from fieldmark.records import EpisodeRecord
from fieldmark.trace import Tokens

Told = dict[str, Any]
_SETTINGS = {
    "temperature": float, "top_p": float, "seed": int, "max_tokens": int, "frequency_penalty": float,
    "presence_penalty": float,
}  # fmt: skip
"""Settings of a request that the conventions name, with their type."""


def agent(record: EpisodeRecord, conversation: str, *, whole: bool = True) -> Told:
    """Of the agent, or of a sub-agent: then not `whole`, and without the usage of the episode."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "fieldmark",
        "gen_ai.agent.name": record.agent,
        "gen_ai.request.model": record.model,
        "gen_ai.conversation.id": conversation,
        **(_usage(record.tokens) if whole else {}),
    }


def chat(model: Model, step: Step | None, conversation: str) -> Told:
    """`step`: the call in its conversation; None of a side call, whose words are not told."""
    request, response = model.request, model.response
    settings = {name: _number(request.asked.get(name), kind) for name, kind in _SETTINGS.items()}
    told: Told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic" if request.wire == "messages" else "openai",
        "gen_ai.request.model": request.model,
        "gen_ai.conversation.id": conversation,
        **{f"gen_ai.request.{name}": value for name, value in settings.items()},
        **(asked(step) if step else {}),
        "fieldmark.event": request.seq,
        "fieldmark.role": request.role,
        "fieldmark.purpose": request.purpose,
        "error.type": model.failure and str(response.http if response else "no_response"),
    }
    if response:
        told |= {
            **_usage(response.tokens),
            "gen_ai.response.finish_reasons": [response.finish] if response.finish else None,
            "gen_ai.response.time_to_first_chunk": response.first_token_seconds,
            "gen_ai.output.messages": replied(step) if step else None,
            "fieldmark.waited": response.waited,
            "fieldmark.tries": response.tries,
        }
    return told


def execution(tool: Tool) -> Told:
    """Of a tool call."""
    call, result = tool.call, tool.result
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.model_call or call.tap or call.call,
        "gen_ai.tool.call.arguments": as_text(call.arguments),
        "gen_ai.tool.call.result": result and result.text,
        "error.type": tool.failure and ((result and result.error_kind) or "no_result"),
        "fieldmark.event": call.seq,
        "fieldmark.action": call.action,
        "fieldmark.by": call.by,
    }


def _usage(tokens: Tokens | None) -> dict[str, Any]:
    """What the server said; unknown is left out."""
    known = tokens or Tokens()
    return {
        "gen_ai.usage.input_tokens": known.input,
        "gen_ai.usage.output_tokens": known.output,
        "gen_ai.usage.cache_read.input_tokens": known.cached,
        "gen_ai.usage.reasoning.output_tokens": known.reasoning,
    }


def _number(value: Any, kind: type[int] | type[float]) -> int | float | None:
    return kind(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
