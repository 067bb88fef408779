"""What a reply says of the tokens it used, in the words of each wire format. Unknown is not 0."""

from __future__ import annotations

from fieldmark.sandbox.gateway.wire.common import Body
from fieldmark.trace import Tokens


def chat_usage(tokens: Tokens | None) -> Body:
    """`{"usage": …}`, or nothing at all."""
    if tokens is None:
        return {}
    usage = _known({"prompt_tokens": tokens.input, "completion_tokens": tokens.output})
    usage["total_tokens"] = (tokens.input or 0) + (tokens.output or 0)
    details = {
        "prompt_tokens_details": _known({"cached_tokens": tokens.cached}),
        "completion_tokens_details": _known({"reasoning_tokens": tokens.reasoning}),
    }
    return {"usage": usage | {key: value for key, value in details.items() if value}}


def response_usage(tokens: Tokens | None) -> Body | None:
    """The value of `usage`."""
    if tokens is None:
        return None
    usage = _known({"input_tokens": tokens.input, "output_tokens": tokens.output})
    usage["total_tokens"] = (tokens.input or 0) + (tokens.output or 0)
    details = {
        "input_tokens_details": _known({"cached_tokens": tokens.cached}),
        "output_tokens_details": _known({"reasoning_tokens": tokens.reasoning}),
    }
    return usage | {key: value for key, value in details.items() if value}


def message_usage(tokens: Tokens | None) -> Body:
    """`{"usage": …}`. What came from a cache is reported beside the input here, not as a part of it."""
    if tokens is None:
        return {}
    fresh = None if tokens.input is None else max(0, tokens.input - (tokens.cached or 0))
    usage = {"input_tokens": fresh, "output_tokens": tokens.output, "cache_read_input_tokens": tokens.cached}
    return {"usage": _known(usage)}


def _known(values: Body) -> Body:
    return {key: value for key, value in values.items() if value is not None}
