"""Where two traces of the same episode part: the first event that says another thing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel

from fieldmark.trace import Event

CLOCK = frozenset(
    {
        "t", "seconds", "first_token_seconds", "waited", "charged_seconds", "tries", "cached",
        "run", "version", "epoch", "attempt", "forked",
    }
)  # fmt: skip
"""What the clock says, and what an episode is called."""
NAMES = frozenset({"headers", "call", "parent"})
"""Where agents of others have names that they make up anew each time."""
NOT_COMPARED = CLOCK | NAMES


class Difference(BaseModel):
    """`event` is its number in both traces, `kind` what stands there (the recording's, then the fork's; None:
    that trace has ended), `what` the fields that differ. `call` names the call or the tool.
    """

    event: int
    kind: tuple[str | None, str | None]
    call: str | None
    what: list[str]

    @property
    def line(self) -> str:
        was, now = self.kind
        if was != now:
            return f"event {self.event}: {was or 'the end'} there, {now or 'the end'} here"
        return f"event {self.event}, {was}{f' {self.call}' if self.call else ''}: {', '.join(self.what)}"


def first_difference(
    recorded: Iterable[Event], fork: Iterable[Event], *, beside_change: bool = True
) -> Difference | None:
    """The first event that differs; None: they say the same. `beside_change`: other than what was changed.

    Two calls of one turn that ran at once may have ended in another order: that differs too.
    """
    for number, (was, now) in enumerate(zip_longest(recorded, fork)):
        if beside_change and was and now and was.kind == now.kind and _row(now).get("forked"):
            continue
        found = _differing(was, now)
        if found:
            named = _row(now or was)
            call = named.get("name") or named.get("call")
            kinds = (was.kind if was else None, now.kind if now else None)
            return Difference(event=number, kind=kinds, call=call, what=found)
    return None


def _differing(was: Event | None, now: Event | None) -> list[str]:
    if was is None or now is None:
        return ["kind"]
    one, other = _row(was), _row(now)
    return [
        key
        for key in dict.fromkeys([*one, *other])
        if key not in NOT_COMPARED and one.get(key) != other.get(key)
    ]


def _row(event: Event | None) -> dict[str, Any]:
    return {} if event is None else event.model_dump(mode="json", exclude_none=True)
