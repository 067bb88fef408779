"""Hits that are the task picture itself are written down by the gateway, whoever asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fieldmark.sandbox.gateway.web.door import Ledger

_SHOWN = ("title", "page", "source", "image", "thumbnail")
_MOST = 500
"""Characters of each part of a hit in an event."""


def note_copies(session: Ledger, hits: Iterable[dict[str, Any]]) -> None:
    """One `same_picture` event for each."""
    for hit in hits:
        if hit.get("same_picture") is True:
            row = {name: str(hit[name])[:_MOST] for name in _SHOWN if hit.get(name)}
            session.log("gateway", "same_picture", row)
