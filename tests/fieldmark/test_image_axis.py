"""`--image`: what stands in for the pictures of a benchmark, before anything looks at them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.config import ImageChoice, load_config
from fieldmark.errors import DataFault, UsageError
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.resampled import same_view
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Gold, Task
from fieldmark.trace import Picture
from tests.conftest import Fieldmark
from tests.model_server import ModelServer, Reply


class Stage:
    """Stages one noisy picture, turned by its EXIF: 1200 × 800 pixels upright."""

    def __init__(self, folder: Path) -> None:
        (folder / "blobs").mkdir()
        self.blobs = BlobStore(folder / "blobs")
        self.file = folder / "plane.jpg"
        noise = np.random.default_rng(1).integers(0, 255, (1200, 800, 3), np.uint8)
        exif = Image.Exif()
        exif[0x0112] = 6
        Image.fromarray(noise).save(self.file, exif=exif)

    def __call__(self, image: ImageChoice, image_side: int = 2048) -> StagedTask:
        task = Task(id="plane", question="Which?", image=self.file, gold=Gold(answer="Saab 340"))
        return stage(task, image_side, self.blobs, image=image)

    def pixels(self, picture: Picture) -> np.ndarray:
        opened = Image.open(io.BytesIO(self.blobs.get(picture.blob)))
        assert opened.size == (picture.width, picture.height)
        return np.asarray(opened.convert("RGB"))


@pytest.fixture
def staging(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_blank_is_grey_of_the_same_upright_size(staging: Stage) -> None:
    staged = staging("blank", image_side=600)
    assert (staged.image.width, staged.image.height) == (1200, 800)
    assert (staged.view.width, staged.view.height) == (600, 400)
    assert {*np.unique(staging.pixels(staged.image))} == {128}
    assert abs(staging.pixels(staged.view).astype(int) - 128).max() <= 1
    assert staged.public()["altered"] == {"how": "blank", "width": 1200, "height": 800}


def test_a_number_shrinks_the_original_itself(staging: Stage) -> None:
    """The view alone would leave the full resolution to crops."""
    staged, by_view = staging(300), staging("full", image_side=300)
    assert (staged.image.width, staged.image.height) == (300, 200)
    assert staged.view == staged.image
    assert (by_view.image.width, by_view.view.width) == (1200, 300)
    assert staged.source_sha256 == by_view.source_sha256
    assert staged.public()["altered"] == {"how": "shrunk", "width": 1200, "height": 800}


def test_a_picture_that_is_small_enough_stays_as_it_is(staging: Stage) -> None:
    assert staging(1200).public() == staging("full").public()
    assert "altered" not in staging(1200).public()


def test_what_becomes_too_narrow_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "strip.png"
    Image.new("RGB", (3000, 100)).save(file)
    task = Task(id="strip", question="Which?", image=file, gold=Gold(answer="x"))
    with pytest.raises(DataFault, match="with --image 300 the picture has 300x10 px"):
        stage(task, 2048, BlobStore(tmp_path / "blobs"), image=300)


def test_a_blank_picture_written_anew_is_known_again(staging: Stage) -> None:
    """The receipt of an agent that re-encodes what it sends."""
    view = staging.blobs.get(staging("blank").view.blob)
    buffer = io.BytesIO()
    Image.open(io.BytesIO(view)).resize((600, 400)).save(buffer, "JPEG", quality=70)
    assert same_view(view, buffer.getvalue())
    assert not same_view(view, staging.file.read_bytes())


@pytest.mark.parametrize("given", ["full", "blank", "1024", 1024])
def test_what_the_option_takes(given: object) -> None:
    image = load_config(None, {"image": given}).image
    assert image == (1024 if given in ("1024", 1024) else given)


@pytest.mark.parametrize("given", ["grey", "0", "63", "20000", "-5", "1024px", 3.5, True])
def test_what_it_does_not_take(given: object) -> None:
    with pytest.raises(UsageError, match=r"^image: .*full, blank, or the longest side"):
        load_config(None, {"image": given})


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_on_blank_pictures_says_so(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    """The receipt is of the grey picture, and exact; the table, the row and run.json say blank."""
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        done = fieldmark(
            "run", "--benchmark", tiny, "--agent", "closed_book", "--model", "scripted", "--base-url",
            server.url, "--out", "out", "--image", "blank", "--limit", 2,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert run.config()["picture"] == run.config()["config"]["image"] == "blank"
    assert [row["altered"]["how"] for row in run.tasks()] == ["blank", "blank"]
    assert [record.picture.delivered for record in run.episodes() if record.picture] == ["exact", "exact"]
    assert len({row["image"]["blob"] for row in run.tasks()}) == 1
    assert "image blank" in done.stdout
