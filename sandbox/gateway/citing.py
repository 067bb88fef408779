"""Citable: which results of an episode a note may rest on. Only those whose call the gateway saw itself."""

from __future__ import annotations

from typing import Any

from fieldmark.tools.remember import NO_EVIDENCE
from fieldmark.trace import By

SERVICES = ("/lookup/", "/image/region", "/fetch", "/eyes")
"""Routes by which the gateway has a hand in what a tool finds."""


class Citable:
    """Fed with every event, in order, and with every service of the gateway.

    A result counts when it says `ok`, and when the gateway read it from a request, or saw its call, or a
    shell's around it, in a reply of the model, or had a hand in it: a service was asked for meanwhile.
    """

    def __init__(self) -> None:
        self.results: dict[int, str] = {}  # seq -> the tool's name, in order
        self._calls: dict[str, tuple[str, bool, int]] = {}  # call -> name, seen, services before it
        self._served = 0

    def served(self, path: str) -> None:
        """A request of the sandbox was carried out."""
        self._served += path.startswith(SERVICES)

    def saw(self, seq: int, by: By, kind: str, fields: dict[str, Any]) -> None:
        """An event was written."""
        call = str(fields.get("call"))
        if kind == "tool_call":
            seen = by == "gateway" or bool(fields.get("tap") or fields.get("parent"))
            self._calls[call] = (str(fields.get("name")), seen, self._served)
        elif kind == "tool_result" and fields.get("ok"):
            name, seen, before = self._calls.get(call, ("", False, self._served))
            if name not in NO_EVIDENCE and (seen or by == "gateway" or self._served > before):
                self.results[seq] = name
