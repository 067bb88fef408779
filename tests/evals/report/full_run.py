"""A run folder from which every table of a report comes, with names that are as long as names get."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.records import Leak, Verdict, VerdictLabel
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import RunBuilder

LONG = "an-invented-tool-name-without-a-single-space-that-some-model-made-up-and-called-again-and-again"
ANSWERS = [
    "Saab 340B",
    "北京故宫博物院太和殿",
    "x" * 280,
    "</script><script>window.__xss=1</script><img src=x onerror=window.__xss=2> =1+1 & 50 % of_it " * 2,
]
TOPS = ["Product", "Nature", "Transport", "Culture and a category of the user's own with a long name"]
LABELS: list[VerdictLabel] = ["correct", "partially_correct", "incorrect", "uncertain"]
TASKS = 16


def full_run(run: RunBuilder) -> RunDir:
    """Two splits × four categories × two epochs; a panel judged; one task was not run in the second epoch."""
    run.config.update(epochs=2, agent="openclaw_stock", model={"name": f"org/{LONG}", "sees": True})
    picture = _picture(run)
    for number in range(TASKS):
        split = "public" if number % 2 else "real-life"
        run.task(f"task-{number:02}", split=split, top=TOPS[number % 4])
        run._tasks[-1]["view"] = picture
        for epoch in range(1 if number == 0 else 2):
            _episode(run, number, epoch)
    folder = run.finish()
    for record in folder.episodes():
        number = int(record.id.removeprefix("task-"))
        label = LABELS[(number + record.epoch) % 4]
        folder.add_verdict(
            Verdict(
                id=record.id, epoch=record.epoch, label=label, score=0.5, judge="exact",
                finer=label == "correct", repaired=number == 3, truncated=number == 4,
                votes={label: 2, "incorrect": 1},
            )
        )  # fmt: skip
        folder.add_leak(Leak(id=record.id, epoch=record.epoch, copied=number < 3, leaked=number < 2), None)
    return folder


def _picture(run: RunBuilder) -> dict[str, Any]:
    file = io.BytesIO()
    Image.new("RGB", (640, 480), "teal").save(file, "PNG")
    digest = BlobStore(run.folder.blobs).put(file.getvalue(), "image/png")
    return {"blob": digest, "media_type": "image/png", "width": 640, "height": 480}


def _episode(run: RunBuilder, number: int, epoch: int) -> None:
    end = ["ok", "failed", "not_offered", "silent"][number % 4]
    name = LONG if end == "not_offered" else "ocr"
    episode = run.episode(
        f"task-{number:02}",
        epoch=epoch,
        verdict="incorrect",
        seconds=12.0 * (number + 1),
        charged=9.0 * number,
    )
    episode.step((name, end), ("crop_zoom", "ok"), ("recall", "ok")).answer(ANSWERS[number % 4])
    episode.record.update(
        confidence=number / TASKS,
        cost=0.0123,
        tokens={"input": 1_234_567, "output": 23_456, "cached": 400_000},
        counts={"model_calls": 3, "calls_without_usage": number % 2, "drift": 1},
    )
