"""What a paper fixes of a run: `--protocol` sets it, and refuses an option that says otherwise.

FIKA-Bench fixes 240 s an example and no memory between examples. What it does not publish (turns, calls,
the decoding, the judge) stays an option, recorded like any other.
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

from fieldmark.errors import UsageError
from fieldmark.task import ReplyForm

ProtocolName = Literal["fika"]
FIXED: dict[ProtocolName, dict[str, Any]] = {
    "fika": {"time_limit": 240.0, "memory": "off", "reply": "plain"},
}
"""Protocol → option → its value. A run has no memory unless it is asked for, so `memory` is only refused and
recorded; `reply` is how agents of others are asked to answer (closed book answers in JSON, ours by their tool
`answer`).
"""
_SET = ("time_limit",)


def settle(options: dict[str, Any]) -> None:
    """Put what the protocol fixes into the options of a run. UsageError when one of them says otherwise."""
    name = options.get("protocol")
    if name not in get_args(ProtocolName):
        return
    fixes = FIXED[cast(ProtocolName, name)]
    for option, fixed in fixes.items():
        given = options.get(option, fixed)
        if given != fixed:
            raise UsageError(
                f"--{option.replace('_', '-')} {given} contradicts --protocol {name}, which has {fixed}: "
                "leave one of them out"
            )
        if option in _SET:
            options[option] = fixed
    limits = options.get("limits")
    seconds = limits.get("seconds") if isinstance(limits, dict) else None
    if seconds not in (None, fixes.get("time_limit")):
        raise UsageError(f"limits.seconds {seconds} contradicts --protocol {name}: leave one of them out")


def reply_form(name: ProtocolName | None) -> ReplyForm:
    """How agents of others are asked to answer."""
    form: ReplyForm = FIXED[name]["reply"] if name else "json"
    return form


def describe(name: ProtocolName | None) -> dict[str, Any]:
    """For run.json: the protocol and what it fixed."""
    return {"protocol": {"name": name, "fixes": FIXED[name]}} if name else {}
