"""A person's word on an episode, from a form on its page: the same row that `fieldmark label` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from fieldmark.clock import utc
from fieldmark.errors import UsageError
from fieldmark.evals.failures.taxonomy import CLASSES
from fieldmark.evals.inspector.index import EpisodeRow
from fieldmark.evals.metrics.doubts import DOUBT
from fieldmark.findings import FailureLabel, FailureMark
from fieldmark.rundir import RunDir

NOTE = 2000
"""Characters of a note."""


def offered(row: EpisodeRow) -> list[FailureLabel]:
    """Any class of a wrong answer; of a correct one, that its verdict is in doubt."""
    if row.wrong:
        return list(CLASSES)
    return [DOUBT] if row.cell.outcome == "correct" else []


def said(row: EpisodeRow, annotator: str, form: Mapping[str, str]) -> FailureMark:
    """The mark that the fields of a form make. UsageError: no class, or one that this answer cannot have."""
    label, sub, note = form.get("label", ""), form.get("sub") or None, form.get("note", "").strip()
    if label not in offered(row):
        raise UsageError(f"{label!r} cannot be said of this answer: choose one of {', '.join(offered(row))}")
    if sub and label != "wrong_entity_retrieval":
        raise UsageError(f"{sub!r} is a kind of wrong_entity_retrieval: choose that class, or no kind")
    if len(note) > NOTE:
        raise UsageError(f"the note has {len(note)} characters: at most {NOTE} are kept")
    told: dict[str, Any] = {"label": label, "sub": sub, "link": form.get("link") or None, "note": note}
    try:
        return FailureMark(
            id=row.record.id, epoch=row.record.epoch, annotator=annotator, **told,
            sighted=_sighted(row, annotator), when=utc(),
        )  # fmt: skip
    except ValidationError as error:
        field = error.errors()[0]["loc"][0]
        raise UsageError(f"{field}={told.get(str(field))!r} is not known: choose one of the list") from None


def keep(folder: RunDir, mark: FailureMark) -> None:
    """Append it. UsageError: there is no private part, or it cannot be written."""
    if not folder.private.is_dir():
        raise UsageError(
            f"{folder.private} is not there, and labels are kept in it: label where the run was made"
        )
    try:
        folder.add_failure_mark(mark)
    except OSError as error:
        raise UsageError(
            f"cannot write {folder.failure_marks_file}: {error.strerror}; make it writable, send it anew"
        ) from None


def _sighted(row: EpisodeRow, annotator: str) -> bool:
    """Whether the page shows what the classifier or another person said."""
    others = any(mark.annotator != annotator for mark in row.marks)
    return others or bool(row.failure and row.failure.label)
