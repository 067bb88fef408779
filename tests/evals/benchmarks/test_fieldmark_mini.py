"""The bundled benchmark: what it promises, and that it proves its grader."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldmark.evals.benchmarks import Benchmark, load_benchmark
from fieldmark.evals.benchmarks.fieldmark_mini import compose
from fieldmark.evals.judges.exact import ExactJudge

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def mini() -> Benchmark:
    return load_benchmark("fieldmark-mini")


@pytest.fixture(scope="module")
def folder(mini: Benchmark) -> Path:
    assert mini.index is not None
    return mini.index.parent


def table(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_it_has_what_the_issue_asks_for(mini: Benchmark) -> None:
    tops = Counter(task.labels.top for task in mini.tasks)
    assert tops == {"Product": 7, "Nature": 7, "Culture": 9, "Transport": 12}
    assert sum(not task.composed for task in mini.tasks) == 26
    assert sum(task.labels.language == "zh" for task in mini.tasks) == 6
    assert mini.registry is not None
    assert "smoke benchmark" in mini.description
    assert mini.warnings == []


def test_composed_tasks_say_so(mini: Benchmark) -> None:
    for task in mini.tasks:
        assert task.composed == (task.labels.split == "composed") == (task.labels.source == "composed")


def test_every_gold_names_its_source(mini: Benchmark) -> None:
    assert [task.id for task in mini.tasks if not task.gold.source] == []


def test_names_of_pictures_tell_nothing(mini: Benchmark) -> None:
    assert all(task.image.stem[0] == "m" and task.image.stem[1:].isdigit() for task in mini.tasks)


def test_every_picture_opens_and_is_credited(mini: Benchmark, folder: Path) -> None:
    credits = {row["file"]: row for row in table(folder / "CREDITS.tsv", "\t")}
    pictures = [*folder.glob("images/*"), *folder.glob("index/x*")]
    assert {str(path.relative_to(folder)) for path in pictures} == set(credits)
    assert {task.image for task in mini.tasks} == {path.resolve() for path in folder.glob("images/*")}
    for name, row in credits.items():
        with Image.open(folder / name) as picture:
            picture.load()
            assert row["size_px"] == f"{picture.width}x{picture.height}"
        assert all(row[field] for field in ("original", "author", "page", "licence"))


def test_it_is_small(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 12 * MEGABYTE


def test_index_rows_and_files_agree(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "index" / "index.jsonl").read_text().splitlines()]
    assert {row["file"] for row in rows} == {p.name for p in folder.glob("index/x*")}
    assert all(set(row) == {"file", "title", "page", "source", "entity", "license"} for row in rows)
    assert all(all(row.values()) for row in rows)


def test_the_registry_knows_every_aircraft_that_is_asked_for(mini: Benchmark) -> None:
    assert mini.registry is not None
    rows = {row["registration"]: row for row in table(mini.registry, ",")}
    asked = [scene.plane.registration for scene in compose.SCENES if scene.plane.registration]
    assert len(asked) == sum(task.composed for task in mini.tasks)
    assert set(asked) <= set(rows)
    assert rows["N8710M"]["type"] == "B38M"


@pytest.mark.parametrize("scene", compose.SCENES[7:8], ids=lambda scene: scene.file)
def test_compose_is_deterministic(scene: compose.Scene, folder: Path) -> None:
    once, again = np.asarray(compose.render(scene), float), np.asarray(compose.render(scene), float)
    assert np.array_equal(once, again)
    with Image.open(folder / scene.file) as committed:
        assert committed.size == scene.size
        assert np.abs(np.asarray(committed, float) - once).mean() < 4  # JPEG, and other versions of Pillow


def test_the_grader_accepts_gold_and_all_its_names(mini: Benchmark) -> None:
    judge = ExactJudge()
    for task in mini.tasks:
        for answer in [task.gold.answer, *task.gold.aliases, *task.gold.finer]:
            assert judge.judge(task.question, task.gold, answer).label == "correct", (task.id, answer)


def test_the_grader_refuses_broader_names_and_the_gold_of_others(mini: Benchmark) -> None:
    judge = ExactJudge()
    for task in mini.tasks:
        others = {other.gold.answer for other in mini.tasks} - {task.gold.answer}
        for answer in [*task.gold.broader, *others, "no idea", ""]:
            assert judge.judge(task.question, task.gold, answer).label != "correct", (task.id, answer)
