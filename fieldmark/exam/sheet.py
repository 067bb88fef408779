"""What a person hands in: the fields of the form, read."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import BaseModel

from fieldmark.errors import UsageError
from fieldmark.exam.desk import Draft

UNKNOWN = "I do not know"
"""The answer of who gives none; it counts as an abstention."""
MOST = 4000
"""Characters of a field."""


class Sheet(BaseModel):
    """`confidence` is 0–1; `sources` are URLs, `notes` all else that was written under them."""

    answer: str
    confidence: float | None = None
    sources: list[str] = []
    notes: str = ""


def drafted(form: Mapping[str, str]) -> Draft:
    """The fields as they stand, cut to what is kept."""
    return Draft(**{name: form.get(name, "")[:MOST] for name in Draft.model_fields})


def read(form: Mapping[str, str]) -> Sheet:
    """UsageError says what to mend: no answer, or a confidence that is none."""
    draft, unknown = drafted(form), form.get("do") == "unknown"
    answer = UNKNOWN if unknown else draft.answer.strip()
    if not answer:
        raise UsageError(f"The answer is empty: write one, or choose “{UNKNOWN}”.")
    lines = [line.strip() for line in draft.sources.splitlines() if line.strip()]
    links = [line for line in lines if urlsplit(line).scheme in ("http", "https")]
    words = [line for line in lines if line not in links]
    return Sheet(
        answer=answer,
        confidence=None if unknown else _fraction(draft.confidence),
        sources=links,
        notes="\n".join([*words, draft.notes.strip()]).strip(),
    )


def _fraction(percent: str) -> float | None:
    if not percent.strip():
        return None
    try:
        value = float(percent)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise UsageError(f"The confidence {percent.strip()!r} is not a number from 0 to 100.")
    return value / 100
