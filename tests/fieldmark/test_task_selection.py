"""Which tasks a run has, and their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.task import Gold, Labels, Task
from fieldmark.task_selection import describe_order, select_tasks


def task(name: str, mid: str = "Aircraft", split: str = "public") -> Task:
    labels = Labels(mid=mid, split=split)
    return Task(id=name, question="What?", image=Path("x.png"), gold=Gold(answer="y"), labels=labels)


TASKS = [task("a"), task("b", split="private"), task("c", mid="Food"), *map(task, "defgh")]


def ids(tasks: list[Task] = TASKS, **options: Any) -> str:
    return "".join(each.id for each in select_tasks(tasks, "bench", RunConfig(**options)))


def test_labels_choose_tasks_before_the_limit() -> None:
    assert ids(where="mid=Aircraft") == "abdefgh"
    assert ids(where="mid=Aircraft and split=public", limit=3) == "ade"


def test_a_facet_chooses_tasks_too() -> None:
    counting = task("z").model_copy(update={"labels": Labels(facets={"perception type": "counting"})})
    assert ids([*TASKS, counting], where="perception type=counting") == "z"
    with pytest.raises(UsageError, match="labels are split, top, mid, source, language, perception type;"):
        ids([*TASKS, counting], where="kind=Boat")


def test_a_faulty_condition_is_told_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="no task of bench is left with mid=Boat: mid is Aircraft, Food"):
        ids(where="mid=Boat")
    with pytest.raises(UsageError, match="labels are split, top, mid, source, language"):
        ids(where="kind=Boat")


def test_order_0_is_the_benchmarks_and_others_are_permutations_of_the_seed() -> None:
    orders = [ids(order=order) for order in (0, 1, 2)]
    assert orders[0] == "abcdefgh"
    assert len({*orders, ids(order=1, seed=1)}) == 4
    assert all(sorted(order) == list("abcdefgh") for order in orders)
    assert ids(order=1) == orders[1]


def test_every_order_has_the_same_tasks_and_two_tasks_keep_their_places() -> None:
    assert sorted(ids(order=1, limit=4)) == list("abcd")
    whole = ids(order=3)
    assert ids(TASKS[2:], order=3) == "".join(name for name in whole if name not in "ab")


def test_run_json_has_the_hash_of_the_ids_in_order() -> None:
    one, other = (RunConfig(order=order, seed=7) for order in (0, 1))
    told = [describe_order(select_tasks(TASKS, "bench", config), config) for config in (one, other)]
    assert (told[0]["number"], told[0]["seed"]) == (0, None)
    assert (told[1]["number"], told[1]["seed"]) == (1, 7)
    assert told[0]["sha256"] != told[1]["sha256"]
