"""A picture made to fit a server's limits: encoded anew, shrunk by steps, its true type, what is recorded."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.errors import DataFault
from fieldmark.staging import StagedTask, stage
from fieldmark.task import Gold, Task
from fieldmark.tools.pictures.encoding import Meta
from fieldmark.tools.pictures.fitting import Room, fit


def noise(width: int, height: int, kind: str = "PNG") -> bytes:
    """What no encoder makes small."""
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def staged(folder: Path, data: bytes, room: tuple[int, float], name: str = "p.png") -> StagedTask:
    (folder / "blobs").mkdir()
    (folder / name).write_bytes(data)
    task = Task(id="t", question="?", image=folder / name, gold=Gold(answer="x"))
    return stage(task, 16384, BlobStore(folder / "blobs"), room=room)


def test_what_fits_is_left_as_it_is() -> None:
    data = noise(40, 30)
    assert fit(data, Meta("image/png", 40, 30), Room(len(data), 1200)) is None


def test_encoding_anew_is_tried_before_shrinking() -> None:
    data = noise(400, 300)
    fitted = fit(data, Meta("image/png", 400, 300), Room(len(data) - 1, 10**6))
    assert fitted is not None
    assert (fitted.steps, fitted.meta) == (0, Meta("image/jpeg", 400, 300))


def test_pixels_are_brought_down_by_steps_of_nine_tenths() -> None:
    fitted = fit(noise(400, 300), Meta("image/png", 400, 300), Room(10**7, 80_000))
    assert fitted is not None
    assert (fitted.steps, fitted.meta) == (2, Meta("image/jpeg", 324, 243))


def test_bytes_are_brought_down_and_the_aspect_is_kept() -> None:
    fitted = fit(noise(800, 300), Meta("image/png", 800, 300), Room(60_000, 10**9))
    assert fitted is not None
    assert len(fitted.data) <= 60_000
    assert fitted.steps > 2
    assert fitted.meta.width / fitted.meta.height == pytest.approx(800 / 300, rel=0.02)
    with Image.open(io.BytesIO(fitted.data)) as image:
        assert (image.format, image.size) == ("JPEG", (fitted.meta.width, fitted.meta.height))


def test_what_can_never_fit_is_refused() -> None:
    with pytest.raises(DataFault, match="no size of the picture fits into 10 bytes"):
        fit(noise(40, 30), Meta("image/png", 40, 30), Room(10, 10**9))


def test_a_run_records_what_the_view_was(tmp_path: Path) -> None:
    data = noise(400, 300)
    row = staged(tmp_path, data, (10**7, 0.08)).public()
    original = {"media_type": "image/png", "width": 400, "height": 300}
    assert row["fitted"] == {"bytes": len(data), **original, "steps": 2}
    assert (row["view"]["width"], row["view"]["media_type"]) == (324, "image/jpeg")
    assert {key: row["image"][key] for key in original} == original  # crops come from here


def test_a_picture_that_fits_has_no_such_record(tmp_path: Path) -> None:
    assert "fitted" not in staged(tmp_path, noise(400, 300), (10**7, 36)).public()


@pytest.mark.parametrize(("kind", "media_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_the_type_is_that_of_the_bytes_whatever_the_file_is_called(
    tmp_path: Path, kind: str, media_type: str
) -> None:
    view = staged(tmp_path, noise(400, 300, kind), (10**7, 36), "called.webp").view
    assert view.media_type == media_type
