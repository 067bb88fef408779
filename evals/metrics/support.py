"""Supported or lucky: of correct answers, those that gold had stood before; and how far episodes came.

Counts are of episodes that are done. Left out of what gold decides are those without gold's facts, and those
whose question names gold itself: of these nothing can be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from statistics import fmean

from pydantic import BaseModel

from fieldmark.evals.facts.stored import EpisodeFacts
from fieldmark.evals.metrics.accuracy import ALL
from fieldmark.evals.metrics.bootstrap import resampled
from fieldmark.evals.metrics.outcomes import DONE, Cell
from fieldmark.evals.metrics.shares import Interval, Share, wilson

Facts = Mapping[tuple[str, int], EpisodeFacts]


class SupportRow(BaseModel):
    """One split × category. `n` episodes are done and known, `left_out` are done and not known.

    `correct` = `supported` + `unsupported`; of the unsupported, `confirmed` by a look-up that named gold.
    `accuracy` is the supported over all known: of tasks, each with the mean of its epochs. `interval` is its
    95 % one, as that of accuracy is.
    """

    split: str
    top: str
    n: int
    left_out: int
    correct: int
    supported: int
    unsupported: int
    confirmed: int
    accuracy: Share
    interval: Interval | None


class FunnelRow(BaseModel):
    """One split × category: each a share of the episodes that are done and of which it is known.

    `seen_wrong`: gold was seen, and the answer is not correct. `picture_lost` is of those that the picture
    reached.
    """

    split: str
    top: str
    looked: Share
    searched: Share
    seen: Share
    right: Share
    seen_wrong: Share
    picture_lost: Share


class Support(BaseModel):
    """Of `episodes` done, those `without_trace` have no facts, and those `without_gold` none of gold."""

    episodes: int
    without_trace: int
    without_gold: int
    rows: list[SupportRow]
    funnel: list[FunnelRow]


class _Seen:
    """One done episode with its facts, None where they are not known."""

    def __init__(self, cell: Cell, facts: Facts) -> None:
        self.cell = cell
        found = facts.get((cell.id, cell.epoch))
        self.trace = found.trace if found else None
        self.gold = found.gold if found else None
        self.right = cell.outcome == "correct"

    @property
    def known(self) -> bool:
        """Whether it can be told if gold stood before the answer. What the answer was must not decide it:
        where the question names gold, to keep only those of supported answers would flatter the share.
        """
        return self.gold is not None and self.gold.seen is not None

    @property
    def supported(self) -> bool:
        return self.right and self.gold is not None and self.gold.supported is True

    @property
    def confirmed(self) -> bool:
        gold = self.gold
        return self.right and not self.supported and gold is not None and gold.confirmed_event is not None


def support(cells: Sequence[Cell], facts: Facts) -> Support:
    """The tables of a run, in the order of its accuracy table."""
    done = [_Seen(cell, facts) for cell in cells if cell.outcome in DONE]
    groups = list(_groups(done))
    return Support(
        episodes=len(done),
        without_trace=sum(each.trace is None for each in done),
        without_gold=sum(each.gold is None for each in done),
        rows=[_support_row(*group) for group in groups],
        funnel=[_funnel_row(*group) for group in groups],
    )


def _groups(done: Sequence[_Seen]) -> Iterator[tuple[str, str, list[_Seen]]]:
    """Each split × category, a split's total last; a lone split is not repeated under its own name."""
    named = sorted({each.cell.split for each in done})
    for split in [ALL, *(named if len(named) > 1 else [])]:
        mine = [each for each in done if split in (ALL, each.cell.split)]
        for top in sorted({each.cell.top for each in mine}):
            yield split, top, [each for each in mine if each.cell.top == top]
        yield split, ALL, mine


def _support_row(split: str, top: str, done: list[_Seen]) -> SupportRow:
    known = [each for each in done if each.known]
    correct, supported = sum(each.right for each in known), sum(each.supported for each in known)
    tasks: dict[str, list[bool]] = {}
    for each in known:
        tasks.setdefault(each.cell.id, []).append(each.supported)
    means = [fmean(epochs) for epochs in tasks.values()]
    accuracy = Share.of(fsum(means), len(means))
    between = any(0 < mean < 1 for mean in means)
    return SupportRow(
        split=split,
        top=top,
        n=len(known),
        left_out=len(done) - len(known),
        correct=correct,
        supported=supported,
        unsupported=correct - supported,
        confirmed=sum(each.confirmed for each in known),
        accuracy=accuracy,
        interval=(resampled(means, [1] * len(means)) if between else None) or wilson(accuracy),
    )


def _funnel_row(split: str, top: str, done: list[_Seen]) -> FunnelRow:
    read = [each.trace for each in done if each.trace]
    asked = [each for each in done if each.gold and each.gold.seen is not None]
    return FunnelRow(
        split=split,
        top=top,
        looked=_share(trace.looked for trace in read),
        searched=_share(trace.searched for trace in read),
        seen=_share(_has_seen(each) for each in asked),
        right=_share(each.right for each in done),
        seen_wrong=_share(_has_seen(each) and not each.right for each in asked),
        picture_lost=_share(trace.picture_lost for trace in read if trace.picture in ("exact", "resampled")),
    )


def _has_seen(each: _Seen) -> bool:
    return each.gold is not None and each.gold.seen is True


def _share(flags: Iterable[bool]) -> Share:
    found = list(flags)
    return Share.of(sum(found), len(found))
