"""Reverse image search in a folder: what is verified, what only looks alike, and what is given away."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageOps

import fieldmark
from fieldmark.errors import ToolError, UsageError
from fieldmark.tools.calling import call_tool
from fieldmark.tools.image_index import local_index
from fieldmark.tools.image_index.building import build
from fieldmark.tools.image_index.features import describe, describe_both
from fieldmark.tools.image_index.hashing import distance
from fieldmark.tools.image_index.local_index import LocalIndex
from fieldmark.tools.image_index.store import VERSION
from fieldmark.tools.registry import get_tool
from tests.tools.pictures import ContextOf, jpeg, png, scene, sky

MINI = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fieldmark" / "indexes"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four different scenes, and scene 0 a second time, scaled, under the same entity; built."""
    path = tmp_path_factory.mktemp("index")
    rows = [row(f"s{seed}.png", f"scene {seed}") for seed in range(4)] + [row("s0b.png", "scene 0")]
    for seed in range(4):
        (path / f"s{seed}.png").write_bytes(png(scene(seed)))
    (path / "s0b.png").write_bytes(png(scene(0).resize((240, 180))))
    (path / "index.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    build(path, processes=0)
    return path


@pytest.fixture
def index(shared: Path) -> LocalIndex:
    return LocalIndex.open(shared)


@pytest.fixture
def unbuilt(tmp_path: Path) -> Path:
    """A folder with an index.jsonl alone, as benchmarks have it."""
    (tmp_path / "unbuilt").mkdir()
    (tmp_path / "unbuilt" / "s1.png").write_bytes(png(scene(1, (200, 160))))
    (tmp_path / "unbuilt" / "index.jsonl").write_text(json.dumps(row("s1.png", "scene 1")) + "\n")
    return tmp_path / "unbuilt"


def row(file: str, entity: str) -> dict[str, str]:
    return {"file": file, "title": f"A photo of {entity}", "entity": entity, "source": "test"}


def covered(image: Image.Image) -> Image.Image:
    ImageDraw.Draw(image).ellipse((200, 40, 420, 220), fill="gold")
    return image


def in_a_page(image: Image.Image) -> Image.Image:
    page = Image.new("RGB", (1000, 800), "white")
    page.paste(image, (500, 400))
    return page


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image.crop((90, 60, 390, 300)),
        lambda image: image.rotate(15, expand=True),
        lambda image: image.rotate(90, expand=True),
        lambda image: image.resize((300, 225)),
        lambda image: ImageOps.grayscale(image),
        lambda image: image.filter(ImageFilter.GaussianBlur(2)),
        lambda image: ImageOps.mirror(image),
        lambda image: ImageOps.mirror(image).crop((90, 60, 390, 300)).rotate(10, expand=True),
        covered,
        in_a_page,
    ],
    ids="part turned quarter smaller grey blurred mirrored mirrored-part covered in-a-page".split(),
)
def test_the_same_scene_is_verified_and_no_other(
    index: LocalIndex, change: Callable[[Image.Image], Image.Image]
) -> None:
    hits = index.query(jpeg(change(scene(2)), quality=70), 5)
    assert hits[0].entity == "scene 2"
    assert hits[0].score >= 0.5
    assert all(hit.score < 0.5 for hit in hits[1:])


def test_a_turned_sky_is_verified_though_hardly_a_point_of_it_stands_out(tmp_path: Path) -> None:
    for seed in range(6):
        (tmp_path / f"sky {seed}.png").write_bytes(png(sky(seed)))
    build(tmp_path, processes=0)
    index = LocalIndex.open(tmp_path)
    for seed in range(6):
        hits = index.query(png(sky(seed).rotate(20, Image.Resampling.BICUBIC, expand=True)), 5)
        assert (hits[0].title, hits[0].score >= 0.5) == (f"sky {seed}", True)
        assert all(hit.score < 0.5 for hit in hits[1:])


def test_a_stranger_only_looks_alike(index: LocalIndex) -> None:
    hits = index.query(png(scene(99)), 5)
    assert all(hit.score < 0.5 and not hit.same_picture for hit in hits)


@pytest.mark.parametrize(
    "change",
    [lambda image: image, ImageOps.mirror, ImageOps.flip, lambda image: image.rotate(270, expand=True)],
    ids=["encoded again", "mirrored", "upside down", "quarter turn"],
)
def test_the_same_picture_is_marked(index: LocalIndex, change: Callable[[Image.Image], Image.Image]) -> None:
    hits = index.query(jpeg(change(scene(1)), quality=40), 5)
    assert [hit.same_picture for hit in hits] == [True, False, False, False]


def test_flat_pictures_are_never_the_same() -> None:
    white, grey = (png(Image.new("RGB", (200, 200), colour)) for colour in ("white", "grey"))
    assert distance(describe(white).hash, describe(grey).hash) == 256


def test_the_mirror_image_is_described_without_its_pixels() -> None:
    """Permuted descriptors are those that SIFT finds in the mirrored picture."""
    _, derived = describe_both(png(scene(5)))
    true = describe(png(ImageOps.mirror(scene(5))))
    apart = np.linalg.norm(derived.points[:, None] - true.points[None], axis=2)
    near = apart.min(axis=1) < 1.5
    likeness = (derived.descriptors[near] @ true.descriptors.T).max(axis=1)
    assert near.mean() > 0.9
    assert np.median(likeness) > 0.97
    assert derived.look @ true.look > 0.999


def test_a_box_is_found_in_a_scene_though_chance_votes_speak_for_its_mirror_image(tmp_path: Path) -> None:
    for seed in range(4):
        (tmp_path / f"scene {seed}.png").write_bytes(png(scene(seed)))
    shutil.copy(MINI / "images/m01.png", tmp_path / "on a table.png")
    build(tmp_path, processes=0)
    hits = LocalIndex.open(tmp_path).query((MINI / "index/x06.png").read_bytes(), 5)
    assert hits[0].title == "on a table"
    assert hits[0].score >= 0.5


def test_a_match_says_where(index: LocalIndex) -> None:
    hit = index.query(png(in_a_page(scene(3))), 1)[0]
    assert hit.entity == "scene 3"
    assert hit.region is not None
    assert hit.region[0] > 480
    assert hit.region[1] > 380


def test_a_mirrored_match_says_where_in_the_query(index: LocalIndex) -> None:
    hit = index.query(png(in_a_page(ImageOps.mirror(scene(3)))), 1)[0]
    assert hit.entity == "scene 3"
    assert hit.region is not None
    assert hit.region[0] > 480


def test_an_entity_is_one_hit(index: LocalIndex) -> None:
    hits = index.query(png(scene(0)), 10)
    assert [hit.entity for hit in hits].count("scene 0") == 1
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]


def test_near_copies_of_one_thing_take_one_place_of_the_best(tmp_path: Path) -> None:
    """Three pictures of one entity would else be three votes for it, and leave no place for another."""
    pictures = {
        "a.png": scene(0),
        "b.png": scene(0).resize((600, 450)),
        "c.png": scene(0).crop((5, 5, 395, 295)),
    }
    for name, picture in {**pictures, "d.png": scene(1)}.items():
        (tmp_path / name).write_bytes(png(picture))
    rows = [row(name, "scene 0") for name in pictures] + [row("d.png", "scene 1")]
    (tmp_path / "index.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    build(tmp_path, processes=0)
    hits = LocalIndex.open(tmp_path).query(jpeg(scene(0)), 2)
    assert [hit.entity for hit in hits] == ["scene 0", "scene 1"]


def test_a_flat_query_finds_nothing_verified(index: LocalIndex) -> None:
    hits = index.query(png(Image.new("RGB", (200, 200), "white")), 5)
    assert all(hit.score < 0.5 for hit in hits)


def test_a_large_index_finds_a_mirrored_part_through_words(tmp_path: Path) -> None:
    """More pictures than are checked by geometry; half of them are of one entity, which may not crowd out."""
    folder = tmp_path / "large"
    for seed in range(46):
        entity = folder / ("crowd" if seed % 2 else f"own {seed}")
        entity.mkdir(parents=True, exist_ok=True)
        (entity / f"{seed}.png").write_bytes(png(scene(seed, (200, 160))))
    build(folder)
    index = LocalIndex.open(folder)
    part = ImageOps.mirror(scene(42, (200, 160))).crop((20, 20, 180, 140))
    hits = index.query(png(part), 20)
    assert hits[0].entity == "own 42"
    assert hits[0].score >= 0.5
    assert len({hit.entity for hit in hits}) == len(hits) > 5


def test_a_hit_leads_to_its_picture_without_metadata(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "Where I live"
    photo = scene(1, (1600, 1200))
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "mine.jpg").write_bytes(jpeg(photo, exif=exif))
    build(tmp_path / "pictures", processes=0)
    index = LocalIndex.open(tmp_path / "pictures")
    public = index.query(jpeg(photo), 1)[0].public()
    assert public["thumbnail"] == ""
    data = index.picture(public["image"])
    shown = Image.open(io.BytesIO(data))
    assert (shown.format, shown.size) == ("JPEG", (1024, 768))
    assert not shown.getexif()
    assert b"Where I live" not in data


@pytest.mark.parametrize("reference", ["index:99", "index:-1", "index:", "1", "s1.png", "index:1e0", ""])
def test_only_pictures_of_the_index_are_given(index: LocalIndex, reference: str) -> None:
    with pytest.raises(ToolError, match="no picture") as raised:
        index.picture(reference)
    assert raised.value.kind == "not_found"


def test_a_picture_whose_file_is_gone_is_not_found(unbuilt: Path) -> None:
    index = LocalIndex.open(unbuilt)
    hit = index.query(png(scene(1)), 1)[0]
    (unbuilt / "s1.png").unlink()
    with pytest.raises(ToolError, match="can no longer be read") as raised:
        index.picture(hit.image)
    assert raised.value.kind == "not_found"


def test_what_another_version_built_in_the_cache_is_left_alone(
    unbuilt: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LocalIndex.open(unbuilt)
    monkeypatch.setattr(local_index, "VERSION", VERSION + 1)
    assert len(LocalIndex.open(unbuilt)) == 1
    assert len(list(cache.iterdir())) == 2


def test_a_folder_that_was_never_built_is_searched_from_the_cache(unbuilt: Path, cache: Path) -> None:
    assert LocalIndex.open(unbuilt).query(png(scene(1, (200, 160))), 1)[0].same_picture
    assert sorted(path.name for path in unbuilt.iterdir()) == ["index.jsonl", "s1.png"]
    assert len(list(cache.iterdir())) == 1
    (unbuilt / "s2.png").write_bytes(png(scene(2, (200, 160))))
    with (unbuilt / "index.jsonl").open("a") as file:
        file.write(json.dumps(row("s2.png", "scene 2")) + "\n")
    assert LocalIndex.open(unbuilt).query(png(scene(2, (200, 160))), 1)[0].entity == "scene 2"


def test_an_unreadable_picture_of_a_benchmark_stops_it(unbuilt: Path) -> None:
    with (unbuilt / "index.jsonl").open("a") as file:
        file.write('{"file": "gone.png", "title": "t", "entity": "e"}\n')
    with pytest.raises(UsageError, match=r"index.jsonl: gone.png: No such file"):
        LocalIndex.open(unbuilt)


def test_a_folder_without_an_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run `fieldmark index build"):
        LocalIndex.open(tmp_path)


def test_a_damaged_index_says_so(shared: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(shared, tmp_path / "copy")
    looks = next((folder / ".fieldmark-index").glob("arrays-*/looks.npy"))
    looks.write_bytes(looks.read_bytes()[:-400])
    with pytest.raises(UsageError, match=r"damaged .* build again"):
        LocalIndex.open(folder)
    (folder / ".fieldmark-index" / "pictures.sqlite").write_bytes(b"garbage" * 100)
    with pytest.raises(UsageError, match="build"):
        LocalIndex.open(folder)


def test_the_tool_searches_for_a_box(context_of: ContextOf, index: LocalIndex) -> None:
    context = context_of(in_a_page(scene(3)), index=index)
    box = {"x1": 500, "y1": 500, "x2": 980, "y2": 950, "space": "norm1000", "limit": "2"}
    result = call_tool(get_tool("reverse_image_search"), box, context, door="graph")
    assert "1. A photo of scene 3 (test): score" in result.text
    assert "the same picture" in result.text
    assert len(result.data["hits"]) == 2
    assert "entity" not in result.data["hits"][0]
