"""Where a run stands in its study: what a person sees of the others meanwhile, and what they have spent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """`label` names the run among the others. Of all others together: `done` episodes, and what they spent.

    `total` are the episodes of the whole study, `usd` and `hours` what the other runs have spent: a limit of
    the study counts them. `go_on` is the command that goes on with the study.
    """

    label: str
    done: int
    total: int
    usd: float
    hours: float
    go_on: str
