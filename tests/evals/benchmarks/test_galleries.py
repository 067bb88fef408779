"""Galleries as benchmarks: the bundled one, and a folder of the user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.commands.sandbox import _gold_phrases
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks import Benchmark, load_benchmark
from fieldmark.evals.judges import get_judge
from fieldmark.games.referees import make_games
from fieldmark.sandbox.goldscan import Phrases
from fieldmark.staging import stage

GARMENTS = Path(__file__).parents[3] / "evals/benchmarks/amigo_garments"


@pytest.fixture(scope="module")
def garments() -> Benchmark:
    return load_benchmark("amigo-garments")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Three squares and one game over them."""
    rows = []
    for name, kind in (("a", "v"), ("b", "round"), ("c", "square")):
        Image.new("RGB", (60, 80), (name == "a" and "red") or "blue").save(tmp_path / f"{name}.png")
        rows.append({"id": name, "image": f"{name}.png", "attributes": {"neckline": [kind]}})
    (tmp_path / "images.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    game = {"id": "g", "tau": 0.5, "gallery": ["c", "a", "b"], "target": "a"}
    (tmp_path / "episodes.jsonl").write_text(json.dumps(game) + "\n")
    return tmp_path


def test_each_episode_is_a_task_whose_gold_is_a_place(garments: Benchmark) -> None:
    task = garments.tasks[0]
    assert load_benchmark("amigo_garments").version == garments.version
    assert len(garments.tasks) == 442
    assert len(task.gallery) == 8
    assert task.labels.facets == {"tau": "0.3"}
    assert [get_judge("amigo").judge("", task.gold, f"image {n}").label for n in (8, 1)] == [
        "correct",
        "incorrect",
    ]


def test_a_folder_of_ones_own(own: Path) -> None:
    [task] = load_benchmark("amigo", own).tasks
    assert [path.name for path in task.gallery] == ["c.png", "a.png", "b.png"]
    assert task.gold.answer == "image 2"


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("episodes.jsonl", "", "holds no episode"),
        ("episodes.jsonl", '{"id": "g", "gallery": ["a", "x"], "target": "a"}', "no image 'x'"),
        ("images.jsonl", "{", "no JSON object"),
    ],
)
def test_a_faulty_folder_is_told_in_one_line(own: Path, file: str, text: str, told: str) -> None:
    (own / file).write_text(text)
    with pytest.raises(UsageError, match=told) as refused:
        load_benchmark("amigo", own)
    assert "\n" not in str(refused.value)


def test_the_sheet_and_each_picture_are_stored_once_and_tell_no_target(own: Path, tmp_path: Path) -> None:
    shutil.copy(own / "b.png", own / "c.png")  # the same picture twice
    blobs = BlobStore(tmp_path / "blobs")
    blobs.folder.mkdir()
    [task] = load_benchmark("amigo", own).tasks
    staged = stage(task, 2048, blobs)
    assert len({each.blob for each in staged.gallery}) == 2
    assert (staged.image.width, staged.image.height) > (60, 80)
    assert "image 2" not in json.dumps(staged.public())
    assert [each["width"] for each in staged.public()["gallery"]] == [60, 60, 60]


def test_a_blank_run_shows_grey_pictures_and_a_grey_sheet(own: Path, tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    blobs.folder.mkdir()
    [task] = load_benchmark("amigo", own).tasks
    assert len({each.blob for each in stage(task, 2048, blobs, image="blank").gallery}) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"agent": "react"}, "plays no games"),
        ({"game": {"oracle": "vlm"}}, "--referee-model"),
        ({"game": {"model": "m"}}, "referees nothing"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    garments: Benchmark, options: dict[str, object], told: str
) -> None:
    config = RunConfig.model_validate({"benchmark": "amigo-garments", **options})
    with pytest.raises(UsageError, match=told):
        make_games(config, garments.galleries)


def test_without_options_the_player_and_its_judge_are_taken(garments: Benchmark) -> None:
    config = RunConfig(benchmark="amigo_garments")
    assert (config.agent, config.judge.name) == ("amigo_player", "amigo")
    games = make_games(config, garments.galleries)
    assert games
    assert games.described()["referees"]["oracle"] == "labels"


def test_the_search_of_the_image_would_find_lists_labels_and_pictures() -> None:
    search = Phrases(_gold_phrases())
    for name in ("episodes.jsonl", "images.jsonl"):
        assert search.within((GARMENTS / name).read_text(encoding="utf-8").splitlines()[0])
    assert search.within("opt/fieldmark/evals/benchmarks/amigo_garments/images/g001.png")
    assert not search.within("Picture 7: neckline: v; hemline: ruffled. My guess of your favorite dress: #7")
