"""Drift: where a request differs from the recorded one that stood at its place."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fieldmark.sandbox.gateway.replay.masking import masked
from fieldmark.sandbox.gateway.wire.common import Body, Format

MOST = 4
"""Places that are named."""


def masked_hash(request: Body) -> str:
    """sha256 of a request as it was sent, pictures named by their hashes, what may differ masked.

    The order of keys and the spelling of the JSON do not count.
    """
    return _digest(masked(request))


def differences(wire: Format, now: Body, recorded: Body) -> list[str]:
    """`["messages[2]", "tools"]`: the places where two requests of a format differ; empty: no drift."""
    if masked_hash(now) == masked_hash(recorded):
        return []
    a, b = masked(now), masked(recorded)
    changed = [key for key in dict.fromkeys([*a, *b]) if _digest(a.get(key)) != _digest(b.get(key))]
    places = [place for key in changed for place in _places(wire, key, a.get(key), b.get(key))]
    return [*places[:MOST], *(["…"] if len(places) > MOST else [])]


def _places(wire: Format, key: str, now: Any, recorded: Any) -> list[str]:
    """Of a conversation the messages that differ, by their numbers from 0."""
    if key != wire.ITEMS or not isinstance(now, list) or not isinstance(recorded, list):
        return [key]
    same = min(len(now), len(recorded))
    places = [f"{key}[{n}]" for n in range(same) if _digest(now[n]) != _digest(recorded[n])]
    if len(now) != len(recorded):
        places.append(f"{key} ({len(now)} instead of {len(recorded)})")
    return places


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
