"""Episodes from labelled images, and the files they are read from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.amigo.episode import ImageSet, LabelledImage, load_episodes, load_images
from fieldmark.evals.amigo.generating import GeneratorSettings, generate, pool, similarity, sizes
from fieldmark.evals.amigo.lexicon import base_lexicon


def image(name: str, **attributes: str) -> LabelledImage:
    return LabelledImage(id=name, image=f"{name}.png", attributes={k: [v] for k, v in attributes.items()})


A = image("a", neckline="v", closure="zip", pockets="none")
B = image("b", neckline="v", closure="zip", pockets="patch", slit="side")


def test_similarity_is_not_symmetric_and_what_is_absent_is_no_attribute() -> None:
    assert (similarity(A, B), similarity(B, A)) == (1.0, 0.5)


def test_the_pool_holds_the_most_similar_of_each_value() -> None:
    images = [A, B, *(image(f"v{n}", neckline="v") for n in range(4)), image("z", closure="zip")]
    assert pool(A, images, 0.5, per_value=2) == ["b", "v0", "z"]
    assert pool(A, images, 0.6, per_value=2) == ["b"]


def test_a_target_needs_a_pool_of_more_than_five() -> None:
    def made(others: int) -> int:
        images = [A, *(image(f"n{n}", neckline="v") for n in range(others))]
        known = ImageSet(Path(), {each.id: each for each in images}, base_lexicon())
        return len([each for each in generate(known, 0.5, GeneratorSettings()) if each.target == "a"])

    assert (made(5), made(6)) == (0, 1)


def test_galleries_are_seeded_bounded_and_measured() -> None:
    images = {f"n{n}": image(f"n{n}", neckline="v") for n in range(30)}
    known = ImageSet(Path(), images, base_lexicon())
    settings = GeneratorSettings(per_value=20, most=9)
    episodes = generate(known, 0.8, settings)
    assert episodes == generate(known, 0.8, settings)
    assert len({each.position for each in episodes}) > 3  # the target is not always the first
    found = sizes(0.8, episodes)
    assert (found.episodes, found.mean, found.least, found.most) == (30, 9, 9, 9)


IMAGES = [{"id": "a", "image": "a.png"}, {"id": "b", "image": "b.png"}]


@pytest.mark.parametrize(
    ("images", "episode", "message"),
    [
        ([*IMAGES, IMAGES[0]], {}, "line 3: the id 'a' is there twice"),
        ([{"id": "a", "image": "../a.png"}], {}, "must stay in the folder"),
        ([{"id": "a"}], {}, "line 1: image: Field required"),
        (IMAGES, {"gallery": ["a", "c"], "target": "a"}, "no image 'c'"),
        (IMAGES, {"gallery": ["a", "a"], "target": "a"}, "an image is twice in the gallery"),
        (IMAGES, {"gallery": ["a", "b"], "target": "c"}, "the target 'c' is not in the gallery"),
    ],
)
def test_a_faulty_file_is_refused_in_one_line(
    tmp_path: Path, images: list[dict[str, str]], episode: dict[str, object], message: str
) -> None:
    (tmp_path / "images.jsonl").write_text("\n".join(map(json.dumps, images)))
    (tmp_path / "episodes.jsonl").write_text(json.dumps({"id": "e", **episode}))
    with pytest.raises(UsageError, match=message) as refused:
        load_episodes(tmp_path / "episodes.jsonl", load_images(tmp_path))
    assert "\n" not in str(refused.value)
