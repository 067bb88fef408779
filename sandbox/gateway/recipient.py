"""Whom a model call of an agent is for: the model of the run, or the vision model that is served beside it.

An agent of others may have a second model in its configuration; it names the one it wants in each request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fieldmark.sandbox.gateway import modelcall
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.gateway.wire.common import Format
from fieldmark.trace import Role


@dataclass(frozen=True)
class Recipient:
    """Where a call goes, and as what it is recorded. `take`: digest of the request → the call's name."""

    upstream: Upstream
    role: Role
    take: Callable[[bytes], str]


def served(session: Session) -> list[str]:
    """The names that a request may ask for; any other name means the first."""
    names = [session.prompt.model, *([session.eyes.name] if session.eyes else [])]
    return list(dict.fromkeys(names))


def recipient(session: Session, wire: Format, raw: bytes) -> Recipient:
    """The vision model when the request names it, else the run's. Refused when `raw` is no request."""
    eyes = session.eyes
    if eyes and len(served(session)) > 1 and modelcall.parse(wire, raw)[2].get("model") == eyes.name:
        return Recipient(eyes, "eyes", lambda digest: _take_eyes_call(session))
    return Recipient(session.upstream, "agent", session.take_model_call)


def _take_eyes_call(session: Session) -> str:
    if not session.eyes_left:
        why = "the questions of this episode to the vision model are used up"
        raise Refused(400, "budget_exhausted", why)
    session.eyes_left -= 1
    session.counts["eyes_calls"] = number = session.counts.get("eyes_calls", 0) + 1
    return f"eyes{number}"
