"""The acts of a run added up: how often, how many, how many failed; by tool and by action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from pydantic import BaseModel

from fieldmark.evals.metrics.acts import Act, EpisodeActs
from fieldmark.evals.metrics.shares import Share


class ToolUse(BaseModel):
    """`usage`: episodes with at least one act / episodes. `errors`: failed acts / acts.

    `mean_acts` is None without episodes. `no_result` acts are neither failed nor known to be fine.
    `sides` counts calls to skills, memory, to-do lists and sub-agents, which are acts only where
    `every_call` is asked for.
    """

    every_call: bool

    episodes: int
    acts: int
    usage: Share
    mean_acts: float | None
    errors: Share
    not_found: int
    no_result: int
    sides: dict[str, int]


class CallsRow(BaseModel):
    """The calls under one name, by the innermost call: a shell call that ran `ocr` counts as `ocr`."""

    name: str
    calls: int
    errors: Share
    kinds: dict[str, int]


class ErrorRow(BaseModel):
    """The failed calls of one kind of error, over all failed calls and over all calls."""

    kind: str
    of_failed: Share
    of_calls: Share


def tool_use(episodes: list[EpisodeActs], *, every_call: bool = False) -> ToolUse:
    """Totals over episodes that have a trace; with `every_call` all calls but `answer` are acts."""
    counted = [[act for side, act in episode.calls if side is None or every_call] for episode in episodes]
    acts = [act for mine in counted for act in mine]
    sides: Counter[str] = sum((episode.sides for episode in episodes), Counter())
    return ToolUse(
        every_call=every_call,
        episodes=len(episodes),
        acts=len(acts),
        usage=Share.of(sum(map(bool, counted)), len(episodes)),
        mean_acts=len(acts) / len(episodes) if episodes else None,
        errors=Share.of(sum(act.ok is False for act in acts), len(acts)),
        not_found=sum(act.error_kind == "not_found" for act in acts),
        no_result=sum(act.ok is None for act in acts),
        sides=dict(sides),
    )


def by_tool(episodes: list[EpisodeActs]) -> list[CallsRow]:
    return _grouped(episodes, lambda act: act.name)


def by_action(episodes: list[EpisodeActs]) -> list[CallsRow]:
    return _grouped(episodes, lambda act: act.action)


def _grouped(episodes: Iterable[EpisodeActs], name: Callable[[Act], str]) -> list[CallsRow]:
    groups: dict[str, list[Act]] = {}
    for call in (deep for episode in episodes for act in episode.acts for deep in act.innermost):
        groups.setdefault(name(call), []).append(call)
    rows = [_calls_row(key, calls) for key, calls in groups.items()]
    return sorted(rows, key=lambda row: (-row.calls, row.name))


def _calls_row(name: str, calls: list[Act]) -> CallsRow:
    kinds = Counter(call.error_kind for call in calls if call.error_kind)
    return CallsRow(
        name=name,
        calls=len(calls),
        errors=Share.of(sum(call.ok is False for call in calls), len(calls)),
        kinds={str(kind): count for kind, count in kinds.most_common()},
    )


def errors(rows: list[CallsRow]) -> list[ErrorRow]:
    """The kinds of error of all these calls, the most frequent first."""
    kinds = sum((Counter(row.kinds) for row in rows), Counter())
    failed, calls = round(sum(row.errors.count for row in rows)), sum(row.calls for row in rows)
    return [
        ErrorRow(kind=kind, of_failed=Share.of(times, failed), of_calls=Share.of(times, calls))
        for kind, times in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
