"""The drawn garments: what their labels say can be told from the pixels, by simple code."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldmark.evals.amigo.episode import ImageSet, load_episodes, load_images
from fieldmark.evals.amigo.generating import TAUS, sizes
from fieldmark.evals.benchmarks.amigo_garments.compose import compose
from fieldmark.tools.pictures.garments import read_garment

FOLDER = Path(__file__).parents[3] / "evals/benchmarks/amigo_garments"


@pytest.fixture(scope="module")
def garments() -> ImageSet:
    return load_images(FOLDER)


def test_there_are_a_hundred_small_pictures_of_one_size(garments: ImageSet) -> None:
    files = [FOLDER / each.image for each in garments.images.values()]
    assert len(files) == 100
    assert sum(file.stat().st_size for file in files) < 1_500_000
    assert {Image.open(file).size for file in files} == {(256, 320)}


def test_every_attribute_can_be_read_off_every_picture(garments: ImageSet) -> None:
    wrong = []
    for each in garments.images.values():
        said = read_garment((FOLDER / each.image).read_bytes()) or {}
        told = {kind: value for kind, [value] in each.attributes.items() if kind in garments.lexicon.types}
        if said != told:
            wrong.append((each.id, said, told))
    assert wrong == []


def test_of_another_picture_nothing_is_read() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (256, 320), "red").save(buffer, "PNG")
    assert read_garment(buffer.getvalue()) is None


def test_no_two_are_alike_in_what_may_be_asked(garments: ImageSet) -> None:
    asked = Counter(
        tuple((k, *v) for k, v in each.attributes.items() if k in garments.lexicon.types)
        for each in garments.images.values()
    )
    assert max(asked.values()) == 1


def test_every_label_has_words(garments: ImageSet) -> None:
    lexicon = garments.lexicon
    assert lexicon.noun == "garment"
    for each in garments.images.values():
        for kind, values in each.attributes.items():
            assert kind in {**lexicon.types, **lexicon.prohibited}
            assert kind in lexicon.prohibited or {*values} <= {*lexicon.types[kind].values, "none"}


def test_the_script_makes_what_is_committed(garments: ImageSet, tmp_path: Path) -> None:
    (tmp_path / "lexicon.toml").write_text((FOLDER / "lexicon.toml").read_text())
    compose(tmp_path)
    for name in ("images.jsonl", "episodes.jsonl"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    for each in list(garments.images.values())[::20]:
        drawn, kept = (np.asarray(Image.open(at / each.image).convert("RGB")) for at in (tmp_path, FOLDER))
        assert np.array_equal(drawn, kept)


def test_there_are_episodes_at_every_threshold(garments: ImageSet) -> None:
    episodes = load_episodes(FOLDER / "episodes.jsonl", garments)
    for tau in TAUS:
        found = sizes(tau, episodes)
        assert found.episodes >= 50
        assert found.least is not None
        assert found.least > 6
