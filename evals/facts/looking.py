"""What an agent did: acts, looks at the picture, look-ups, as `metrics/acts.py` counts them."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.evals.facts.results import LOOKING, RETRIEVAL
from fieldmark.evals.metrics.acts import Act, episode_acts
from fieldmark.evals.metrics.sight import sight_in
from fieldmark.findings import AnsweredFrom, TraceFacts
from fieldmark.records import EpisodeRecord
from fieldmark.trace import Event


def looking(record: EpisodeRecord, events: Sequence[Event]) -> TraceFacts:
    """The facts of a trace but for where its answer stood."""
    acts = episode_acts(events).acts
    looked, searched = _succeeded(acts, LOOKING), _succeeded(acts, RETRIEVAL)
    sight = sight_in(events)
    times = {event.seq: event.t for event in events}
    return TraceFacts(
        id=record.id,
        epoch=record.epoch,
        acts=len(acts),
        failed_acts=sum(act.ok is False for act in acts),
        looked=looked,
        searched=searched,
        first_act=min((times[act.seq] for act in acts if act.seq in times), default=None),
        answered_from=_answered_from(acts, looked=looked, searched=searched),
        picture=sight.delivered if sight.calls or sight.refused else None,
        picture_lost=sight.lost_at is not None,
    )


def _succeeded(acts: Sequence[Act], actions: frozenset[str]) -> bool:
    """Whether one of these actions did its job, also as a call inside another (a tool run by a shell)."""
    return any(deep.ok is True and deep.action in actions for act in acts for deep in act.innermost)


def _answered_from(acts: Sequence[Act], *, looked: bool, searched: bool) -> AnsweredFrom:
    if not acts:
        return "no_act"
    return "retrieval" if searched else "looking" if looked else "other"
