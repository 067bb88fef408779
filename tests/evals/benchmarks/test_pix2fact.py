"""Pix2Fact from data of the user's own: its two shapes, categories, boxes, what is refused and recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks import Benchmark, load_benchmark
from fieldmark.evals.benchmarks.pix2fact import names
from fieldmark.evals.benchmarks.pix2fact.regions import OddRegion, regions_of
from tests.conftest import Fieldmark
from tests.evals.benchmarks import pix2fact_data
from tests.evals.benchmarks.pix2fact_data import ITEMS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fieldmark" / "data"


def pix2fact(data: Path, **said: str) -> Benchmark:
    return load_benchmark("pix2fact", data, said)


def refusal(data: Path, **said: str) -> str:
    with pytest.raises(UsageError) as caught:
        pix2fact(data, **said)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_authors_csv_has_bracketed_columns_and_pictures_beside_it(tmp_path: Path) -> None:
    loaded = pix2fact(pix2fact_data.table(tmp_path))
    assert [(task.id, task.gold.answer) for task in loaded.tasks] == [("7", "Orla Venn"), ("8", "1931")]
    assert all(task.image.is_file() for task in loaded.tasks)
    assert loaded.data["mapping"]["question"] == "[Final]question"
    assert [task.id for task in pix2fact(tmp_path).tasks] == ["7", "8"]


def test_rows_without_an_index_are_numbered(tmp_path: Path) -> None:
    rows = [
        {"local_image_path": f"images/{n}.jpg", "[Final]question": "What?", "[Final]answer": "That"}
        for n in (0, 1)
    ]
    assert [task.id for task in pix2fact(pix2fact_data.table(tmp_path, rows)).tasks] == ["1", "2"]


@pytest.mark.parametrize("struct", [True, False], ids=["bytes and path", "bytes"])
def test_pictures_inside_a_parquet_are_written_once_as_they_are(
    tmp_path: Path, cache: Path, struct: bool
) -> None:
    path = pix2fact_data.parquet(tmp_path, struct=struct)
    first = pix2fact(path)
    assert [task.image.read_bytes() for task in first.tasks] == [pix2fact_data.picture(n) for n in (0, 1)]
    assert cache in first.tasks[0].image.parents
    times = [task.image.stat().st_mtime_ns for task in first.tasks]
    again = pix2fact(path)
    assert [task.image.stat().st_mtime_ns for task in again.tasks] == times
    assert again.version == first.version


def test_a_written_picture_that_was_cut_is_written_anew(tmp_path: Path) -> None:
    path = pix2fact_data.parquet(tmp_path)
    picture = pix2fact(path).tasks[0].image
    picture.write_bytes(b"half")
    assert pix2fact(path).tasks[0].image.read_bytes() == pix2fact_data.picture(0)


def test_scene_and_types_become_labels_and_facets(tmp_path: Path) -> None:
    loaded = pix2fact(pix2fact_data.parquet(tmp_path))
    assert [task.labels.top for task in loaded.tasks] == ["Markets & Vendors", "City Skylines"]
    assert loaded.tasks[1].labels.facets == {
        "knowledge domain": "Culture, Entertainment & History",
        "perception type": "Object Counting",
        "logic type": "Parametric Query",
    }
    assert loaded.tasks[0].gold.evidence == ITEMS[0]["evidence"]
    assert loaded.warnings == []


def test_a_category_that_the_paper_has_not_is_pointed_out(tmp_path: Path) -> None:
    items = [{**ITEMS[0], "image_category": "Beaches"}]
    loaded = pix2fact(pix2fact_data.parquet(tmp_path, items=items))
    assert loaded.tasks[0].labels.top == "Beaches"
    assert loaded.warnings == ["scene: not one of Pix2Fact's: Beaches"]


def test_each_way_of_sorting_the_questions_has_a_thousand() -> None:
    for categories in (names.SCENES, names.KNOWLEDGE, names.PERCEPTION, names.LOGIC):
        assert sum(categories.values()) == 1000


def test_bounding_boxes_become_regions_in_pixels(tmp_path: Path) -> None:
    loaded = pix2fact(pix2fact_data.parquet(tmp_path))
    assert loaded.tasks[0].gold.regions == [(1200, 900, 1300, 960)]
    assert loaded.tasks[1].gold.regions == [(10, 20, 110, 220), (1500, 20, 1590, 220)]


@pytest.mark.parametrize(
    "value",
    [
        [10, 20, 30, 40],
        "[10, 20, 30, 40]",
        [["10", "20", "30", "40"]],
        {"x1": 10, "y1": 20, "x2": 30, "y2": 40},
        '{"x_min": 10, "y_min": 20, "x_max": 30, "y_max": 40}',
    ],
)
def test_usual_forms_of_a_box(value: Any) -> None:
    assert regions_of(value, (100, 100)) == [(10, 20, 30, 40)]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([0.1, 0.2, 0.3, 0.4], "fractions"),
        ([10, 20, 5, 8], "is it x, y, width, height?"),
        ([10, 20, 130, 40], "leaves its picture of 100x100 px"),
        ([10, 20, 30], "is no [x0, y0, x1, y1] in pixels"),
        ("left of the gate", "is no [x0, y0, x1, y1] in pixels"),
        ([10, 20, True, 40], "is no"),
        ({"x": 10, "y": 20, "w": 30, "h": 40}, "is no"),
    ],
)
def test_odd_forms_of_a_box_are_refused(value: Any, why: str) -> None:
    with pytest.raises(OddRegion) as caught:
        regions_of(value, (100, 100))
    assert why in str(caught.value)


def test_an_odd_box_is_refused_in_one_line_that_names_its_item(tmp_path: Path) -> None:
    path = pix2fact_data.parquet(tmp_path, items=[{**ITEMS[0], "bounding_box": [0.1, 0.1, 0.2, 0.2]}])
    assert "row 1: bounding box [0.1, 0.1, 0.2, 0.2] is in fractions of the sides" in refusal(path)
    assert "(id '7')" in refusal(path)


def test_boxes_that_may_be_thousandths_are_doubted(tmp_path: Path) -> None:
    small = [{**item, "bounding_box": [100, 200, 300, 400]} for item in ITEMS]
    (doubt,) = pix2fact(pix2fact_data.parquet(tmp_path, items=small)).warnings
    assert "thousandths" in doubt


def test_keys_that_cannot_be_told_can_be_said(tmp_path: Path) -> None:
    rows = [{"local_image_path": "images/0.jpg", "ask": "What?", "truth": "That"}]
    path = pix2fact_data.table(tmp_path, rows)
    assert "no key could be mapped to question, answer" in refusal(path)
    assert pix2fact(path, question="ask", answer="truth").tasks[0].gold.answer == "That"


def test_loading_decodes_no_picture(tmp_path: Path) -> None:
    """One that breaks off behind its header loads: a run's preflight will refuse it."""
    path = pix2fact_data.table(tmp_path)
    (tmp_path / "images" / "0.jpg").write_bytes(pix2fact_data.picture(0)[:700])
    assert len(pix2fact(path).tasks) == 2


def test_the_command_counts_by_scene_and_prints_no_gold(tmp_path: Path, fieldmark: Fieldmark) -> None:
    done = fieldmark("data", "check", "--benchmark", "pix2fact", "--data", pix2fact_data.parquet(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "· Markets & Vendors ·" in done.stdout
    assert "sound" in done.stdout
    assert not [item for item in ITEMS if item["answer"] in done.stdout]
    told = json.dumps(pix2fact(tmp_path / "pix2fact.parquet").data)
    assert not [item for item in ITEMS if item["evidence"][0] in told]
