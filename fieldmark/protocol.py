"""What a paper fixes of a run: `--protocol` sets it, and refuses an option that says otherwise.

FIKA-Bench fixes 240 s an example and no memory between examples. What it does not publish (turns, calls,
the decoding, the judge) stays an option, recorded like any other. The Fine-R1 evaluation fixes one call of
the model, closed book, greedy decoding of at most 2,048 new tokens, an answer between tags, and how it is
scored, in its variants; world and order of the options stay options.
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

from fieldmark.errors import UsageError
from fieldmark.task import ReplyForm

ProtocolName = Literal["fika", "fine-r1"]
FIXED: dict[ProtocolName, dict[str, Any]] = {
    "fika": {"time_limit": 240.0, "memory": "off", "reply": "plain"},
    "fine-r1": {
        **{"agent": "closed_book", "memory": "off", "reply": "tags", "judge": "fine-r1"},
        "force": {"temperature": 0, "max_tokens": 2048},
    },
}
"""Protocol → option → its value. A run has no memory unless it is asked for, so `memory` is only refused and
recorded; `reply` is how an answer is asked for: `plain` of agents of others (closed book answers in JSON,
ours by their tool `answer`), `tags` of closed book. `force` is of the model, parameter by parameter.
"""
_SET = ("time_limit", "agent")
_OF_MODELS = ("judge", "force")


def settle(options: dict[str, Any], models: dict[str, dict[str, Any]]) -> None:
    """Put what the protocol fixes into the options of a run, and into those of its models (role → options).
    UsageError when one of them says otherwise.
    """
    name = str(options.get("protocol"))
    if name not in get_args(ProtocolName):
        return
    fixes = FIXED[cast(ProtocolName, name)]
    for option, fixed in fixes.items():
        if option not in _OF_MODELS:
            _check(option, options.get(option, fixed), fixed, name)
        if option in _SET:
            options[option] = fixed
    if "judge" in fixes:
        _check("judge", models.get("judge", {}).get("name", fixes["judge"]), fixes["judge"], name)
        models["judge"] = {**models.get("judge", {}), "name": fixes["judge"]}
    if "force" in fixes:
        _settle_force(models.setdefault("model", {}), fixes["force"], name)
    limits = options.get("limits")
    seconds = limits.get("seconds") if isinstance(limits, dict) else None
    if seconds not in (None, fixes.get("time_limit")):
        raise UsageError(f"limits.seconds {seconds} contradicts --protocol {name}: leave one of them out")


def _settle_force(model: dict[str, Any], fixes: dict[str, Any], name: str) -> None:
    force = model.get("force") or {}
    for parameter, fixed in fixes.items():
        _check(f"force {parameter}", force.get(parameter, fixed), fixed, name)
    model["force"] = {**force, **fixes}


def _check(option: str, given: Any, fixed: Any, name: str) -> None:
    if given != fixed:
        raise UsageError(
            f"--{option.replace('_', '-')} {given} contradicts --protocol {name}, which has {fixed}: "
            "leave one of them out"
        )


def reply_form(name: ProtocolName | None) -> ReplyForm:
    """How an answer is asked for."""
    form: ReplyForm = FIXED[name]["reply"] if name else "json"
    return form


def describe(name: ProtocolName | None) -> dict[str, Any]:
    """For run.json: the protocol and what it fixed."""
    return {"protocol": {"name": name, "fixes": FIXED[name]}} if name else {}
