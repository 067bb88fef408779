"""Staging: each task's picture is made safe once, before a run spends anything.

It becomes two blobs of the run: the *original* (upright, no metadata) and the *view* that models are shown,
which fits what their servers take (`--image-bytes`, `--image-megapixels`).
A run with `--image blank` or `--image N` has another original: grey, or made smaller before anything else.
Of a task with a gallery each picture is kept as models are shown it; the task's own is a sheet of them.
"""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.config import VIEW_BYTES, VIEW_MEGAPIXELS, ImageChoice
from fieldmark.errors import DataFault
from fieldmark.task import Task
from fieldmark.trace import Picture

GREY = (128, 128, 128)
"""What fills a blank picture: mid-grey, RGB."""


@dataclass(frozen=True)
class StagedTask:
    """A task whose picture is ready. Both pictures lie in the run's blobs.

    `altered` says how the original is not the benchmark's: `how` (blank, shrunk), and the `width` and
    `height` in pixels that it has there; None where it is as it came. `fitted` says what the view was before
    it was made to fit, and the `steps` of 0.9 by which it was shrunk; None where it was not.
    """

    task: Task
    image: Picture
    view: Picture
    source_sha256: str
    notes: list[str]
    altered: dict[str, Any] | None = None
    fitted: dict[str, Any] | None = None
    gallery: list[Picture] = field(default_factory=list)

    def public(self) -> dict[str, Any]:
        """The row of tasks.jsonl: everything but gold and the path."""
        return {
            "id": self.task.id,
            "question": self.task.question,
            "labels": self.task.labels.model_dump(),
            "composed": self.task.composed,
            "source_sha256": self.source_sha256,
            "image": self.image.model_dump(exclude_none=True),
            "view": self.view.model_dump(exclude_none=True),
            **({"fitted": self.fitted} if self.fitted else {}),
            **({"altered": self.altered} if self.altered else {}),
            **({"notes": self.notes} if self.notes else {}),
            **({"gallery": [p.model_dump(exclude_none=True) for p in self.gallery]} if self.gallery else {}),
        }


def stage(
    task: Task, image_side: int, blobs: BlobStore, max_megapixels: float = 120, image: ImageChoice = "full",
    room: tuple[int, float] = (VIEW_BYTES, VIEW_MEGAPIXELS),
) -> StagedTask:  # fmt: skip
    """Check and store a task's picture; DataFault, naming task and file, when it cannot be used.

    `room`: bytes and megapixels that the view may have.
    """
    from fieldmark.tools.pictures import images

    gallery: list[Picture] = []
    try:
        most = int(max_megapixels * 1e6)
        if task.gallery:
            shown = [_shown(path, image_side, most, image, room) for path in task.gallery]
            gallery = [_store(blobs, *each) for each in shown]
            staged = _sheet([data for data, _ in shown], image_side)
            original, view = (staged.original, staged.original_meta), (staged.view, staged.view_meta)
        else:
            staged = images.stage(task.image, image_side, max_pixels=most)
            original, view = _altered(staged, image, image_side)
        view, fitted = _fitted(view, room)
    except DataFault as error:
        message = str(error).replace(str(task.image), shown_name(task))  # paths of this machine stay private
        for path in task.gallery:
            message = message.replace(str(path), path.name)
        raise DataFault(f"task {task.id}: {message}", kind=error.kind) from None
    was = staged.original_meta
    how = {"how": "blank" if image == "blank" else "shrunk", "width": was.width, "height": was.height}
    return StagedTask(
        task, _store(blobs, *original), _store(blobs, *view), staged.source_sha256, list(staged.notes),
        None if original[0] == staged.original else how, fitted, gallery,
    )  # fmt: skip


def shown_name(task: Task) -> str:
    """A picture's file, for people and run.json, unless it is called after gold, as those of datasets are."""
    name, *gold = (
        "".join(filter(str.isalnum, text.lower()))
        for text in (task.image.name, task.gold.answer, *task.gold.aliases)
    )
    return "its picture" if any(each and each in name for each in gold) else task.image.name


def _fitted(
    view: tuple[bytes, Any], room: tuple[int, float]
) -> tuple[tuple[bytes, Any], dict[str, Any] | None]:
    """The view as it may be sent, and what it was before, where that was too much."""
    from fieldmark.tools.pictures.fitting import Room, fit

    data, meta = view
    fitted = fit(data, meta, Room(room[0], int(room[1] * 1e6)))
    if fitted is None:
        return view, None
    was = {"bytes": len(data), "media_type": meta.media_type, "width": meta.width, "height": meta.height}
    return (fitted.data, fitted.meta), {**was, "steps": fitted.steps}


@functools.lru_cache(maxsize=256)
def _shown(
    path: Path, image_side: int, max_pixels: int, image: ImageChoice, room: tuple[int, float]
) -> tuple[bytes, Any]:
    """What models get of one picture of a gallery, and its Meta. Many galleries share their pictures."""
    from fieldmark.tools.pictures import images

    staged = images.stage(path, image_side, max_pixels=max_pixels)
    return _fitted(_altered(staged, image, image_side)[1], room)[0]


def _sheet(pictures: list[bytes], image_side: int) -> Any:
    """The sheet, staged like a picture that came."""
    from fieldmark.tools.pictures import images
    from fieldmark.tools.pictures.contact_sheet import contact_sheet

    return images.stage_bytes(contact_sheet(pictures), image_side)


def _altered(staged: Any, image: ImageChoice, image_side: int) -> tuple[tuple[bytes, Any], tuple[bytes, Any]]:
    """Original and view, each with its Meta, after `--image`. DataFault `shape`: too narrow by now."""
    full = (staged.original, staged.original_meta)
    if image == "full":
        return full, (staged.view, staged.view_meta)
    original = _blank(staged.original_meta) if image == "blank" else _shrunk(full, image)
    _check_sides(original[1], image)
    return original, _shrunk(original, image_side)


def _blank(meta: Any) -> tuple[bytes, Any]:
    """A grey picture of that size."""
    from PIL import Image

    from fieldmark.tools.pictures.images import Meta

    buffer = io.BytesIO()
    Image.new("RGB", (meta.width, meta.height), GREY).save(buffer, "PNG")
    return buffer.getvalue(), Meta("image/png", meta.width, meta.height)


def _shrunk(picture: tuple[bytes, Any], side: int) -> tuple[bytes, Any]:
    """The picture as it is, or as a JPEG (q95, 4:4:4) whose longer side is `side` px."""
    from fieldmark.tools.pictures import images

    data, meta = picture
    if max(meta.width, meta.height) <= side:
        return picture
    made = images.cut(data, None, scale=1.0, media_type="image/jpeg", max_side=side)
    return made.data, images.Meta("image/jpeg", *made.size)


def _check_sides(meta: Any, image: ImageChoice) -> None:
    from fieldmark.tools.pictures.images import MIN_SIDE

    if min(meta.width, meta.height) < MIN_SIDE:
        raise DataFault(
            f"with --image {image} the picture has {meta.width}x{meta.height} px, too few for a vision model"
            f" (sides from {MIN_SIDE} px): take a larger --image",
            kind="shape",
        )


def _store(blobs: BlobStore, data: bytes, meta: Any) -> Picture:
    blob = blobs.put(data, meta.media_type)
    return Picture(blob=blob, media_type=meta.media_type, width=meta.width, height=meta.height)
