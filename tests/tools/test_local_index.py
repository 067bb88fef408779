"""Reverse image search in a folder: what is verified, what only looks alike, and the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from fieldmark.errors import UsageError
from fieldmark.tools.calling import call_tool
from fieldmark.tools.image_index.local_index import LocalIndex
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, jpeg, png, scene


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fieldmark" / "features"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four different scenes, and scene 0 a second time, scaled, under the same entity."""
    path = tmp_path / "index"
    path.mkdir()
    rows = [row(f"s{seed}.png", f"scene {seed}") for seed in range(4)] + [row("s0b.png", "scene 0")]
    for seed in range(4):
        (path / f"s{seed}.png").write_bytes(png(scene(seed)))
    (path / "s0b.png").write_bytes(png(scene(0).resize((240, 180))))
    (path / "index.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    return path


def row(file: str, entity: str) -> dict[str, str]:
    return {"file": file, "title": f"A photo of {entity}", "entity": entity, "source": "test"}


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image.crop((90, 60, 390, 300)),
        lambda image: image.rotate(15, expand=True),
        lambda image: image.resize((300, 225)),
        lambda image: ImageOps.grayscale(image),
    ],
    ids=["part", "turned", "smaller", "grey"],
)
def test_the_same_scene_is_verified_and_no_other(
    folder: Path, change: Callable[[Image.Image], Image.Image]
) -> None:
    hits = LocalIndex.open(folder).query(jpeg(change(scene(2)), quality=70), 5)
    assert hits[0].entity == "scene 2"
    assert hits[0].score >= 0.5
    assert all(hit.score < 0.5 for hit in hits[1:])


def test_a_stranger_only_looks_alike(folder: Path) -> None:
    hits = LocalIndex.open(folder).query(png(scene(99)), 5)
    assert all(hit.score < 0.5 and not hit.same_picture for hit in hits)


def test_the_same_picture_is_marked_also_when_encoded_again(folder: Path) -> None:
    hits = LocalIndex.open(folder).query(jpeg(scene(1), quality=40), 5)
    assert [hit.same_picture for hit in hits] == [True, False, False, False]


def test_a_match_says_where(folder: Path) -> None:
    page = Image.new("RGB", (1000, 800), "white")
    page.paste(scene(3), (500, 400))
    hit = LocalIndex.open(folder).query(png(page), 1)[0]
    assert hit.entity == "scene 3"
    assert hit.region is not None
    assert hit.region[0] > 480
    assert hit.region[1] > 380


def test_an_entity_is_one_hit(folder: Path) -> None:
    hits = LocalIndex.open(folder).query(png(scene(0)), 10)
    assert [hit.entity for hit in hits].count("scene 0") == 1
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]


def test_a_large_index_finds_through_votes(tmp_path: Path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    with (folder / "index.jsonl").open("w") as file:
        for seed in range(45):
            (folder / f"{seed}.png").write_bytes(png(scene(seed, (200, 160))))
            file.write(json.dumps(row(f"{seed}.png", str(seed))) + "\n")
    part = scene(41, (200, 160)).crop((20, 20, 170, 140))
    assert LocalIndex.open(folder).query(png(part), 3)[0].entity == "41"


def test_a_flat_query_finds_nothing_verified(folder: Path) -> None:
    hits = LocalIndex.open(folder).query(png(Image.new("RGB", (200, 200), "white")), 5)
    assert all(hit.score < 0.5 for hit in hits)


def test_a_corrupt_cache_is_rebuilt(folder: Path, cache: Path) -> None:
    LocalIndex.open(folder)
    files = sorted(cache.iterdir())
    files[0].write_bytes(b"garbage")
    files[1].write_bytes(files[1].read_bytes()[:500])
    assert LocalIndex.open(folder).query(png(scene(1)), 1)[0].entity == "scene 1"
    assert files[0].stat().st_size > 1000
    assert sorted(cache.iterdir()) == files


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{broken", "line 6: not JSON"),
        ('{"file": "s1.png", "title": "no entity"}', "line 6: entity"),
        ('{"file": "gone.png", "title": "t", "entity": "e"}', "line 6: gone.png: No such file"),
        ('{"file": "../secret.png", "title": "t", "entity": "e"}', "line 6: ../secret.png lies outside"),
        (
            '{"file": "index.jsonl", "title": "t", "entity": "e"}',
            "line 6: index.jsonl: not a readable picture",
        ),
    ],
)
def test_a_bad_row_is_named(folder: Path, line: str, says: str) -> None:
    with (folder / "index.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match=says):
        LocalIndex.open(folder)


def test_the_tool_searches_for_a_box(context_of: ContextOf, folder: Path) -> None:
    page = Image.new("RGB", (1000, 800), "white")
    page.paste(scene(3), (500, 400))
    context = context_of(page, index=LocalIndex.open(folder))
    box = {"x1": 500, "y1": 500, "x2": 980, "y2": 950, "space": "norm1000", "limit": "2"}
    result = call_tool(get_tool("reverse_image_search"), box, context, door="graph")
    assert "1. A photo of scene 3 (test): score" in result.text
    assert "the same picture" in result.text
    assert len(result.data["hits"]) == 2
    assert "entity" not in result.data["hits"][0]
