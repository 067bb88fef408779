"""Run folders with the counts that FIKA-Bench's paper reports (arXiv 2605.13193), and none of its data.

The sizes of its splits are published (195 public, 116 real-life); those of its categories in a split are not.
`SIZES` are chosen by us so that the published percentages can come out: 44.6 % of public Transport is 29 of
65, 7.7 % of Culture 4 of 52, and "at most 1.2 %" 1 of 84 or 95.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from fieldmark.records import VerdictLabel
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import RunBuilder

SIZES = {
    "public": {"Product": 50, "Nature": 49, "Transport": 65, "Culture": 31},
    "real-life": {"Product": 30, "Nature": 35, "Transport": 30, "Culture": 21},
}
"""Tasks of each split × category: 195 and 116."""
ORDER = ("Transport", "Culture", "Nature", "Product")
"""The order in which categories are dealt the correct answers of their split."""
CULTURE_MOST = 2
"""Of 31: "no evaluated system exceeds 6.5 % on Culture"."""
Correct = Mapping[str, int]
"""Split → correct answers."""


def tasks() -> Iterator[tuple[str, str, str]]:
    """The id, split and category of each of the 311."""
    for split, tops in SIZES.items():
        for top, size in tops.items():
            yield from ((f"{split}-{top}-{number}", split, top) for number in range(size))


def deal(split: str, correct: int, transport: int | None = None) -> dict[str, int]:
    """So many correct answers over the categories of a split; `transport` of them there where it is known."""
    room = {**SIZES[split], **({"Culture": CULTURE_MOST} if split == "public" else {})}
    if transport is not None:
        room["Transport"] = transport
    dealt: dict[str, int] = {}
    for top in ORDER:
        dealt[top] = min(room[top], correct - sum(dealt.values()))
    assert sum(dealt.values()) == correct
    return dealt


def results(run: RunBuilder, correct: Correct, *, transport: int | None = None) -> RunDir:
    """A run of all 311 with so many correct answers in each split: a row of Table 2."""
    dealt = {
        split: deal(split, count, transport if split == "public" else None)
        for split, count in correct.items()
    }
    for task_id, split, top in tasks():
        run.task(task_id, split=split, top=top)
        right = int(task_id.rsplit("-", 1)[1]) < dealt[split][top]
        run.episode(task_id, verdict="correct" if right else "incorrect")
    return run.finish()


def tool_use(run: RunBuilder, with_an_act: int, calls: list[tuple[str, str]]) -> RunDir:
    """A run of all 311 in which the first so many have these calls (name, how it ended): a row of Table 3."""
    for number, (task_id, split, top) in enumerate(tasks()):
        run.task(task_id, split=split, top=top)
        mine = calls[number::with_an_act] if number < with_an_act else []
        run.episode(task_id, verdict="incorrect").step(*mine)
    return run.finish()


def openclaw_small(run: RunBuilder) -> RunDir:
    """OpenClaw + Qwen3-VL-8B: 604 calls, 544 failed, 519 of them to what is no tool.

    The paper names `image` and `reverse-image-search`, a skill, without their shares, and puts usage between
    97.7 and 99.7 % for both OpenClaw settings: 400 and 119, and 310 of 311, are ours.
    """
    calls = [("image", "not_offered")] * 400 + [("reverse-image-search", "not_offered")] * 119
    return tool_use(run, 310, calls + [("ocr", "failed")] * 25 + [("ocr", "ok")] * 60)


def aircraft(run: RunBuilder, correct: int, partly: int = 0) -> RunDir:
    """The 43 aircraft of Table 4."""
    counts: dict[VerdictLabel, int] = {"correct": correct, "partially_correct": partly}
    counts["incorrect"] = 43 - correct - partly
    labels = [label for label, count in counts.items() for _ in range(count)]
    for number, label in enumerate(labels):
        run.task(f"aircraft-{number}", top="Transport")
        run.episode(f"aircraft-{number}", verdict=label)
    return run.finish()


RUNTIMES = {
    "Product": (15.1, 39.4, 0),
    "Nature": (15.9, 37.1, 1),
    "Transport": (16.1, 28.9, 1),
    "Culture": (18.1, 159.4, 4),
}
"""Category → median and 90th percentile in seconds, and episodes at 239 s or more."""


def runtimes(run: RunBuilder) -> RunDir:
    """A run of all 311 with the runtimes of Figure 3."""
    left = {
        top: iter(_seconds(sum(sizes[top] for sizes in SIZES.values()), *RUNTIMES[top])) for top in RUNTIMES
    }
    for task_id, split, top in tasks():
        run.task(task_id, split=split, top=top)
        run.episode(task_id, verdict="incorrect", seconds=next(left[top]))
    return run.finish()


def _seconds(n: int, median: float, p90: float, late: int) -> list[float]:
    """`n` times, rising, with that median and 90th percentile (type 7), the last `late` at the limit."""
    middle, high = (n - 1) / 2, 0.9 * (n - 1)
    places = [0, floor(middle), ceil(middle), floor(high), ceil(high), n - 1]
    early = np.interp(range(n), places, [3.0, median, median, p90, p90, p90 * 1.4])
    return [*map(float, early[: n - late]), *[240.0] * late]
