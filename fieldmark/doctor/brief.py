"""A model tried before a run spends anything: a few small requests for what this run will ask of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fieldmark.doctor.abilities import (
    Ability,
    calls_a_tool,
    reports_usage,
    says_ready,
    sees,
    sees_several,
    tried,
)
from fieldmark.doctor.asking import Model
from fieldmark.errors import ModelFault, UsageError
from fieldmark.sandbox.gateway.upstream_errors import Again, ServerError
from fieldmark.sandbox.gateway.wire import chat

if TYPE_CHECKING:
    from openai import APIStatusError

_REMEDIES = {
    "image input": "name a vision model, or say --blind",
    "several images": "let it take more pictures a request (vLLM: --limit-mm-per-prompt), or say --blind",
    "tool call": "switch its tool calls on (vLLM: --enable-auto-tool-choice --tool-call-parser NAME), "
    "or take an agent without tools",
}


def try_model(model: Model, seed: int, *, tools: bool, pictures: int, counts: bool) -> list[Ability]:
    """Try what a run needs: `tools`; `pictures` in one request (0, 1, 2: several); usage, if it `counts`.

    UsageError for what the server refuses, with the remedy. What it takes and does badly is only told, and
    what could not be found out (429, 5xx) is left to the run, which waits and tries again.
    """
    found: list[Ability] = []

    def probe(name: str, how: Callable[..., Any], *arguments: Any) -> None:
        if found and found[-1].can is None:  # a server that is busy, or hangs, is not asked again
            return
        ability = tried(name, how, model, *arguments)
        if ability.refusal is not None:
            _judge(ability, ability.refusal, model)
        found.append(ability)

    if pictures:
        probe("image input", sees, seed)
    if pictures > 1:
        probe("several images", sees_several, seed + 1)
    if tools:
        probe("tool call", calls_a_tool)
    if counts:
        probe("usage reported", reports_usage)
    if not found:
        probe("plain text", says_ready)
    return found


def warnings(role: str, found: list[Ability]) -> list[str]:
    """A line for each thing that the model did not do, or that could not be found out."""
    return [
        f"preflight of {role}: {each.name}: {'no' if each.can is False else 'not found out'} ({each.said})"
        for each in found
        if not each.can
    ]


def _judge(ability: Ability, refusal: APIStatusError, model: Model) -> None:
    """UsageError, unless the server is only busy."""
    reply = refusal.response
    error = ServerError(
        refusal.status_code, model.shown, chat.PATH, reply.headers, reply.content, model.force
    )
    try:
        error.judge()
    except Again:
        return
    except ModelFault as fault:
        raise UsageError(str(fault)) from None
    remedy = _REMEDIES.get(ability.name, "see `fieldmark doctor`")
    if error.code.startswith("unsupported_"):  # a parameter is meant, not what was tried with it
        remedy = "set the parameter that it names by --force KEY=VALUE, or leave it out there"
    raise UsageError(f"{model.shown} refuses {ability.name} ({ability.said}): {remedy}")
