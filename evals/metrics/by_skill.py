"""Tool use by skill: who read it, and what became of the calls to the tools that it carries.

A skill carries the tools of its `allowed-tools`; a tool that two skills carry counts for both, so rows do
not add up. Calls are counted innermost, as in the tables by tool and by action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from fieldmark.evals.metrics.acts import Act, EpisodeActs
from fieldmark.evals.metrics.shares import Share
from fieldmark.trace import Event, SkillRead

NO_SKILL = "(no skill)"
"""The row of the tools that no skill of the run carries."""


class SkillRow(BaseModel):
    """`read`: episodes that read it / episodes. `usage`: those with a call to a tool of it / episodes.

    `tools`, `usage`, `calls` and `errors` are None where run.json does not say what skills carry.
    """

    skill: str
    tools: list[str] | None
    read: Share
    usage: Share | None
    calls: int | None
    errors: Share | None
    kinds: dict[str, int]


def skills_read(events: Iterable[Event]) -> frozenset[str]:
    """The skills of which an episode read a file."""
    return frozenset(event.skill for event in events if isinstance(event, SkillRead))


def carried(config: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """Skill → the tools it carries, as run.json has it; None where it does not say."""
    found = config.get("carries")
    if not isinstance(found, dict):
        return None
    return {str(skill): [str(tool) for tool in tools or []] for skill, tools in found.items()}


def by_skill(
    episodes: Sequence[EpisodeActs], read: Sequence[Collection[str]], config: Mapping[str, Any]
) -> list[SkillRow]:
    """A row for each skill of the run, then for calls under no skill. `read` goes with `episodes`."""
    carries = carried(config)
    recorded = config.get("skills")
    names = sorted(
        {*(recorded if isinstance(recorded, dict) else ()), *(name for one in read for name in one)}
    )
    rows = [
        _row(
            name,
            None if carries is None else carries.get(name, []),
            episodes,
            Share.of(sum(name in one for one in read), len(read)),
        )
        for name in names
    ]
    rest = _without(episodes, carries) if names and carries else []
    return [*rows, *([_row(NO_SKILL, rest, episodes, Share.of(0, 0))] if rest else [])]


def _without(episodes: Iterable[EpisodeActs], carries: Mapping[str, Collection[str]]) -> list[str]:
    """The tools that were called and that no skill carries."""
    owned = {tool for tools in carries.values() for tool in tools}
    return sorted({call.name for episode in episodes for call in _innermost(episode)} - owned)


def _row(name: str, tools: list[str] | None, episodes: Sequence[EpisodeActs], read: Share) -> SkillRow:
    if tools is None:
        return SkillRow(skill=name, tools=None, read=read, usage=None, calls=None, errors=None, kinds={})
    mine = [[call for call in _innermost(episode) if call.name in tools] for episode in episodes]
    calls = [call for one in mine for call in one]
    kinds = Counter(call.error_kind for call in calls if call.error_kind)
    return SkillRow(
        skill=name,
        tools=tools,
        read=read,
        usage=Share.of(sum(map(bool, mine)), len(episodes)),
        calls=len(calls),
        errors=Share.of(sum(call.ok is False for call in calls), len(calls)),
        kinds={str(kind): count for kind, count in kinds.most_common()},
    )


def _innermost(episode: EpisodeActs) -> Iterable[Act]:
    return (deep for act in episode.acts for deep in act.innermost)
