"""What a paper fixes of a run: `--protocol` sets it, and refuses an option that says otherwise.

FIKA-Bench fixes 240 s an example and no memory between examples. What it does not publish (turns, calls,
the decoding, the judge) stays an option, recorded like any other. The Fine-R1 evaluation fixes one call of
the model, closed book, greedy decoding of at most 2,048 new tokens, an answer between tags, and how it is
scored, in its variants; world and order of the options stay options.

Pix2Fact (arXiv 2602.00593, section 4.1 and appendix C) asks for five keys, tries a failed call three times,
and decodes with temperature 0 and at most 8,192 tokens, 16,000 through Responses. Its own decoding has an
exception (GPT-5 takes temperature 1 only): this is a preset, which `--force` changes. It fixes no time limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from fieldmark.errors import UsageError
from fieldmark.task import ReplyForm

ProtocolName = Literal["fika", "fine-r1", "pix2fact"]
FIXED: dict[ProtocolName, dict[str, Any]] = {
    "fika": {"time_limit": 240.0, "memory": "off", "reply": "plain"},
    "fine-r1": {
        **{"agent": "closed_book", "memory": "off", "reply": "tags", "judge": "fine-r1"},
        "force": {"temperature": 0, "max_tokens": 2048},
    },
    "pix2fact": {"memory": "off", "reply": "pix2fact", "attempts": 3},
}
"""Protocol → option → its value. A run has no memory unless it is asked for, so `memory` is only refused and
recorded; `reply` is how agents that answer by text are asked to (`agents/forms.py`; ours use their tool
`answer`); `attempts` at an episode that breaks are the runner's own. `force` is of the model, parameter by
parameter.
"""
PRESET: dict[ProtocolName, dict[str, Any]] = {
    "pix2fact": {"temperature": 0, "max_tokens": 8192, "max_output_tokens": 16000},
}
"""Protocol → parameters of each request of the model, under what `force` says."""
_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
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
    if "time_limit" not in fixes:
        return
    limits = options.get("limits")
    seconds = limits.get("seconds") if isinstance(limits, dict) else None
    if seconds not in (None, fixes["time_limit"]):
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


def preset(name: Any, force: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model's requests that a protocol sets and `force` does not; `name` as it was given.

    A limit of tokens that is forced stands for every limit.
    """
    said = {*force, *(_LIMITS if _LIMITS & force.keys() else ())}
    values = PRESET.get(cast(ProtocolName, name), {}) if isinstance(name, str) else {}
    return {key: value for key, value in values.items() if key not in said}


def reply_form(name: ProtocolName | None) -> ReplyForm:
    """How agents that answer by text are asked to."""
    form: ReplyForm = FIXED[name]["reply"] if name else "json"
    return form


def describe(name: ProtocolName | None) -> dict[str, Any]:
    """For run.json: the protocol, what it fixed, and what it set beforehand."""
    if name is None:
        return {}
    told = {"preset": {"force": PRESET[name]}} if name in PRESET else {}
    return {"protocol": {"name": name, "fixes": FIXED[name], **told}}
