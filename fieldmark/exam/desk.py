"""What lies on the desk between two requests, on disk: the open question, its clock and the draft.

`private/exam.json`. A kill loses at most what was typed since the last draft, and no time is charged while
nobody served the page.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from pydantic import BaseModel, ValidationError

FILE = "exam.json"


class Draft(BaseModel):
    """The fields of the form as they were typed."""

    answer: str = ""
    confidence: str = ""
    sources: str = ""
    notes: str = ""


class Question(BaseModel):
    """A question that was opened. `began` and `seen` (when its server last was there) are seconds since 1970,
    `charged` those on the person's clock until then; `away`: stretches, in seconds, without a server.
    """

    id: str
    began: float
    charged: float = 0.0
    seen: float
    away: list[float] = []
    draft: Draft = Draft()


class Desk(BaseModel):
    """`token` is that of the forms: a page that outlives the server can still hand in."""

    token: str
    question: Question | None = None


def load(private: Path) -> Desk:
    """The desk as it was left; a new one where there is none."""
    try:
        return Desk.model_validate_json((private / FILE).read_bytes())
    except (OSError, ValidationError):
        return Desk(token=secrets.token_urlsafe(24))


def save(private: Path, desk: Desk) -> None:
    """Whole or not at all, for its owner alone."""
    temporary = private / f".{FILE}.new"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(desk.model_dump_json())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(private / FILE)
