"""The cases of a run: each answer that is not correct, joined with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.evals.failures.case import Case, Word, WrongOutcome
from fieldmark.evals.failures.current import wrong_cells
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.trace import Event


def cases_of(run: RunDir) -> Iterator[Case]:
    """In run order. A trace that cannot be read leaves a case without events and facts."""
    gold, facts, gold_facts = run.gold(), run.facts(), run.gold_facts()
    questions = {str(row.get("id")): str(row.get("question") or "") for row in run.tasks()}
    said = _audit(run)
    for cell in wrong_cells(cells(run)):
        assert cell.record is not None  # it was run
        key = cell.record.key
        events = _events(run, cell.record)
        yield Case(
            question=questions.get(cell.id, ""),
            outcome=cast(WrongOutcome, cell.outcome),
            record=cell.record,
            verdict=cell.verdict,
            gold=gold.get(cell.id),
            events=events,
            facts=facts.get(key) if events else None,
            gold_facts=gold_facts.get(key) if events else None,
            audit=said.get((*key, cell.record.answer or "")),
        )


def _events(run: RunDir, record: EpisodeRecord) -> list[Event]:
    try:
        return list(run.trace(record))
    except (OSError, ValidationError):
        return []


def _audit(run: RunDir) -> dict[tuple[str, int, str], Word]:
    """A person's words, each of the answer that it was said of."""
    rows = jsonl.read(run.audit_file).rows
    return {(row["id"], row["epoch"], row["answer"]): row["word"] for row in rows}
