"""Staging: each task's picture is made safe once, before a run spends anything.

It becomes two blobs of the run: the *original* (upright, no metadata) and the *view* that models are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldmark.blobs import BlobStore
from fieldmark.errors import DataFault
from fieldmark.task import Task
from fieldmark.trace import Picture


@dataclass(frozen=True)
class StagedTask:
    """A task whose picture is ready. Both pictures lie in the run's blobs."""

    task: Task
    image: Picture
    view: Picture
    source_sha256: str
    notes: list[str]

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
            **({"notes": self.notes} if self.notes else {}),
        }


def stage(task: Task, image_side: int, blobs: BlobStore, max_megapixels: float = 120) -> StagedTask:
    """Check and store a task's picture; DataFault, naming task and file, when it cannot be used."""
    from fieldmark.tools.pictures import images

    try:
        staged = images.stage(task.image, image_side, max_pixels=int(max_megapixels * 1e6))
    except DataFault as error:
        message = str(error).replace(str(task.image), task.image.name)  # paths of this machine stay private
        raise DataFault(f"task {task.id}: {message}", kind=error.kind) from None
    image = _store(blobs, staged.original, staged.original_meta)
    view = _store(blobs, staged.view, staged.view_meta)
    return StagedTask(task, image, view, staged.source_sha256, list(staged.notes))


def _store(blobs: BlobStore, data: bytes, meta: Any) -> Picture:
    blob = blobs.put(data, meta.media_type)
    return Picture(blob=blob, media_type=meta.media_type, width=meta.width, height=meta.height)
