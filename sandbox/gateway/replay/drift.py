"""Drift: where a request differs from the recorded one that stood at its place."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fieldmark.sandbox.gateway.replay.masking import masked
from fieldmark.sandbox.gateway.wire.common import Body, Format

MOST = 4
"""Places that are named."""


def masked_hash(part: Any, key: str = "") -> str:
    """sha256 of a request, or of its part under `key`, with what may differ masked.

    Pictures stand in it by their hashes. The order of keys and the spelling of the JSON do not count.
    """
    text = json.dumps(masked(part, key), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def differences(wire: Format, now: Body, recorded: Body) -> list[str]:
    """`["messages[2]", "tools"]`: the places where two requests of a format differ; empty: no drift."""
    places = [
        place
        for key in dict.fromkeys([*now, *recorded])
        for place in _places(wire, key, now.get(key), recorded.get(key))
    ]
    return [*places[:MOST], *(["…"] if len(places) > MOST else [])]


def _places(wire: Format, key: str, now: Any, recorded: Any) -> list[str]:
    """Of a conversation the messages that differ, by their numbers from 0."""
    if key != wire.ITEMS or not isinstance(now, list) or not isinstance(recorded, list):
        return [] if _same(now, recorded, key) else [key]
    pairs = enumerate(zip(now, recorded, strict=False))
    places = [f"{key}[{n}]" for n, (item, was) in pairs if not _same(item, was, key)]
    if len(now) != len(recorded):
        places.append(f"{key} ({len(now)} instead of {len(recorded)})")
    return places


def _same(now: Any, recorded: Any, key: str) -> bool:
    return now == recorded or masked_hash(now, key) == masked_hash(recorded, key)
