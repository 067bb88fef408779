"""The facts of a run's episodes as they are stored, with what rests on the verdicts of now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fieldmark.evals.facts.found import judged
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.rundir import RunDir

Key = tuple[str, int]


@dataclass(frozen=True)
class EpisodeFacts:
    """Of one episode. `gold` is None where gold was not here, or no longer is."""

    trace: TraceFacts
    gold: GoldFacts | None


def stored_facts(run: RunDir) -> dict[Key, EpisodeFacts]:
    """What the run folder has, by task and epoch."""
    gold = run.gold_facts()
    return with_verdicts(run, {key: EpisodeFacts(trace, gold.get(key)) for key, trace in run.facts().items()})


def with_verdicts(run: RunDir, facts: Mapping[Key, EpisodeFacts]) -> dict[Key, EpisodeFacts]:
    """The same with `supported` and `dropped` as the run's verdicts have it."""
    verdicts = run.verdicts()
    return {
        key: EpisodeFacts(each.trace, each.gold and judged(each.gold, each.trace, verdicts.get(key)))
        for key, each in facts.items()
    }
