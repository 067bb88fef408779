"""Parameters that a run sets in every request, whatever the agent asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldmark.sandbox.gateway.wire.common import Body, Format

LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Names of one thing: how many tokens a reply may have."""


def forced(wire: Format, force: Mapping[str, Any], body: Body) -> Body:
    """The forced parameters under the names of a format; the limit under the name that the request uses.

    Of several limits, those count that the format has by name: 16,000 tokens as `max_output_tokens` are for
    Responses alone where `max_tokens` says something else.
    """
    values = {key: value for key, value in force.items() if key not in LIMITS}
    told = [key for key in LIMITS if key in force]
    for key in [key for key in told if key in wire.LIMITS] or told:
        usual = key if key in wire.LIMITS else wire.LIMITS[0]
        names = [name for name in wire.LIMITS if body.get(name) is not None] or [usual]
        values |= dict.fromkeys(names, force[key])
    return values
