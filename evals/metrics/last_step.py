"""Where an episode ended: at which act, or at which boundary it broke."""

from __future__ import annotations

from typing import get_args

from fieldmark.errors import Boundary
from fieldmark.evals.metrics.acts import EpisodeActs
from fieldmark.records import EpisodeRecord
from fieldmark.trace import Action

NO_ACT = "no act"
NO_TRACE = "no trace"
LAST_STEPS = (*get_args(Action), NO_ACT, NO_TRACE, *(f"error: {name}" for name in get_args(Boundary)))
"""All that `last_step` may say of an episode whose trace is ours; of others, an action of their own too."""


def last_step(record: EpisodeRecord, acts: EpisodeActs | None) -> str:
    """`error: <boundary>` of an episode that broke; else the action of its last act, by the innermost call.

    "no act" where there was none, "no trace" where `acts` is None: unknown.
    """
    if record.error:
        return f"error: {record.error.boundary}"
    if acts is None:
        return NO_TRACE
    return acts.acts[-1].innermost[-1].action if acts.acts else NO_ACT
