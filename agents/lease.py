"""The prompt as the gateway leases it → what an agent is given."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from fieldmark.client import GatewayClient
    from fieldmark.task import Prompt

_BREATH = 0.05  # seconds between two polls, should a gateway answer 204 at once


def lease(gateway: GatewayClient) -> bytes:
    """Wait for an episode: its Prompt as JSON, every field in it."""
    while (reply := gateway.get("/episode", timeout=None)).status == 204:
        time.sleep(_BREATH)
    return reply.body


def read_prompt(body: bytes, *, lean: bool) -> Prompt:
    """The Prompt, or what has its attributes and none of Pydantic's methods: the host has checked them, and
    Pydantic takes twice as long to import as all that a lean agent needs.
    """
    if lean:
        return cast("Prompt", json.loads(body, object_hook=lambda fields: SimpleNamespace(**fields)))
    from fieldmark.task import Prompt

    return Prompt.model_validate_json(body)
