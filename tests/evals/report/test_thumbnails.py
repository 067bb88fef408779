"""Pictures on a page: from the run's own blobs, small, and none where there is none to be had."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.evals.report import thumbnails
from fieldmark.evals.report.thumbnails import Thumbnails
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def pictures(build_run: BuildRun, *colours: str) -> tuple[RunDir, list[str]]:
    """A run with a task for each colour, and the sha256 of their views."""
    run = build_run("pictures")
    store, digests = BlobStore(run.folder.blobs), []
    for number, colour in enumerate(colours):
        file = io.BytesIO()
        Image.new("RGB", (900, 300), colour).save(file, "PNG")
        digests.append(store.put(file.getvalue(), "image/png"))
        run.task(f"t{number}")
        run._tasks[-1]["view"] = {"blob": digests[-1], "media_type": "image/png", "width": 900, "height": 300}
    return run.finish(), digests


def test_a_picture_is_small_and_upright_as_it_is(build_run: BuildRun) -> None:
    folder, _ = pictures(build_run, "red")
    [(task, address)] = Thumbnails([folder]).of("pictures", ["t0"], 6)
    kind, _, data = address.partition(",")
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (task, kind, image.size) == ("t0", "data:image/jpeg;base64", (96, 32))


def test_the_same_picture_is_shown_once_and_no_more_than_asked(build_run: BuildRun) -> None:
    folder, _ = pictures(build_run, "red", "red", "blue", "green")
    ids = ["t0", "t1", "t2", "t3"]
    assert [task for task, _ in Thumbnails([folder]).of("pictures", ids, 2)] == ["t0", "t2"]


def test_what_is_missing_damaged_or_no_picture_is_left_out(build_run: BuildRun) -> None:
    folder, (missing, damaged, _) = pictures(build_run, "red", "green", "blue")
    store = folder.blob_store()
    store.path(missing).unlink()
    store.path(damaged).write_bytes(b"something else")
    found = Thumbnails([folder]).of("pictures", ["t0", "t1", "t2", "unknown"], 6)
    assert [task for task, _ in found] == ["t2"]
    assert list(Thumbnails().of("pictures", ["t2"], 6)) == []


def test_a_page_has_only_so_many(build_run: BuildRun) -> None:
    colours = [f"rgb({number},0,0)" for number in range(thumbnails.MOST + 20)]
    folder, _ = pictures(build_run, *colours)
    found = Thumbnails([folder]).of("pictures", [f"t{number}" for number in range(len(colours))], 1000)
    assert len(list(found)) == thumbnails.MOST
