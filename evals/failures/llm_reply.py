"""What the classifier's reply says: one JSON object with a class, or nothing.

No class is an unknown one, one that cites no event or an event that it was not shown, one read from broken
JSON with other keys, and objects that do not agree.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar, get_args

from fieldmark.evals.asking.reply import NotUsed, objects_with
from fieldmark.evals.failures.case import Decision
from fieldmark.evals.failures.taxonomy import CLASSES, SUBS
from fieldmark.findings import Link
from fieldmark.tools.model_text import FoundObject

_KEYS = frozenset({"label", "sub", "link", "events", "reason"})
_LINKS: tuple[Link, ...] = get_args(Link)
Name = TypeVar("Name", bound=str)


def read_reply(text: str, shown: Collection[int], quoted: Sequence[str] = ()) -> Decision:
    """The class of a reply. `shown` are the events that it may cite, `quoted` the texts of agent and web that
    the model was given. Its events are among those that gold found, for it knew gold. NotUsed else.
    """
    read = [_decision(each, shown) for each in objects_with(text, "label", quoted)]
    if len({(said.label, said.sub, said.link) for said in read}) > 1:
        raise NotUsed("it holds several labels that differ")
    return read[0]


def _decision(found: FoundObject, shown: Collection[int]) -> Decision:
    value = found.value
    if found.cut:
        raise NotUsed("it breaks off before its end")
    if found.repaired and not value.keys() <= _KEYS:
        raise NotUsed("its JSON is broken, and holds more than label, sub, link, events and reason")
    label, reason = _one_of("label", value["label"], tuple(CLASSES)), value.get("reason")
    sub = _one_of_or_none("sub", value.get("sub"), tuple(SUBS))
    if sub and label != "wrong_entity_retrieval":
        raise NotUsed(f"{label} has no sub-class")
    return Decision(
        label,
        reason if isinstance(reason, str) else "",
        sub=sub,
        link=_one_of_or_none("link", value.get("link"), _LINKS),
        gold_events=events_of(value.get("events"), shown),
    )


def events_of(value: Any, shown: Collection[int]) -> tuple[int, ...]:
    """The events that a reply cites. NotUsed: none, or one that was not `shown`."""
    if not isinstance(value, list) or not value:
        raise NotUsed("it cites no event: events is a list of at least one number")
    strange = [each for each in value if type(each) is not int or each not in shown]
    if strange:
        raise NotUsed(f"it cites {str(strange[0])[:40]}, which is no event among the steps")
    return tuple(dict.fromkeys(value))


def _one_of_or_none(key: str, value: Any, names: tuple[Name, ...]) -> Name | None:
    return None if value is None else _one_of(key, value, names)


def _one_of(key: str, value: Any, names: tuple[Name, ...]) -> Name:
    for name in names:
        if value == name:
            return name
    raise NotUsed(f"its {key} is none of {', '.join(names)}")
