"""The nouns of a curation: Candidate, Decision, and what became of a decision that was handed in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Step = Literal[
    "import", "screen.first", "screen.hard", "leakage", "audit", "evidence", "taxonomy", "questions"
]
STEPS: tuple[Step, ...] = (
    "import", "screen.first", "screen.hard", "leakage", "audit", "evidence", "taxonomy", "questions",
)  # fmt: skip
"""In their order. A candidate is released when every one of them says `keep`."""
Verdict = Literal["keep", "drop", "open"]
Outcome = Literal["same", "new", "changed", "flipped"]
"""Of a decision handed in: it stood already; the first of its step; other words or evidence; another
verdict.
"""
PROGRAM = "fieldmark"
"""Who decides where no person does."""


@dataclass(frozen=True)
class Candidate:
    """One picture that may become an item.

    `id`: the first 16 hex digits of `sha256`, of the upright RGB pixels. `path`: relative to the project's
    folder, without metadata. `class_name`: the class as its source has it; `label`: how the answer is
    spelled. `source`: the dataset. `provenance`: where it came from, of its first source; `exif`: what its
    file said of itself. Neither is ever released. `look`: 32 bytes of a perceptual hash, all zero where it
    is too flat.
    """

    id: str
    sha256: str
    path: str
    class_name: str
    label: str
    source: str
    licence: str
    provenance: dict[str, Any] = field(default_factory=dict)
    exif: dict[str, Any] = field(default_factory=dict)
    look: bytes = bytes(32)


@dataclass(frozen=True)
class Decision:
    """Who said what on a candidate at a step, when (UTC, ISO 8601), why, and under which settings.

    `evidence` is the step's own: of a kept `audit`, `label` is the answer as corrected and `aliases` its
    other spellings; of a kept `evidence`, `urls` is a list; of `taxonomy` and `questions`, the names and the
    question.
    """

    number: int
    candidate: str
    step: Step
    verdict: Verdict
    why: str
    who: str
    when: str
    settings_hash: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepCount:
    """A row of the funnel: what reached a step, and what it said. `classes` are those of what it kept."""

    step: Step
    reached: int
    keep: int
    drop: int
    open: int
    classes: int
