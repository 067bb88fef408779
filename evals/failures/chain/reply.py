"""What a reply says: one JSON object with a stage and a kind of it, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.failures.chain.by_facts import Broken
from fieldmark.evals.failures.chain.scheme import KINDS, STAGES
from fieldmark.evals.failures.llm_reply import events_of
from fieldmark.tools.model_text import FoundObject

KEYS = "stage, kind, events and reason"


def read_reply(text: str, shown: Collection[int], quoted: Sequence[str] = ()) -> Broken:
    """`shown` are the events that it may cite, `quoted` the texts of agent and web. NotUsed for all else."""
    read = [_broken(each, shown) for each in objects_with(text, "stage", quoted)]
    if len({(said.link, said.kind) for said in read}) > 1:
        raise NotUsed("it holds several stages that differ")
    return read[0]


def _broken(found: FoundObject, shown: Collection[int]) -> Broken:
    value: dict[str, Any] = found.value
    stage, kind, reason = value["stage"], value.get("kind"), value.get("reason")
    if found.cut:
        raise NotUsed("it breaks off before its end")
    if stage is not None and stage not in STAGES:
        raise NotUsed(f"its stage is none of {', '.join(STAGES)}, null")
    kinds = [name for name, (link, _) in KINDS.items() if link == stage]
    if kind is not None and kind not in kinds:
        raise NotUsed(f"its kind is none of {', '.join([*kinds, 'null'])}, which are those of {stage}")
    events = events_of(value.get("events"), shown)
    return Broken(stage, reason if isinstance(reason, str) else "", kind, events=events)
