"""What a person sees of a wrong answer: all that the classifier sees, and no word of anybody on it."""

from __future__ import annotations

from fieldmark.evals.failures.chain.scheme import KINDS, STAGES
from fieldmark.evals.failures.rendering import as_lines, steps
from fieldmark.evals.failures.taxonomy import CLASSES, SUBS
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.findings import ChainKind, FailureLabel, FailureMark, Link, RetrievalFailure
from fieldmark.judging.audit import shown
from fieldmark.keyboard import columns, one_line
from fieldmark.rundir import RunDir

CLASS_KEYS: dict[str, FailureLabel] = dict(zip("1234567890", CLASSES, strict=True))
SUB_KEYS: dict[str, RetrievalFailure | None] = {"n": "not_retrieved", "m": "misjudged", "-": None}
LINK_KEYS: dict[str, Link | None] = {"g": "grounding", "r": "retrieval", "s": "reasoning", "-": None}
SHORT = 240
"""Characters of a text in the short trace."""
WHOLE = 20_000


def answer(folder: RunDir, cell: Cell) -> str:
    """The question, the answer and the short trace."""
    row = next((row for row in folder.tasks() if row.get("id") == cell.id), {})
    record = cell.record
    told = {
        **shown(folder, row, folder.gold().get(cell.id)),
        "answer": (record.answer if record else None) or "(none)",
        "verdict": cell.outcome,
        "ended as": record.status if record else "?",
    }
    return "\n".join([columns(told), *trace(folder, cell, SHORT)])


def trace(folder: RunDir, cell: Cell, limit: int) -> list[str]:
    """The steps, a line each, their texts at most `limit` characters."""
    events = folder.events(cell.record) if cell.record else []
    return [one_line(line) for line in as_lines(steps(events, limit))]


def classes() -> str:
    """Which key is which class."""
    names = [f"{key} {label}" for key, label in CLASS_KEYS.items()]
    return "\n".join("   ".join(f"{name:25}" for name in names[at : at + 4]).rstrip() for at in (0, 4, 8))


def kind_keys(link: Link) -> dict[str, ChainKind | None]:
    """Which key is which kind of a broken link, by Pix2Fact's scheme."""
    kinds = [kind for kind, (stage, _) in KINDS.items() if stage == link]
    return {**{str(number): kind for number, kind in enumerate(kinds, 1)}, "-": None}


def definitions(*, chain: bool = False) -> str:
    """What each class means, in one sentence; with `chain`, each link and its kinds too."""
    told = [f"{key} {label}: {CLASSES[label].text}" for key, label in CLASS_KEYS.items()]
    told += [f"  {key} {sub}: {SUBS[sub]}" for key, sub in SUB_KEYS.items() if sub]
    if chain:
        told += [f"{stage}: {text}" for stage, text in STAGES.items()]
        told += [f"  {kind}: {text}" for kind, (_, text) in KINDS.items()]
    return "\n".join(told)


def said(mark: FailureMark) -> str:
    """A label in one line."""
    note = f"  ({one_line(mark.note)})" if mark.note else ""
    return (
        " · ".join(
            [
                mark.label,
                *([mark.sub] if mark.sub else []),
                mark.link or "no link",
                *([mark.kind] if mark.kind else []),
            ]
        )
        + note
    )
