"""The files of the Fine-R1 evaluation: which is which, both worlds, the order of options, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks import Benchmark, load_benchmark
from fieldmark.evals.benchmarks.fine_r1.files import PUBLISHED
from fieldmark.evals.benchmarks.fine_r1.items import shuffled
from tests.evals.benchmarks import fine_r1_data as made


def fine_r1(data: Path, said: dict[str, str] | None = None, seed: int = 0, **settings: Any) -> Benchmark:
    return load_benchmark("fine-r1", data, said, settings, seed)


def refusal(data: Path, said: dict[str, str] | None = None, **settings: Any) -> str:
    with pytest.raises(UsageError) as caught:
        fine_r1(data, said, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_record_becomes_a_task_of_its_dataset_and_split(tmp_path: Path) -> None:
    loaded = fine_r1(made.folder(tmp_path))
    ids = [task.id for task in loaded.tasks]
    assert ids == [
        "aircraft-seen-00001", "aircraft-unseen-00001", "flower-seen-00001", "flower-seen-00002",
        "flower-unseen-00001",
    ]  # fmt: skip
    task = loaded.tasks[2]
    assert (task.labels.top, task.labels.split) == ("flower", "seen")
    assert (task.gold.answer, task.gold.kind) == ("moonfern", "flower")
    assert task.image == tmp_path / "photos/2.png"


def test_the_closed_world_offers_the_options_and_the_open_one_does_not(tmp_path: Path) -> None:
    data = made.folder(tmp_path)
    closed, opened = fine_r1(data).tasks[0], fine_r1(data, world="open").tasks[0]
    assert closed.question.endswith("- Zorvex 9\n- Zorvex 9-200\n- Kestrel 4\n- Obrin A1")
    assert closed.gold.options == ["Zorvex 9", "Zorvex 9-200", "Kestrel 4", "Obrin A1"]
    assert (opened.question, opened.gold.options) == ("Which aircraft is this?", [])


def test_a_shuffle_follows_from_seed_and_id_alone(tmp_path: Path) -> None:
    options = ["a", "b", "c", "d"]
    assert shuffled(options, "car-seen-00001", 0) == ["c", "a", "b", "d"]  # on every machine
    orders = {tuple(shuffled(options, f"car-seen-{number:05d}", 0)) for number in range(400)}
    assert len(orders) == 24
    data = made.folder(tmp_path)
    one, other = (fine_r1(data, seed=seed, options="shuffled") for seed in (1, 2))
    assert [task.question for task in one.tasks] != [task.question for task in other.tasks]
    assert (one.data["options"], one.data["seed"], one.version) == ("shuffled", 1, other.version)


def test_what_is_there_is_counted_beside_what_was_published(tmp_path: Path) -> None:
    assert sum(PUBLISHED.values()) == 35_566
    told = fine_r1(made.folder(tmp_path))
    assert told.data["counts"]["flower_seen"] == [2, 4028]
    assert told.data["counts"]["car_seen"] == [0, 4811]
    assert told.data["gold_is_first"] == 5
    assert told.data["pass_by_accident"] == 2  # Zorvex 9 and moonfern
    assert "no file for bird_seen, bird_unseen, car_seen" in told.warnings[0]
    assert "flower_seen has 2 records, the released file 4028" in told.warnings


@pytest.mark.parametrize("name", ["cars-unseen", "unseen/stanford_cars", "Car_Unseen"])
def test_a_file_is_told_from_its_name(tmp_path: Path, name: str) -> None:
    made.write(tmp_path, name, [made.record("Which car?", ["Vexa 3 Coupe 2011", "Vexa 4 Coupe 2011"])])
    assert fine_r1(tmp_path).tasks[0].id == "car-unseen-00001"


def test_a_file_of_another_name_is_said(tmp_path: Path) -> None:
    made.write(tmp_path, "data7", [made.record("Which dog?", ["a", "b"])])
    assert "--map aircraft_seen=FILE" in refusal(tmp_path)
    loaded = fine_r1(tmp_path, {"dog_seen": "data7.jsonl"})
    assert loaded.tasks[0].id == "dog-seen-00001"
    assert loaded.data["mapping_said"] == ["dog_seen"]
    assert "outside the folder" in refusal(tmp_path, {"dog_seen": "../data7.jsonl"})
    assert "no such file" in refusal(tmp_path, {"dog_seen": "data8.jsonl"})
    assert "one of aircraft_seen" in refusal(tmp_path, {"cat_seen": "data7.jsonl"})


def test_two_files_for_one_place_are_named(tmp_path: Path) -> None:
    for name in ("dog_seen", "old/dogs_seen"):
        made.write(tmp_path, name, [made.record("Which dog?", ["a", "b"])])
    assert "dog_seen.jsonl, old/dogs_seen.jsonl could all be dog_seen" in refusal(tmp_path)


def test_pictures_may_lie_elsewhere_and_never_outside(tmp_path: Path) -> None:
    data = made.folder(tmp_path / "in", tmp_path / "disk")
    loaded = fine_r1(data, image_root=tmp_path / "disk")
    assert all(task.image.is_file() for task in loaded.tasks)
    for path in ("../secret.png", "/etc/passwd"):
        made.write(data, "dog_seen", [made.record("Which dog?", ["a", "b"], path)])
        assert "dog_seen.jsonl line 1: image" in refusal(data, image_root=tmp_path / "disk")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"image_path": "a.png", "question": "?", "options": ["a"]}, "line 1: no ground_truth"),
        (made.record("?", ["a", "b"], ground_truth="c"), "line 1: ground_truth is none of its options"),
        ({**made.record("?", ["a", "b"]), "options": "a, b"}, "line 1: options is no list of texts"),
    ],
)
def test_a_record_that_cannot_be_used_is_named(tmp_path: Path, record: dict[str, Any], why: str) -> None:
    made.write(tmp_path, "dog_seen", [record])
    assert why in refusal(tmp_path)


def test_its_settings_are_for_it_alone() -> None:
    with pytest.raises(UsageError, match="--world is for --benchmark fine-r1: leave it out"):
        load_benchmark("fieldmark-mini", settings={"world": "open"})
