"""The network on real photos: its vectors, its cache, and class names that fit its scores."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import fieldmark
from fieldmark.tools.vision import lite0
from fieldmark.tools.vision.classes import class_names, classify
from fieldmark.tools.vision.extra import weights_file
from fieldmark.tools.vision.graph import build
from fieldmark.tools.vision.weights import read_weights

PHOTOS = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no session from an earlier test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lite0._session.cache_clear()
    return tmp_path / "fieldmark" / "vision"


def photo(name: str) -> NDArray[np.uint8]:
    return np.asarray(Image.open(PHOTOS / name).convert("RGB"))


@pytest.mark.parametrize(
    ("name", "expected", "group"),
    [
        ("images/m07.png", "espresso", "drink"),
        ("index/x14.jpg", "fox squirrel", "mammal"),
        ("index/x19.jpg", "orange", "fruit"),
        ("images/m14.jpg", "mountain", "landscape"),
    ],
)
def test_names_fit_scores_on_real_photos(name: str, expected: str, group: str) -> None:
    reply = classify((PHOTOS / name).read_bytes(), 5)
    assert (reply["found"], reply["classes"][0]["name"]) == (True, expected)
    assert reply["groups"][0]["group"] == group
    assert len(reply["classes"]) == 5


def test_where_no_class_fits_nothing_is_found() -> None:
    assert classify((PHOTOS / "images/m15.jpg").read_bytes(), 1)["found"] is False  # a painting


def test_there_are_a_thousand_different_names_each_with_a_group() -> None:
    assert (
        len({name.casefold() for name, _ in class_names()}) == lite0.class_scores(photo("index/x19.jpg")).size
    )
    assert all(group for _, group in class_names())
    assert [class_names()[place] for place in (0, 153, 207, 291, 404, 963, 999)] == [
        ("tench", "fish"),
        ("Maltese dog", "dog"),
        ("Golden Retriever", "dog"),
        ("lion", "wild cat"),
        ("airliner", "aircraft"),
        ("pizza", "food"),
        ("toilet paper", "object"),
    ]


def test_scores_add_up_and_vectors_have_unit_length_and_know_a_second_view() -> None:
    one, again, other = (
        lite0.embed(photo(name)) for name in ("images/m17.jpg", "index/x01.jpg", "index/x19.jpg")
    )
    assert one.shape == (1280,)
    assert float(np.linalg.norm(one)) == pytest.approx(1, abs=1e-5)
    assert float(one @ again) > 0.7 > float(one @ other)
    assert float(lite0.class_scores(photo("index/x19.jpg")).sum()) == pytest.approx(1, abs=1e-4)


def test_a_picture_of_one_pixel_has_scores_too() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (1, 1), "red").save(buffer, "PNG")
    assert len(classify(buffer.getvalue(), 3)["classes"]) == 3


def test_the_model_is_built_once_and_a_damaged_file_is_built_anew(cache: Path) -> None:
    pixels = photo("index/x19.jpg")
    first = lite0.class_scores(pixels)
    [file] = cache.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        file.write_bytes(damaged)
        lite0._session.cache_clear()
        assert np.allclose(lite0.class_scores(pixels), first)
        assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_no_fault(cache: Path) -> None:
    cache.parent.write_text("a file where a folder should be")
    assert lite0.class_scores(photo("index/x19.jpg")).argmax() == 950


def test_the_graph_needs_the_right_weights() -> None:
    path = weights_file()
    assert path is not None
    weights = read_weights(path)
    del weights["_conv_head.weight"]
    with pytest.raises(KeyError, match="_conv_head"):
        build(weights)
