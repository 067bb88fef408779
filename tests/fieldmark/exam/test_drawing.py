"""Which tasks an exam has."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.exam.drawing import draw
from fieldmark.task import Gold, Labels, Task

SCENES = {"market": 290, "street": 221, "house": 153, "sky": 113, "books": 67, "office": 55, "feast": 52,
          "park": 49}  # fmt: skip
"""As many pictures of each scene as Pix2Fact has, 1,000 in all."""


def benchmark() -> list[Task]:
    scenes = [scene for scene, count in SCENES.items() for _ in range(count)]
    return [
        Task(id=f"t{n}", question="?", image=Path("x.jpg"), gold=Gold(answer="a"), labels=Labels(top=scene))
        for n, scene in enumerate(scenes)
    ]


def test_a_paper_is_drawn_once_for_all_and_shares_no_task_with_another() -> None:
    tasks = benchmark()
    papers = [{task.id for task in draw(tasks, 50, paper, 1, None)} for paper in range(1, 21)]
    assert draw(tasks, 50, 2, 1, None) == draw(list(reversed(tasks)), 50, 2, 1, None)
    assert sum(map(len, papers)) == len(set().union(*papers)) == 1000
    assert {task.id for task in draw(tasks, 50, 1, 2, None)} != papers[0]


@pytest.mark.parametrize("paper", [1, 2, 20])
def test_stratified_each_label_has_its_share_in_every_paper(paper: int) -> None:
    found = Counter(task.labels.top for task in draw(benchmark(), 50, paper, 1, "top"))
    assert all(abs(found[scene] - count / 20) < 1.5 for scene, count in SCENES.items()), found


def test_what_cannot_be_drawn_is_said() -> None:
    tasks = benchmark()
    with pytest.raises(UsageError, match="only 1000 tasks are there"):
        draw(tasks, 1001, 1, 0, None)
    with pytest.raises(UsageError, match="1000 tasks make 20 papers of 50"):
        draw(tasks, 50, 21, 0, None)
    with pytest.raises(UsageError, match="no task has this label; the labels are split, top"):
        draw(tasks, 50, 1, 0, "scene")
