"""Small pictures of tasks for a page, from the views that the run itself staged."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fieldmark.errors import DataFault
from fieldmark.run_reader import RunReader
from fieldmark.tools.pictures.upright import open_upright

SIDE = 96
"""Pixels of the longer side: some 3 kB each."""
MOST = 150
"""Pictures on one page, half a megabyte; the rest is left out."""


class Thumbnails:
    """The pictures of the runs of one page, each as a `data:` address; equal ones are made once."""

    def __init__(self, runs: Iterable[RunReader] = ()) -> None:
        self._runs = {run.view_name: run for run in runs}
        self._views = {name: _views(run) for name, run in self._runs.items()}
        self._made: dict[str, str | None] = {}

    def of(self, view: str, ids: Iterable[str], most: int) -> Iterator[tuple[str, str]]:
        """(task id, address) of at most so many different pictures of these tasks of a run; one whose blob
        is missing, damaged or no picture is skipped, as are all beyond MOST.
        """
        shown: set[str] = set()
        for task_id in ids:
            digest = self._views.get(view, {}).get(task_id, "")
            if len(shown) < most and digest not in shown and (made := self._make(view, digest)):
                shown.add(digest)
                yield task_id, made

    def _make(self, view: str, digest: str) -> str | None:
        if digest not in self._made:
            if sum(map(bool, self._made.values())) >= MOST or view not in self._runs:
                return None
            self._made[digest] = _thumbnail(self._runs[view], digest)
        return self._made[digest]


def _views(run: RunReader) -> dict[str, str]:
    """Task id → sha256 of its view."""
    return {str(row.get("id")): str(_dict(row.get("view")).get("blob", "")) for row in run.tasks()}


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _thumbnail(run: RunReader, digest: str) -> str | None:
    try:
        image = open_upright(run.blob_store().get(digest))
    except (KeyError, OSError, DataFault):
        return None
    image.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    image.convert("RGB").save(file, "JPEG", quality=70)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
