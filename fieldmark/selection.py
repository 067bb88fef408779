"""Which tools and skills a run has on: the grammar of `--tools` and `--skills`, and the rule of capability.

    none                nothing
    all                 all there are
    a,b                 these
    all,-a              all but a; `none,+a` and `base,-a` likewise
    base,+a             what is on when nothing is said, and a; `+a` alone says the same

Entries are read from left to right, so `all,-a,+a` has a on again.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from fieldmark.errors import UsageError

WORDS = ("none", "all", "base")
"""The words of the grammar; no tool or skill may be called so."""

READ_SKILL = "read_skill"
ALWAYS_OFFERED = frozenset({"answer"})
"""Tools that no skill can take away by carrying them."""


def select(spec: Sequence[str], known: Sequence[str], base: Sequence[str], noun: str) -> list[str]:
    """The names that `spec` (the entries between the commas) has on, in the order of `known`.

    `noun` ("tool", "skill") is for messages. UsageError: an unknown name, a word in the wrong place, nothing.
    """
    entries = [entry.strip() for entry in spec if entry.strip()]
    if not entries:
        raise UsageError(f"no {noun}s named: give names with commas, or none, all or base")
    on = set(base) if entries[0][0] in "+-" else set[str]()
    for place, entry in enumerate(entries):
        if entry in WORDS:
            _first(entry, place, entries, noun)
            on = {"none": set[str](), "all": set(known), "base": set(base)}[entry]
        elif entry[0] == "-":
            on.discard(checked(entry[1:].strip(), known, noun))
        else:
            on.add(checked(entry.removeprefix("+").strip(), known, noun))
    if entries[0] == "none" and any(entry[0] not in "+-" for entry in entries[1:]):
        raise UsageError(f"{noun}s {','.join(entries)}: after none write +NAME")
    return [name for name in known if name in on]


def checked(name: str, known: Sequence[str], noun: str) -> str:
    """`name`, if it is known; else a UsageError that lists the known ones and the closest of them."""
    if name in known:
        return name
    close = difflib.get_close_matches(name.replace("_", "-") if noun == "skill" else name, known, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise UsageError(
        f"unknown {noun} {name!r}{hint}: the {noun}s are {', '.join(known) or 'none'}; "
        f"none, all, a,b, all,-a and base,+a are understood"
    )


def offered_tools(
    tools: Sequence[str], carried: Mapping[str, Collection[str]], skills_on: Collection[str]
) -> list[str]:
    """Of `tools` those that an agent is offered, in their order.

    `carried` has for each known skill, on or off, the tools it carries. A tool that some skill carries is
    offered only while a skill that carries it is on; one that no skill carries always is. `read_skill`
    belongs to all skills alike; `answer` can be carried by none.
    """
    owned = {tool for names in carried.values() for tool in names} | {READ_SKILL}
    granted = {tool for skill in skills_on for tool in carried.get(skill, ())}
    if skills_on:
        granted.add(READ_SKILL)
    return [tool for tool in tools if tool in ALWAYS_OFFERED or tool not in owned or tool in granted]


def _first(word: str, place: int, entries: Sequence[str], noun: str) -> None:
    if place:
        raise UsageError(f"{noun}s {','.join(entries)}: {word} stands first, before any name")
